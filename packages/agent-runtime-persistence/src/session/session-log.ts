/** A session's log: append, read by range, the history across branches, its fold, and what others append. */
import {
  createHistoryFold,
  type Entry,
  type EntryRef,
  foldedEvents,
  KeepupError,
  type Message,
  type ReadOptions,
  type SessionId,
  type SessionLog,
} from "@ku0/agent-runtime-core"
import { draftStateAfter, keysAt, prepareState } from "../state/state-store.js"
import { pageLimit } from "../store/page-limit.js"
import type { SqlRow } from "../store/sql-driver.js"
import type { StoreContext } from "../store/store-context.js"
import { appendEntries, lockSession, noSession, refuseOwnEvents } from "./append-entries.js"
import { historyRanges } from "./history-ranges.js"
import { toEntries } from "./load-entry.js"
import { historyPages } from "./read-history.js"
import { findSettled } from "./settled-entry.js"

const pageSize = 500
const largestPage = 10_000
const defaultPollMs = 100

/** State is found from its newest list on; all changes before that need not be read. */
const foldedTypes = foldedEvents.filter((type) => type !== "state:changed")

export function createSessionLog(context: StoreContext): SessionLog {
  const { driver } = context

  async function append(...[sessionId, drafts, options = {}]: Parameters<SessionLog["append"]>): Promise<Entry[]> {
    if (drafts.length === 0 && options.state === undefined) return []
    refuseOwnEvents(drafts)
    const state = options.state === undefined ? [] : await prepareState(options.state)
    const entries = await driver.transaction("append", async (tx) => {
      const session = await lockSession(context, tx, sessionId)
      const changed = state.length === 0 ? [] : await draftStateAfter(context, tx, session, drafts, state)
      return await appendEntries(context, tx, session, [...drafts, ...changed], options)
    })
    for (const wake of context.onAppended) wake(sessionId)
    return entries
  }

  async function read(sessionId: SessionId, options: ReadOptions = {}): Promise<Entry[]> {
    const order = options.direction === "backward" ? "DESC" : "ASC"
    const limit = pageLimit(options.limit, pageSize, largestPage)
    const { types = [] } = options
    const wanted = types.length === 0 ? "" : ` AND type IN (${types.map(() => "?").join(", ")})`
    const rows = await driver.all(
      `SELECT * FROM entries WHERE session_id = ? AND seq > ? AND seq < ?${wanted} ORDER BY seq ${order} LIMIT ?`,
      [sessionId, options.after ?? 0, options.before ?? Number.MAX_SAFE_INTEGER, ...types, limit],
    )
    return toEntries(driver, rows)
  }

  async function head(sessionId: SessionId): Promise<EntryRef> {
    const row = await driver.get("SELECT head_seq FROM sessions WHERE id = ? AND deleted_at IS NULL", [sessionId])
    if (row === undefined) throw noSession(sessionId)
    return { sessionId, seq: Number(row["head_seq"]) }
  }

  async function* history(to: EntryRef, options: { types?: readonly string[] } = {}): AsyncGenerator<Entry> {
    await requireEntry(to)
    for await (const { entries } of historyPages(driver, to)) {
      for (const entry of entries) if (options.types === undefined || options.types.includes(entry.type)) yield entry
    }
  }

  async function lastMessages(...[to, wanted]: Parameters<SessionLog["lastMessages"]>) {
    const count = pageLimit(wanted, 0, largestPage)
    await requireEntry(to)
    const rows: SqlRow[] = []
    for await (const range of historyRanges(driver, to)) {
      const page = await driver.all(
        `SELECT * FROM entries WHERE session_id = ? AND type = 'message:added' AND seq >= ? AND seq <= ?
         ORDER BY seq DESC LIMIT ?`,
        [range.sessionId, range.from, range.to, count - rows.length],
      )
      rows.push(...page)
      if (rows.length >= count) break
    }
    const entries = await toEntries(driver, rows.reverse())
    return entries.map((entry) => ({
      entry: { sessionId: entry.sessionId, seq: entry.seq },
      index: entry.messageIndex,
      message: (entry.data as { message: Message }).message,
    }))
  }

  async function fold(to: EntryRef) {
    await requireEntry(to)
    const folded = createHistoryFold()
    const settled = await findSettled(driver, to)
    const before = settled && { to: settled, types: ["message:added"] }
    for await (const { entries, left, end } of historyPages(driver, to, {
      types: foldedTypes,
      ...(before && { before }),
    })) {
      for (const entry of entries) folded.add(entry)
      folded.pass(left)
      if (end.seq === settled?.seq && end.sessionId === settled.sessionId) folded.settle(settled.phase)
    }
    return { ...folded.state(), stateKeys: (await keysAt(driver, to)).keys }
  }

  async function* tail(...[sessionId, options]: Parameters<SessionLog["tail"]>): AsyncGenerator<Entry> {
    let { after } = options
    while (!options.signal.aborted) {
      const page = await read(sessionId, { after })
      for (const entry of page) {
        if (options.signal.aborted) return
        yield entry
        after = entry.seq
      }
      if (page.length === 0) await head(sessionId) // throws when there is nothing to wait for any more
      if (page.length < pageSize) await nextAppend(sessionId, options.signal, options.pollMs ?? defaultPollMs)
    }
  }

  /** Waits for an append of this process, or a little, so that those of others are seen too. */
  function nextAppend(sessionId: SessionId, signal: AbortSignal, pollMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        context.onAppended.delete(wake)
        signal.removeEventListener("abort", done)
        resolve()
      }
      const wake = (appended: string) => {
        if (appended === sessionId) done()
      }
      const timer = setTimeout(done, pollMs)
      context.onAppended.add(wake)
      signal.addEventListener("abort", done)
      if (signal.aborted) done()
    })
  }

  async function requireEntry(ref: EntryRef): Promise<void> {
    const row = await driver.get("SELECT 1 FROM entries WHERE session_id = ? AND seq = ?", [ref.sessionId, ref.seq])
    if (row === undefined)
      throw new KeepupError("NOT_FOUND", `There is no entry ${ref.seq} in session ${ref.sessionId}.`)
  }

  return { append, read, head, history, lastMessages, fold, tail }
}
