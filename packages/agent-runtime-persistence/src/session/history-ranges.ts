/** A history as a few ranges of rows. The cost is one look-up per branch or rewind on the way, whatever their length. */
import { type EntryRef, type HistoryRange, KeepupError, type SessionId } from "@ku0/agent-runtime-core"
import type { SqlRunner } from "../store/sql-driver.js"

/** The ranges that lead to an entry, newest first, found as they are asked for. */
export async function* historyRanges(runner: SqlRunner, to: EntryRef): AsyncGenerator<HistoryRange> {
  let end: EntryRef | undefined = to
  const taken = new Set<string>()
  while (end !== undefined) {
    const row: Awaited<ReturnType<SqlRunner["get"]>> = await runner.get(
      `SELECT seq, parent_session_id, parent_seq FROM entries
       WHERE session_id = ? AND seq <= ? AND parent_seq IS NOT NULL ORDER BY seq DESC LIMIT 1`,
      [end.sessionId, end.seq],
    )
    const jump = `${end.sessionId} ${row?.["seq"]}`
    if (taken.has(jump)) {
      throw new KeepupError("CORRUPT", `The history of session ${to.sessionId} runs in a circle.`, {
        hint: "Run `keepup doctor` to see what is affected.",
      })
    }
    taken.add(jump)
    yield { sessionId: end.sessionId, from: row === undefined ? 1 : Number(row["seq"]), to: end.seq }
    end =
      row === undefined
        ? undefined
        : { sessionId: row["parent_session_id"] as SessionId, seq: Number(row["parent_seq"]) }
  }
}
