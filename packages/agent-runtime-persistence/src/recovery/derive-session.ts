/** What a session's row must say, made from its log and its checkpoints. The row is a short form of them, never more. */
import {
  KeepupError,
  type SessionId,
  type SessionPhase,
  type SessionStatus,
  statusOfPhase,
} from "@ku0/agent-runtime-core"
import { readFixedColumns, readWorkspacePath } from "../session/fixed-columns.js"
import { loadEntry, toEntries } from "../session/load-entry.js"
import { importMark } from "../session/session-marks.js"
import type { Store } from "../store/open-store.js"
import { plainText } from "../store/rows.js"
import type { SqlRow, SqlRunner } from "../store/sql-driver.js"

export interface DerivedSession {
  readonly headSeq: number
  readonly messageCount: number
  readonly phase: SessionPhase
  readonly status: SessionStatus
  /** How many checkpoints it has, or `lost`: fewer than it should, and the log knows of some that were never removed. */
  readonly checkpoints: number | "lost"
  /** The highest number the log or the rows know of. */
  readonly lastNumber: number
  /** Columns that never change, as the first entry has them; `deleted_at` only where it is wrong. */
  readonly fixed: Readonly<Record<string, string | null>>
  /** Where it was made, if the log can tell. No repair goes by it: the next restore would write into another folder. */
  readonly workspacePath: string | undefined
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
    fixed: await readFixed(driver, id),
    workspacePath: await readWorkspacePath(driver, id),
  }
}

/** What the session was made with, where its log says it, and whether it is hidden although nobody deleted it. */
async function readFixed(driver: SqlRunner, id: SessionId): Promise<Record<string, string | null>> {
  const columns = await readFixedColumns(driver, id)
  const started = await loadEntry(driver, { sessionId: id, seq: 1 })
  if (started?.row["type"] !== "session:started") return columns
  const { checkpointId } = JSON.parse(started.text) as Record<string, unknown>
  const row = await driver.get("SELECT metadata, deleted_at FROM sessions WHERE id = ?", [id])
  return {
    ...columns,
    forked_from_checkpoint_id: typeof checkpointId === "string" ? plainText(checkpointId) : null,
    ...(row !== undefined && (await isHiddenForNothing(driver, id, row)) && { deleted_at: null }),
  }
}

/** Who deletes a session takes its row away with it, unless another one goes on from it: without one, nobody deleted it. */
async function isHiddenForNothing(driver: SqlRunner, id: SessionId, row: SqlRow): Promise<boolean> {
  if (row["deleted_at"] === null || JSON.parse(row["metadata"] as string)?.[importMark] !== undefined) return false
  // a branch says where it comes from in three places: what was deleted must not come back for damage to one of them
  const branch = await driver.get(
    `SELECT 1 WHERE EXISTS (SELECT 1 FROM entries WHERE parent_session_id = ? AND session_id <> ?)
       OR EXISTS (SELECT 1 FROM sessions WHERE parent_session_id = ?)
       OR EXISTS (SELECT 1 FROM entries WHERE type = 'session:started' AND session_id <> ? AND data LIKE ?)`,
    [id, id, id, id, `%"${id}"%`],
  )
  return branch === undefined
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
