/** A page of the messages of a history, by index. The cost is that of the page, however long the history is. */
import type { EntryRef, HistoryRange, Message } from "@ku0/agent-runtime-core"
import type { Store } from "../store/open-store.js"
import { pageLimit } from "../store/page-limit.js"
import type { SqlRow, SqlRunner } from "../store/sql-driver.js"
import { historyRanges } from "./history-ranges.js"
import { toEntries } from "./load-entry.js"

export interface ReadMessagesOptions {
  /** The first index wanted; 1 is the first message. */
  readonly from: number
  /** At most this many, 50 unless told, 1,000 at most. */
  readonly limit?: number
}

export interface ReadMessage {
  readonly index: number
  readonly entry: EntryRef
  readonly createdAt: number
  readonly message: Message
}

/** Oldest first, from the given index on, along the history that leads to an entry. */
export async function readMessages(
  { context }: Store,
  to: EntryRef,
  options: ReadMessagesOptions,
): Promise<ReadMessage[]> {
  const { driver } = context
  const last = options.from + pageLimit(options.limit, 50, 1_000) - 1
  const rows: SqlRow[][] = []
  for await (const range of historyRanges(driver, to)) {
    // the index grows along a range, so its ends are found by halving
    const first = await findIndex(driver, range, options.from)
    const end = await findIndex(driver, range, last + 1)
    if (first < end) {
      rows.push(
        await driver.all(
          `SELECT * FROM entries WHERE session_id = ? AND type = 'message:added' AND seq >= ? AND seq < ? ORDER BY seq`,
          [range.sessionId, first, end],
        ),
      )
    }
    if (first > range.from) break
  }
  const entries = await toEntries(driver, rows.reverse().flat())
  return entries.map(({ messageIndex, sessionId, seq, createdAt, data }) => ({
    index: messageIndex,
    entry: { sessionId, seq },
    createdAt,
    message: (data as { message: Message }).message,
  }))
}

/** The first `seq` of a range whose history has this many messages; one behind its end if none has. */
async function findIndex(driver: SqlRunner, range: HistoryRange, index: number): Promise<number> {
  let [low, high] = [range.from, range.to + 1]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const row = await driver.get("SELECT message_index FROM entries WHERE session_id = ? AND seq = ?", [
      range.sessionId,
      middle,
    ])
    if (Number(row?.["message_index"] ?? 0) >= index) high = middle
    else low = middle + 1
  }
  return low
}
