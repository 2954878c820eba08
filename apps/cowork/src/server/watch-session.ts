/**
 * One look-out for each session that someone follows, however many do: it asks the store for the head a few times a
 * second, so that what other processes append is seen, and keeps the newest frames for those who are up to date. Who is
 * behind reads its own pages. The place of each follower is the last `seq` it was sent: nothing is missed, nothing twice.
 */
import { type Runtime, type Session, type SessionId, sessionToJson, toKeepupError } from "@ku0/agent-runtime"
import type { Guard } from "../api.js"
import { beat, beatMs, frame } from "./event-frames.js"
import { readGuard } from "./guards.js"
import { entryToJson } from "./shapes.js"

export interface SessionWatcher {
  /** The frames of one follower, from behind `after` on (the head unless told), until the signal aborts. */
  follow(sessionId: SessionId, after: number | undefined, signal: AbortSignal): AsyncGenerator<string>
  close(): void
}

interface Watch {
  followers: number
  headSeq: number
  /** The session's facts as a frame; empty until the first look. Told at once when it matters, else once a second. */
  now: string
  /** What matters of them: all but what every entry changes. */
  facts: string
  toldAt: number
  isGone: boolean
  failure: unknown
  /** Frames of the newest entries, without gaps, up to `headSeq`. */
  recent: { seq: number; text: string }[]
  recentSize: number
  wake: Set<() => void>
  stop: () => void
}

const pollMs = 200
const pageSize = 200
const mostRecent = 256
const mostRecentSize = 1 << 20
/** A frame of several entries is not longer than this, unless one entry is. */
const batchSize = 64 << 10

export function createSessionWatcher(runtime: Runtime): SessionWatcher {
  const { store } = runtime
  const watches = new Map<SessionId, Watch>()
  const closing = new AbortController()

  function open(sessionId: SessionId): Watch {
    const known = watches.get(sessionId)
    if (known !== undefined) return known
    const look = createPulse(() => refresh(sessionId, watch), pollMs)
    const onAppended = (id: string) => {
      if (id === sessionId) look.now()
    }
    store.context.onAppended.add(onAppended)
    const watch: Watch = {
      ...{
        followers: 0,
        headSeq: 0,
        now: "",
        facts: "",
        toldAt: 0,
        isGone: false,
        failure: undefined,
        recent: [],
        recentSize: 0,
      },
      wake: new Set(),
      stop() {
        look.stop()
        store.context.onAppended.delete(onAppended)
        watches.delete(sessionId)
      },
    }
    watches.set(sessionId, watch)
    look.now()
    return watch
  }

  async function refresh(sessionId: SessionId, watch: Watch): Promise<void> {
    const before = `${watch.headSeq} ${watch.now}`
    try {
      const session = await store.sessions.find(sessionId)
      if (session === undefined) watch.isGone = true
      else {
        if (session.headSeq !== watch.headSeq) await readRecent(sessionId, watch, session.headSeq)
        tellNow(watch, session, await readGuard(runtime, session))
      }
    } catch (error) {
      watch.failure = error
    }
    const isChanged = before !== `${watch.headSeq} ${watch.now}` || watch.isGone || watch.failure !== undefined
    if (isChanged) for (const wake of [...watch.wake]) wake()
  }

  function tellNow(watch: Watch, session: Session, guard: Guard): void {
    const { updatedAt: _, messageCount: __, ...rest } = sessionToJson(session)
    const facts = JSON.stringify([rest, guard])
    const now = performance.now()
    if (facts === watch.facts && now - watch.toldAt < 1_000) return
    watch.now = frame("session", { session: sessionToJson(session), headSeq: session.headSeq, guard })
    watch.facts = facts
    watch.toldAt = now
  }

  async function readRecent(sessionId: SessionId, watch: Watch, headSeq: number): Promise<void> {
    const isFresh = watch.headSeq === 0 || headSeq - watch.headSeq > mostRecent
    const after = isFresh ? Math.max(0, headSeq - mostRecent) : watch.headSeq
    if (isFresh) [watch.recent, watch.recentSize] = [[], 0]
    for (const entry of await store.log.read(sessionId, { after, before: headSeq + 1, limit: mostRecent })) {
      const text = frame("entry", entryToJson(entry), entry.seq)
      watch.recent.push({ seq: entry.seq, text })
      watch.recentSize += text.length
    }
    while (watch.recent.length > mostRecent || watch.recentSize > mostRecentSize) {
      watch.recentSize -= watch.recent.shift()?.text.length ?? 0
    }
    watch.headSeq = headSeq
  }

  /** The next frames behind a place: from what is kept, or from the store. */
  async function readBehind(
    sessionId: SessionId,
    watch: Watch,
    after: number,
  ): Promise<{ seq: number; text: string }[]> {
    const [oldest] = watch.recent
    if (oldest !== undefined && oldest.seq <= after + 1) return watch.recent.filter(({ seq }) => seq > after)
    const page = await store.log.read(sessionId, { after, limit: pageSize })
    return page.map((entry) => ({ seq: entry.seq, text: frame("entry", entryToJson(entry), entry.seq) }))
  }

  async function* follow(sessionId: SessionId, from: number | undefined, asked: AbortSignal): AsyncGenerator<string> {
    const signal = AbortSignal.any([asked, closing.signal])
    const watch = open(sessionId)
    watch.followers++
    try {
      yield "retry: 1000\n\n"
      while (watch.now === "" && !watch.isGone && !signal.aborted) await waitFor(watch, () => watch.now !== "", signal)
      let after = from ?? watch.headSeq
      let shown = ""
      while (!signal.aborted) {
        if (watch.failure !== undefined) throw toKeepupError(watch.failure)
        if (watch.isGone) {
          yield frame("gone", {})
          return
        }
        const isNew = watch.now !== shown
        shown = watch.now
        if (watch.headSeq > after) {
          let first = isNew ? shown : ""
          for (const batch of inBatches(await readBehind(sessionId, watch, after))) {
            yield first + batch.text
            first = ""
            after = batch.seq
          }
          continue
        }
        if (isNew) yield shown
        const isNews = () => watch.headSeq > after || watch.now !== shown
        if (!(await waitFor(watch, isNews, signal)) && !signal.aborted) yield beat
      }
    } finally {
      watch.followers--
      if (watch.followers === 0) watch.stop()
    }
  }

  return {
    follow,
    close() {
      closing.abort()
      for (const watch of [...watches.values()]) watch.stop()
    },
  }
}

