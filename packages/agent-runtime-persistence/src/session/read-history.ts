/**
 * Reads a history in pages, oldest first, across branches. A page comes from the database as one text: to hand over
 * thousands of rows one by one takes several times as long as to read them and to parse what they hold.
 */
import { type Entry, type EntryRef, type HistoryRange, KeepupError, type SessionId } from "@ku0/agent-runtime-core"
import type { SqlRunner } from "../store/sql-driver.js"
import { historyRanges } from "./history-ranges.js"
import { toEntries } from "./load-entry.js"

/** Small enough for one text, however long its entries are: none is kept in a row with more than a million characters. */
const pageSize = 250

type Fields = readonly [seq: number, type: string, version: number, createdAt: number, index: number, data: unknown]

export async function* historyPages(runner: SqlRunner, to: EntryRef): AsyncGenerator<readonly Entry[]> {
  const ranges: HistoryRange[] = []
  for await (const range of historyRanges(runner, to)) ranges.unshift(range)
  for (const { sessionId, from, to: last } of ranges) {
    // where a range begins, history may have come from elsewhere; the rest of it follows on itself
    yield await readRows(runner, sessionId, from, from)
    for (let first = from + 1; first <= last; first += pageSize) {
      const end = Math.min(last, first + pageSize - 1)
      yield (await readText(runner, sessionId, first, end)) ?? (await readRows(runner, sessionId, first, end))
    }
  }
}

/** `undefined` if the page is not as simple as almost all are: then its rows say what it is about. */
async function readText(
  runner: SqlRunner,
  sessionId: SessionId,
  first: number,
  last: number,
): Promise<Entry[] | undefined> {
  const row = await runner.get(
    `SELECT string_agg(fields, ',') AS page FROM (
       SELECT '[' || seq || ',"' || type || '",' || version || ',' || created_at || ',' || message_index || ',' || data || ']'
       AS fields FROM entries WHERE session_id = ? AND seq >= ? AND seq <= ? ORDER BY seq) AS ordered`,
    [sessionId, first, last],
  )
  const page = parsePage(row?.["page"])
  if (page?.length !== last - first + 1 || page.some(([seq], place) => seq !== first + place)) return undefined
  return page.map(([seq, type, version, createdAt, messageIndex, data]) => ({
    sessionId,
    seq,
    type,
    version,
    data,
    createdAt,
    messageIndex,
    parent: null,
  }))
}

function parsePage(text: unknown): Fields[] | undefined {
  try {
    return JSON.parse(`[${text}]`) as Fields[]
  } catch {
    // One of its entries is not JSON. Read by rows, it is named.
    return undefined
  }
}

async function readRows(runner: SqlRunner, sessionId: SessionId, first: number, last: number): Promise<Entry[]> {
  const rows = await runner.all("SELECT * FROM entries WHERE session_id = ? AND seq >= ? AND seq <= ? ORDER BY seq", [
    sessionId,
    first,
    last,
  ])
  const entries = await toEntries(runner, rows)
  for (let seq = first; seq <= last; seq++) if (entries[seq - first]?.seq !== seq) throw missing(sessionId, seq)
  return entries
}

function missing(sessionId: SessionId, seq: number): KeepupError {
  return new KeepupError("CORRUPT", `Entry ${seq} of session ${sessionId} is missing.`, {
    hint: "Run `keepup doctor` to see what is affected.",
    details: { sessionId, seq },
  })
}
