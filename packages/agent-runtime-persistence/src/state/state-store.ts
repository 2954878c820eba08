/**
 * What an agent hands over, one value per top-level key. The log holds only which keys changed and the hashes of their
 * values; now and then an entry lists all keys, so that finding the state at any entry takes a bounded number of rows.
 */
import {
  type AppendOptions,
  applyStateChange,
  type EntryDraft,
  type EntryRef,
  type EventData,
  type SessionId,
  type StateStore,
} from "@ku0/agent-runtime-core"
import { appendEntries, lockSession, type SessionHead } from "../session/append-entries.js"
import { historyRanges } from "../session/history-ranges.js"
import { toEntries } from "../session/load-entry.js"
import { draftSettled } from "../session/settled-entry.js"
import type { SqlRunner } from "../store/sql-driver.js"
import type { StoreContext } from "../store/store-context.js"
import { type EncodedBlob, encodeBlob, putBlob, readBlob } from "./blob-store.js"
import { canonicalJson } from "./canonical-json.js"

/** Every so many changes, one entry lists all keys. */
const listAllEvery = 32

type StateChange = EventData<"state:changed">

/** State made ready outside of a transaction: hashed and, if large, compressed. `undefined` removes the key. */
export type PreparedState = readonly { readonly key: string; readonly blob: EncodedBlob | undefined }[]

export async function prepareState(change: Readonly<Record<string, unknown>>): Promise<PreparedState> {
  const prepared: { key: string; blob: EncodedBlob | undefined }[] = []
  for (const [key, value] of Object.entries(change)) {
    const text = value === undefined ? undefined : canonicalJson(value, `state key ${JSON.stringify(key)}`)
    prepared.push({ key, blob: text === undefined ? undefined : await encodeBlob(Buffer.from(text)) })
  }
  return prepared
}

/**
 * The draft of the entry that hands the state over, its values already kept, and the keys that change. No draft if
 * nothing does. `after` is the entry whose state is changed; `between` are appended before it.
 */
async function draftStateChange(
  context: StoreContext,
  tx: SqlRunner,
  after: EntryRef,
  state: PreparedState,
  between: readonly EntryDraft[] = [],
): Promise<{ drafts: EntryDraft[]; changed: string[] }> {
  const { keys, changesSinceList } = await keysAt(tx, after)
  const set: Record<string, string> = Object.create(null)
  const removed: string[] = []
  const fresh: EncodedBlob[] = []
  for (const { key, blob } of state) {
    if (blob === undefined) {
      if (Object.hasOwn(keys, key)) removed.push(key)
    } else if (keys[key] !== blob.hash) {
      fresh.push(blob)
      set[key] = blob.hash
    }
  }
  // in one order for all, so that two who hand over the same values do not wait for each other
  fresh.sort((a, b) => (a.hash < b.hash ? -1 : 1))
  for (const blob of fresh) await putBlob(tx, blob, context.clock.now())
  const changed = [...Object.keys(set), ...removed]
  if (changed.length === 0) return { drafts: [], changed }
  const full = changesSinceList === undefined || changesSinceList >= listAllEvery
  if (!full) return { drafts: [{ type: "state:changed", data: { full, set, removed } }], changed }
  const settled = await draftSettled(tx, after, between)
  const all = applyStateChange(keys, { full: false, set, removed })
  const data: StateChange = { full, set: all, removed: [], ...(settled && { settled }) }
  return { drafts: [{ type: "state:changed", data }], changed }
}

/** The same on top of entries that are about to be appended: a jump among them says which state is changed. */
export async function draftStateAfter(
  context: StoreContext,
  tx: SqlRunner,
  session: SessionHead,
  drafts: readonly EntryDraft[],
  state: PreparedState,
): Promise<EntryDraft[]> {
  const jump = drafts.findLastIndex(({ parent }) => parent !== undefined)
  const base = drafts[jump]?.parent ?? { sessionId: session.id, seq: session.headSeq }
  return (await draftStateChange(context, tx, base, state, drafts.slice(Math.max(0, jump)))).drafts
}