function* inBatches(frames: readonly { seq: number; text: string }[]): Generator<{ seq: number; text: string }> {
  let text = ""
  let last = 0
  for (const one of frames) {
    if (text !== "" && text.length + one.text.length > batchSize) {
      yield { seq: last, text }
      text = ""
    }
    text += one.text
    last = one.seq
  }
  if (text !== "") yield { seq: last, text }
}

/** False when nothing happened for the time of a beat. */
function waitFor(watch: Watch, isNews: () => boolean, signal: AbortSignal): Promise<boolean> {
  if (isNews() || watch.isGone || watch.failure !== undefined) return Promise.resolve(true)
  return new Promise((resolve) => {
    const done = (isNewsNow: boolean) => {
      clearTimeout(timer)
      watch.wake.delete(wake)
      signal.removeEventListener("abort", wake)
      resolve(isNewsNow)
    }
    const wake = () => done(true)
    const timer = setTimeout(() => done(false), beatMs)
    watch.wake.add(wake)
    signal.addEventListener("abort", wake)
    if (signal.aborted) wake()
  })
}

/** Runs some work now and then, one at a time; asked for while it runs, once more right after. */
export function createPulse(work: () => Promise<void>, everyMs: number): { now(): void; stop(): void } {
  let timer: NodeJS.Timeout | undefined
  let isRunning = false
  let isAsked = false
  let isStopped = false

  async function run(): Promise<void> {
    clearTimeout(timer)
    isRunning = true
    do {
      isAsked = false
      await work()
    } while (isAsked && !isStopped)
    isRunning = false
    if (!isStopped) timer = setTimeout(() => void run(), everyMs)
    timer?.unref()
  }

  return {
    now() {
      if (isRunning) isAsked = true
      else if (!isStopped) void run()
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
