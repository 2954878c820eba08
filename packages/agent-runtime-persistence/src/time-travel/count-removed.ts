/** What a restore takes out of the history beside messages: only the part that both histories do not share is read. */
import type { EntryRef, HistoryRange, Message } from "@ku0/agent-runtime-core"
import { historyRanges } from "../session/history-ranges.js"
import { toEntries } from "../session/load-entry.js"
import type { SqlRunner } from "../store/sql-driver.js"

export interface RemovedMarkers {
  readonly removedSummaries: number
  readonly removedTruncationMarkers: number
}

/** Summaries and truncation markers on the way to `now` that are not on the way to `then`. */
export async function countRemoved(runner: SqlRunner, now: EntryRef, then: EntryRef): Promise<RemovedMarkers> {
  let removedSummaries = 0
  let removedTruncationMarkers = 0
  let others: HistoryRange[] | undefined
  for await (const range of historyRanges(runner, now)) {
    const isOnTheWay = lastShared(range, { ...then, from: then.seq, to: then.seq }) !== undefined
    if (!isOnTheWay) others ??= await listRanges(runner, then)
    const shared = isOnTheWay ? then.seq : findShared(range, others as HistoryRange[])
    for (const role of await listMarkers(runner, { ...range, from: shared === undefined ? range.from : shared + 1 })) {
      if (role === "summary") removedSummaries++
      else if (role === "truncation") removedTruncationMarkers++
    }
    if (shared !== undefined) break // and so they share all before
  }
  return { removedSummaries, removedTruncationMarkers }
}

async function listRanges(runner: SqlRunner, to: EntryRef): Promise<HistoryRange[]> {
  const ranges: HistoryRange[] = []
  for await (const range of historyRanges(runner, to)) ranges.push(range)
  return ranges
}

function findShared(range: HistoryRange, others: readonly HistoryRange[]): number | undefined {
  for (const other of others) {
    const shared = lastShared(range, other)
    if (shared !== undefined) return shared
  }
  return undefined
}

function lastShared(a: HistoryRange, b: HistoryRange): number | undefined {
  const last = Math.min(a.to, b.to)
  return a.sessionId === b.sessionId && last >= Math.max(a.from, b.from) ? last : undefined
}

/** The roles of the messages that may be markers. A long one is not in its row. */
async function listMarkers(runner: SqlRunner, { sessionId, from, to }: HistoryRange): Promise<string[]> {
  const rows = await runner.all(
    `SELECT * FROM entries WHERE session_id = ? AND type = 'message:added' AND seq >= ? AND seq <= ?
     AND (data IS NULL OR data LIKE '%summary%' OR data LIKE '%truncation%')`,
    [sessionId, from, to],
  )
  return (await toEntries(runner, rows)).map(({ data }) => (data as { message: Message }).message.role)
}
