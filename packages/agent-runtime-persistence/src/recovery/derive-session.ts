/** What a session's row must say, made from its log and its checkpoints. The row is a short form of them, never more. */
import {
  KeepupError,
  type SessionId,
  type SessionPhase,
  type SessionStatus,
  statusOfPhase,
} from "@ku0/agent-runtime-core"
import { readFixedColumns } from "../session/fixed-columns.js"
import { toEntries } from "../session/load-entry.js"
import type { Store } from "../store/open-store.js"
import type { SqlRunner } from "../store/sql-driver.js"

export interface DerivedSession {
  readonly headSeq: number
  readonly messageCount: number
  readonly phase: SessionPhase
  readonly status: SessionStatus
  /** How many checkpoints it has, or `lost`: fewer than it should, and the log knows of some that were never removed. */
  readonly checkpoints: number | "lost"
  /** The highest number the log or the rows know of. */
  readonly lastNumber: number
  /** Columns that never change, as the first entry has them. */
  readonly fixed: Readonly<Record<string, string | null>>
}

/** Throws `CORRUPT` if the log can't be folded. */
export async function deriveSession(store: Store, id: SessionId): Promise<DerivedSession> {
  const { driver } = store.context
  const head = await driver.get(
    "SELECT seq, message_index FROM entries WHERE session_id = ? ORDER BY seq DESC LIMIT 1",
    [id],
  )
  const headSeq = Number(head?.["seq"] ?? 0)
  const messageCount = Number(head?.["message_index"] ?? 0)
  if (!Number.isSafeInteger(messageCount)) {
    throw new KeepupError("CORRUPT", `Entry ${headSeq} does not say how many messages lead to it.`)
  }
  const { phase } = await store.log.fold({ sessionId: id, seq: headSeq })
  const rows = await driver.all("SELECT id, number FROM session_checkpoints WHERE session_id = ?", [id])
  const numbers = rows.map(({ number }) => Number(number)).filter(Number.isSafeInteger)
  const created = await listCreated(driver, id)
  const isLost = (await listLost(driver, id)).length > 0
  return {
    headSeq,
    messageCount,
    phase,
    status: statusOfPhase(phase),
    checkpoints: isLost ? "lost" : rows.length,
    lastNumber: Math.max(0, ...numbers, ...created.map(({ number }) => number)),
    fixed: await readFixedColumns(driver, id),
  }
}

/**
 * Checkpoints the log says were made, that no entry says were removed, and that have no row although the session counts
 * more of them than it has: deleting one counts down.
 */
export async function listLost(
  driver: SqlRunner,
  id: SessionId,
): Promise<{ id: string; number: number; seq: number }[]> {
  const rows = await driver.all("SELECT id FROM session_checkpoints WHERE session_id = ?", [id])
  const session = await driver.get("SELECT checkpoint_count FROM sessions WHERE id = ?", [id])
  if (Number(session?.["checkpoint_count"] ?? 0) <= rows.length) return []
  const known = new Set(rows.map((row) => row["id"] as string))
  const pruned = await driver.all("SELECT * FROM entries WHERE session_id = ? AND type = 'checkpoint:pruned'", [id])
  for (const { data } of await toEntries(driver, pruned)) {
    for (const gone of (data as { checkpointIds?: string[] }).checkpointIds ?? []) known.add(gone)
  }
  return (await listCreated(driver, id)).filter((one) => !known.has(one.id))
}

async function listCreated(driver: SqlRunner, id: SessionId): Promise<{ id: string; number: number; seq: number }[]> {
  const rows = await driver.all("SELECT * FROM entries WHERE session_id = ? AND type = 'checkpoint:created'", [id])
  return (await toEntries(driver, rows)).map(({ seq, data }) => {
    const { checkpointId, number } = data as { checkpointId: string; number: number }
    return { id: checkpointId, number: Number(number), seq }
  })
}
