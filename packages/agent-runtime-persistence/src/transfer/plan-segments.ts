/**
 * Which entries a session's history needs, across all sessions it shares entries with, in an order in which every entry
 * comes after the one it continues from. Looks at jumps only, so the cost does not grow with the entries between them.
 */
import { type EntryRef, type HistoryRange, KeepupError, type SessionId } from "@ku0/agent-runtime-core"
import type { SqlRunner } from "../store/sql-driver.js"

const pageSize = 500

export async function planSegments(runner: SqlRunner, head: EntryRef): Promise<HistoryRange[]> {
  const segments: HistoryRange[] = []
  const done = new Map<SessionId, number>()
  const waiting: EntryRef[] = [head]
  const isWaiting = new Set<SessionId>([head.sessionId])
  for (let top = waiting.at(-1); top !== undefined; top = waiting.at(-1)) {
    const { sessionId, seq: to } = top
    const from = (done.get(sessionId) ?? 0) + 1
    const blocked = await findBlocked(runner, { sessionId, from, to }, done)
    const last = blocked === undefined ? to : blocked.seq - 1
    if (last >= from) segments.push({ sessionId, from, to: last })
    done.set(sessionId, Math.max(last, from - 1))
    if (blocked === undefined) {
      waiting.pop()
      isWaiting.delete(sessionId)
    } else if (isWaiting.has(blocked.parent.sessionId)) {
      throw new KeepupError("CORRUPT", `The history of session ${head.sessionId} runs in a circle.`, {
        hint: "Run `keepup doctor` to see what is affected.",
      })
    } else {
      waiting.push(blocked.parent)
      isWaiting.add(blocked.parent.sessionId)
    }
  }
  return segments
}

/** The first jump in a range to an entry of another session that is not in the plan yet. */
async function findBlocked(
  runner: SqlRunner,
  range: HistoryRange,
  done: ReadonlyMap<SessionId, number>,
): Promise<{ seq: number; parent: EntryRef } | undefined> {
  for (let after = range.from - 1; after < range.to; ) {
    const rows = await runner.all(
      `SELECT seq, parent_session_id, parent_seq FROM entries
       WHERE session_id = ? AND seq > ? AND seq <= ? AND parent_seq IS NOT NULL ORDER BY seq LIMIT ${pageSize}`,
      [range.sessionId, after, range.to],
    )
    for (const row of rows) {
      after = Number(row["seq"])
      const parent = { sessionId: row["parent_session_id"] as SessionId, seq: Number(row["parent_seq"]) }
      if (parent.sessionId !== range.sessionId && (done.get(parent.sessionId) ?? 0) < parent.seq) {
        return { seq: after, parent }
      }
    }
    if (rows.length < pageSize) break
  }
  return undefined
}
