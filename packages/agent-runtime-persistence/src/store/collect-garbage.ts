/**
 * Frees stored values nothing reaches any more: no entry, no state, no artifact. What is younger than an hour stays,
 * so that a writer whose entry is still under way loses nothing.
 */
import type { EventData } from "@ku0/agent-runtime-core"
import { toEntries } from "../session/load-entry.js"
import type { SqlRunner } from "./sql-driver.js"
import type { StoreContext } from "./store-context.js"

export interface CollectGarbageOptions {
  readonly olderThanMs?: number
  readonly dryRun?: boolean
}

export interface CollectGarbageResult {
  readonly values: number
  /** Bytes they took in the database. */
  readonly bytes: number
}

const hour = 3_600_000
const pageSize = 1_000
/** Asked again when the rows are locked: a writer whose clock is behind may have come in between. */
const unreached = `NOT EXISTS (SELECT 1 FROM entries WHERE blob_hash = blobs.hash)
         AND NOT EXISTS (SELECT 1 FROM artifacts WHERE artifacts.hash = blobs.hash)`

export async function collectGarbage(
  context: StoreContext,
  options: CollectGarbageOptions = {},
): Promise<CollectGarbageResult> {
  const cutoff = context.clock.now() - (options.olderThanMs ?? hour)
  return await context.driver.transaction("collect-garbage", async (tx) => {
    const candidates = await tx.all(
      `SELECT hash, LENGTH(data) AS bytes_kept FROM blobs WHERE created_at < ?
         AND ${unreached}${context.driver.forUpdate}`,
      [cutoff],
    )
    const inState = candidates.length === 0 ? new Set() : await stateHashes(tx)
    let values = 0
    let bytes = 0
    for (const { hash, bytes_kept: size } of candidates) {
      if (inState.has(hash as string)) continue
      const isGone =
        options.dryRun === true ||
        (await tx.run(`DELETE FROM blobs WHERE hash = ? AND created_at < ? AND ${unreached}`, [
          hash as string,
          cutoff,
        ])) > 0
      if (!isGone) continue
      values++
      bytes += Number(size)
    }
    return { values, bytes }
  })
}

/** The hashes of every state any session ever handed over: its log keeps them reachable. */
async function stateHashes(tx: SqlRunner): Promise<Set<string>> {
  const hashes = new Set<string>()
  for (let last = { sessionId: "", seq: 0 }; ; ) {
    const rows = await tx.all(
      `SELECT * FROM entries WHERE type = 'state:changed' AND (session_id > ? OR (session_id = ? AND seq > ?))
       ORDER BY session_id, seq LIMIT ${pageSize}`,
      [last.sessionId, last.sessionId, last.seq],
    )
    for (const entry of await toEntries(tx, rows)) {
      for (const hash of Object.values((entry.data as EventData<"state:changed">).set)) hashes.add(hash)
      last = entry
    }
    if (rows.length < pageSize) return hashes
  }
}
