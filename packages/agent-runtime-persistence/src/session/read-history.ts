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

export interface HistoryPage {
  readonly entries: readonly Entry[]
  /** How many entries of other types the page has. */
  readonly left: number
  /** Its last entry. */
  readonly end: EntryRef
}

export interface HistoryPagesOptions {
  /** Entries of other types may be left out. */
  readonly types?: readonly string[]
  /** The same for the entries up to this one, which is the last of its page. */
  readonly before?: { readonly to: EntryRef; readonly types: readonly string[] }
  /** Begins behind this entry of the history. */
  readonly after?: EntryRef
}

export async function* historyPages(
  runner: SqlRunner,
  to: EntryRef,
  { types, before, after }: HistoryPagesOptions = {},
): AsyncGenerator<HistoryPage> {
  const ranges: HistoryRange[] = []
  for await (const range of historyRanges(runner, to)) {
    const isFirst = after !== undefined && isWithin(range, after)
    ranges.unshift(isFirst ? { ...range, from: after.seq + 1 } : range)
    if (isFirst) break
  }
  const place = ranges.findIndex((range) => before !== undefined && isWithin(range, before.to))
  const selectBefore = pageQuery(before?.types)
  const select = pageQuery(types)
  for (const [index, range] of ranges.entries()) {
    const border = index < place ? range.to : index === place ? (before?.to.seq as number) : 0
    for (let first = range.from; first <= range.to; ) {
      const isBefore = first <= border
      const end = pageEnd(range, first, isBefore ? border : range.to)
      const query = isBefore ? selectBefore : select
      // where a range begins, history may have come from elsewhere; the rest of it follows on itself
      const text = first === range.from ? undefined : await readText(runner, query, range.sessionId, first, end)
      yield text ?? (await readRows(runner, range.sessionId, first, end))
      first = end + 1
    }
  }
}

function isWithin({ sessionId, from, to }: HistoryRange, entry: EntryRef): boolean {
  return entry.sessionId === sessionId && from <= entry.seq && entry.seq <= to
}

function pageEnd({ from }: HistoryRange, first: number, border: number): number {
  return first === from ? first : Math.min(border, first + pageSize - 1)
}

/** Two JSON lists: the data of the wanted entries, and the rest of them, a few words each; beside how many there are of any type. */
function pageQuery(types: readonly string[] | undefined): string {
  const words = `'[' || seq || ',' || version || ',' || created_at || ',' || message_index || ',"' || type || '"]'`
  const inPage = "session_id = ? AND seq >= ? AND seq <= ?"
  const isWanted = types === undefined ? "" : ` AND ${isOneOf(types)}`
  return `SELECT (SELECT count(*) FROM entries WHERE ${inPage}) AS entries, count(*) AS wanted, count(data) AS plain,
    string_agg(words, ',') AS words, string_agg(data, ',') AS data
    FROM (SELECT ${words} AS words, data FROM entries WHERE ${inPage}${isWanted} ORDER BY seq) AS ordered`
}

/** One type alone is named as the index of its entries does. */
function isOneOf(types: readonly string[]): string {
  const [first, ...others] = types.map((type) => `'${type}'`)
  return others.length === 0 ? `type = ${first}` : `type IN (${[first, ...others].join(", ")})`
}

type Head = [seq: number, version: number, createdAt: number, messageIndex: number, type: string]

/** `undefined` if the page is not as simple as almost all are: then its rows say what it is about. */
async function readText(
  runner: SqlRunner,
  select: string,
  sessionId: SessionId,
  first: number,
  last: number,
): Promise<HistoryPage | undefined> {
  const page = [sessionId, first, last]
  const row = await runner.get(select, [...page, ...page])
  const count = last - first + 1
  const heads = parseList(`[${row?.["words"] ?? ""}]`) as Head[] | undefined
  const data = parseList(`[${row?.["data"] ?? ""}]`)
  // an entry is missing, is kept elsewhere, or is not one value
  if (Number(row?.["entries"]) !== count || Number(row?.["plain"]) !== Number(row?.["wanted"])) return undefined
  if (heads === undefined || data?.length !== heads.length) return undefined
  let before = 0
  const entries: Entry[] = []
  for (let place = 0; place < heads.length; place++) {
    const [seq, version, createdAt, messageIndex, type] = heads[place] as Head
    if (seq <= before) return undefined
    before = seq
    entries.push({ sessionId, seq, type, version, data: data[place], createdAt, messageIndex, parent: null })
  }
  return { entries, left: count - entries.length, end: { sessionId, seq: last } }
}

function parseList(text: string): unknown[] | undefined {
  try {
    return JSON.parse(text) as unknown[]
  } catch {
    // One of its entries is not JSON. Read by rows, it is named.
    return undefined
  }
}

async function readRows(runner: SqlRunner, sessionId: SessionId, first: number, last: number): Promise<HistoryPage> {
  const rows = await runner.all("SELECT * FROM entries WHERE session_id = ? AND seq >= ? AND seq <= ? ORDER BY seq", [
    sessionId,
    first,
    last,
  ])
  const entries = await toEntries(runner, rows)
  for (let seq = first; seq <= last; seq++) if (entries[seq - first]?.seq !== seq) throw missing(sessionId, seq)
  return { entries, left: 0, end: { sessionId, seq: last } }
}

function missing(sessionId: SessionId, seq: number): KeepupError {
  return new KeepupError("CORRUPT", `Entry ${seq} of session ${sessionId} is missing.`, {
    hint: "Run `keepup doctor` to see what is affected.",
    details: { sessionId, seq },
  })
}
