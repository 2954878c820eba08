/** Goes through a recorded history again: the same events in the same order. No model is called and nothing is executed. */
import { type Checkpoint, type Entry, type EntryRef, type HistoryRange, KeepupError } from "@ku0/agent-runtime-core"
import { historyRanges } from "../session/history-ranges.js"
import type { Store } from "../store/open-store.js"

export interface ReplayOptions {
  readonly from: Checkpoint
  /** Where it ends; the head of the session unless told. */
  readonly to?: Checkpoint
  /** 1 is as fast as it was, 10 ten times as fast. All at once if not given. */
  readonly speed?: number
  /** No pause is longer than this. */
  readonly longestPauseMs?: number
  readonly signal?: AbortSignal
}

/** Yields the entries after the checkpoint. */
export async function* replayHistory(store: Store, options: ReplayOptions): AsyncGenerator<Entry> {
  const { from, to, speed, signal } = options
  if (speed !== undefined && !(speed > 0)) throw new KeepupError("INVALID_INPUT", `Not a speed: ${speed}.`)
  const start = { sessionId: from.sessionId, seq: from.entrySeq }
  const end = to === undefined ? await store.log.head(from.sessionId) : { sessionId: to.sessionId, seq: to.entrySeq }
  let last: Entry | undefined
  for (const { sessionId, from: first, to: final } of await rangesBetween(store, start, end)) {
    for (let after = first - 1; after < final; ) {
      const page = await store.log.read(sessionId, { after, before: final + 1 })
      if (page.length === 0) throw missing(sessionId, after + 1)
      for (const entry of page) {
        if (entry.seq !== after + 1) throw missing(sessionId, after + 1)
        if (speed !== undefined && last !== undefined) {
          await pause(Math.min((entry.createdAt - last.createdAt) / speed, options.longestPauseMs ?? 5_000), signal)
        }
        signal?.throwIfAborted()
        yield entry
        last = entry
        after = entry.seq
      }
    }
  }
}

export interface ReplayPage {
  /** How many entries the whole replay has. */
  readonly total: number
  readonly entries: readonly Entry[]
  /** When the first and the last entry of the whole replay were recorded. */
  readonly startedAt: number | null
  readonly endedAt: number | null
}

/** A part of a replay by position: 0 is the first entry after the checkpoint. The cost is that of the part. */
export async function readReplayPage(
  store: Store,
  options: Pick<ReplayOptions, "from" | "to"> & { readonly offset?: number; readonly limit?: number },
): Promise<ReplayPage> {
  const { from, to, offset = 0, limit = 500 } = options
  const start = { sessionId: from.sessionId, seq: from.entrySeq }
  const end = to === undefined ? await store.log.head(from.sessionId) : { sessionId: to.sessionId, seq: to.entrySeq }
  const ranges = await rangesBetween(store, start, end)
  const total = ranges.reduce((sum, range) => sum + range.to - range.from + 1, 0)
  const [first, last] = [ranges[0], ranges.at(-1)]
  const ends = first && last ? await Promise.all([readAt(store, first, first.from), readAt(store, last, last.to)]) : []
  const entries: Entry[] = []
  let passed = 0
  for (const { sessionId, from: low, to: high } of ranges) {
    const skipped = Math.max(0, offset - passed)
    passed += high - low + 1
    const wanted = Math.min(limit - entries.length, high - low + 1 - skipped)
    if (wanted <= 0) continue
    const page = await store.log.read(sessionId, { after: low + skipped - 1, before: high + 1, limit: wanted })
    if (page.length !== wanted) throw missing(sessionId, low + skipped + page.length)
    entries.push(...page)
  }
  return { total, entries, startedAt: ends[0]?.createdAt ?? null, endedAt: ends[1]?.createdAt ?? null }
}

async function readAt(store: Store, { sessionId }: HistoryRange, seq: number): Promise<Entry> {
  const [entry] = await store.log.read(sessionId, { after: seq - 1, limit: 1 })
  if (entry?.seq !== seq) throw missing(sessionId, seq)
  return entry
}

function missing(sessionId: string, seq: number): KeepupError {
  return new KeepupError("CORRUPT", `Entry ${seq} of session ${sessionId} is missing.`, {
    hint: "Run `keepup doctor` to see what is affected.",
    details: { sessionId, seq },
  })
}

/** Whether an entry is on the way that leads to another one. */
export async function isInHistory(store: Store, entry: EntryRef, to: EntryRef): Promise<boolean> {
  for await (const range of historyRanges(store.context.driver, to)) {
    if (holds(range, entry)) return true
  }
  return false
}

function holds({ sessionId, from, to }: HistoryRange, entry: EntryRef): boolean {
  return sessionId === entry.sessionId && entry.seq >= from && entry.seq <= to
}

/** The part of a history behind one of its entries, oldest first. */
async function rangesBetween(store: Store, start: EntryRef, end: EntryRef): Promise<HistoryRange[]> {
  const ranges: HistoryRange[] = []
  for await (const range of historyRanges(store.context.driver, end)) {
    const hasStart = holds(range, start)
    ranges.unshift(hasStart ? { ...range, from: start.seq + 1 } : range)
    if (hasStart) return ranges.filter(({ from, to }) => from <= to)
  }
  throw new KeepupError("INVALID_INPUT", "The checkpoint to start from is not in the history that leads to the end.", {
    hint: "After a rewind the checkpoints behind it are on another branch: replay up to one of them with --to.",
  })
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (!(ms > 0) || signal?.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener("abort", done)
  })
}