export function createStateStore(context: StoreContext): StateStore {
  const { driver } = context

  async function put(sessionId: SessionId, change: Readonly<Record<string, unknown>>, options: AppendOptions = {}) {
    const state = await prepareState(change)
    const result = await driver.transaction("state", async (tx) => {
      const session = await lockSession(context, tx, sessionId)
      const head = { sessionId, seq: session.headSeq }
      const { drafts, changed } = await draftStateChange(context, tx, head, state)
      const [entry] = await appendEntries(context, tx, session, drafts, options)
      return { changed, entry: entry && { sessionId, seq: entry.seq } }
    })
    for (const wake of context.onAppended) wake(sessionId)
    return result
  }

  async function get(at: EntryRef): Promise<Record<string, unknown>> {
    const { keys } = await keysAt(driver, at)
    const state: Record<string, unknown> = Object.create(null)
    for (const [key, hash] of Object.entries(keys)) {
      state[key] = JSON.parse(Buffer.from(await readBlob(driver, hash)).toString("utf8"))
    }
    return state
  }

  return { put, get, keys: async (at) => (await keysAt(driver, at)).keys }
}

/** Walks back from an entry to the last one that lists all keys, then applies what came after. */
export async function keysAt(
  runner: SqlRunner,
  at: EntryRef,
): Promise<{ keys: Record<string, string>; changesSinceList: number | undefined }> {
  const newestFirst: StateChange[] = []
  let isListed = false
  for await (const { sessionId, from, to } of historyRanges(runner, at)) {
    for (let before = to + 1; !isListed; ) {
      const page = await readChanges(runner, sessionId, from, before)
      const list = page.changes.findIndex((change) => change?.full === true)
      isListed = list >= 0
      newestFirst.push(...(isListed ? page.changes.slice(0, list + 1) : page.changes))
      if (page.first === undefined) break
      before = page.first
    }
    if (isListed) break
  }
  const keys = newestFirst.reduceRight<Record<string, string>>(applyStateChange, Object.create(null))
  return { keys, changesSinceList: isListed ? newestFirst.length - 1 : undefined }
}

interface ChangesPage {
  /** Newest first. */
  readonly changes: readonly StateChange[]
  /** Where the oldest of them stands; none if there are no changes. */
  readonly first: number | undefined
}

const selectChanges = `FROM entries WHERE session_id = ? AND type = 'state:changed' AND seq >= ? AND seq < ?
  ORDER BY seq DESC LIMIT ${listAllEvery + 1}`

/** One text instead of a row each, which takes several times as long to hand over. */
const selectAsText = `SELECT count(*) AS changes, count(data) AS plain, min(seq) AS first,
  string_agg(data, ',' ORDER BY seq DESC) AS data FROM (SELECT seq, data ${selectChanges}) AS newest`

async function readChanges(
  runner: SqlRunner,
  sessionId: SessionId,
  from: number,
  before: number,
): Promise<ChangesPage> {
  const page = [sessionId, from, before]
  const row = await runner.get(selectAsText, page)
  const count = Number(row?.["changes"])
  if (count === 0) return { changes: [], first: undefined }
  const isPlain = Number(row?.["plain"]) === count
  const changes = isPlain ? parseChanges(`[${row?.["data"]}]`) : undefined
  if (changes?.length === count) return { changes, first: Number(row?.["first"]) }
  // one is kept elsewhere, or is not one value: read by rows, it is found or named
  const entries = await toEntries(runner, await runner.all(`SELECT * ${selectChanges}`, page))
  return { changes: entries.map(({ data }) => data as StateChange), first: entries.at(-1)?.seq }
}

function parseChanges(text: string): StateChange[] | undefined {
  try {
    return JSON.parse(text) as StateChange[]
  } catch {
    return undefined
  }
}
