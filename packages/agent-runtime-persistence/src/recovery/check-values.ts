/** Stored values and artifacts: everything that is named is there, and is what its name says. */
import type { EventData } from "@ku0/agent-runtime-core"
import { isKeepupError } from "@ku0/agent-runtime-core"
import { toEntries } from "../session/load-entry.js"
import { readBlob } from "../state/blob-store.js"
import type { SqlRunner, SqlValue } from "../store/sql-driver.js"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"
import { type Finding, finding, guarded } from "./finding.js"

const pageSize = 500

export async function checkValues({ store }: TimeTravelContext): Promise<Finding[]> {
  const { driver } = store.context
  const found = await guarded("database-damaged", "blobs", () => readAll(driver))
  found.push(...(await guarded("database-damaged", "entries", () => findMissing(driver))))
  for (const { id, size_bytes: size } of await driver.all("SELECT id, size_bytes FROM artifacts ORDER BY ordinal")) {
    const where = `artifact ${id}`
    const read = async () => compareSize(where, size, await store.artifacts.read(id as string))
    found.push(...(await guarded("artifact-damaged", where, read)))
  }
  return found
}

/** The sizes that were found to be wrong, counted again from the content they are of. */
export async function repairSizes({ store }: TimeTravelContext, found: readonly Finding[]): Promise<string[]> {
  const { driver } = store.context
  let changed = 0
  for (const { code, where, canRepair } of found) {
    const [, kind, id] = /^(value|artifact) (.+)$/s.exec(where) ?? []
    if (code !== "counter-wrong" || !canRepair || kind === undefined || id === undefined) continue
    const content = kind === "value" ? await readBlob(driver, id) : await store.artifacts.read(id)
    const update =
      kind === "value"
        ? "UPDATE blobs SET size_bytes = ? WHERE hash = ?"
        : "UPDATE artifacts SET size_bytes = ? WHERE id = ?"
    changed += await driver.run(update, [content.byteLength, id])
  }
  return changed === 0 ? [] : [`The size of ${changed} value(s) or artifact(s) was taken from their content.`]
}

function compareSize(where: string, size: SqlValue | undefined, { byteLength }: Uint8Array): Finding[] {
  if (size === byteLength) return []
  return [finding("counter-wrong", where, `size_bytes is ${size}; its content has ${byteLength}.`, true)]
}

/** Every value once, whoever needs it. */
async function readAll(driver: SqlRunner): Promise<Finding[]> {
  const found: Finding[] = []
  for (let last = ""; ; ) {
    const page = await driver.all(`SELECT hash, size_bytes FROM blobs WHERE hash > ? ORDER BY hash LIMIT ${pageSize}`, [
      last,
    ])
    for (const { hash, size_bytes: size } of page) {
      last = hash as string
      const where = `value ${last}`
      const read = async () => compareSize(where, size, await readBlob(driver, last))
      found.push(...(await guarded("value-damaged", where, read)))
    }
    if (page.length < pageSize) return found
  }
}

/** Values that entries and states name, and that are not there. */
async function findMissing(driver: SqlRunner): Promise<Finding[]> {
  const named = await driver.all(
    `SELECT session_id, seq, blob_hash FROM entries WHERE blob_hash IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM blobs WHERE blobs.hash = entries.blob_hash)`,
  )
  const found = named.map((row) =>
    finding(
      "value-missing",
      `session ${row["session_id"]}, entry ${row["seq"]}`,
      `Its content ${row["blob_hash"]} is gone.`,
    ),
  )
  const states = await driver.all("SELECT * FROM entries WHERE type = 'state:changed' ORDER BY session_id, seq")
  const known = new Map<string, boolean>()
  for (const row of states) {
    for (const [key, hash] of Object.entries(await readState(driver, row))) {
      if (!known.has(hash))
        known.set(hash, (await driver.get("SELECT 1 FROM blobs WHERE hash = ?", [hash])) !== undefined)
      if (known.get(hash) === true) continue
      const where = `session ${row["session_id"]}, entry ${row["seq"]}, state key ${JSON.stringify(key)}`
      found.push(finding("value-missing", where, `Its value ${hash} is gone.`))
    }
  }
  return found
}

/** The keys an entry sets; none if it can't be read, which the check of sessions tells. */
async function readState(
  driver: SqlRunner,
  row: Parameters<typeof toEntries>[1][number],
): Promise<Record<string, string>> {
  try {
    const [entry] = await toEntries(driver, [row])
    return (entry?.data as EventData<"state:changed"> | undefined)?.set ?? {}
  } catch (error) {
    if (!isKeepupError(error)) throw error
    return {}
  }
}
