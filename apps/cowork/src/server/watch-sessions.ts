/**
 * One look-out over all sessions for everyone who has the list open: says which were made, changed, or deleted, by
 * whatever process. It tells what a session is now, so a change that was overtaken by a later one is told once.
 */
import { countSessions, listChangedSessions, listSessionIds, type Runtime, type SessionId } from "@ku0/agent-runtime"
import { beat, beatMs, frame } from "./event-frames.js"
import { readHolder } from "./guards.js"
import { listedSession } from "./shapes.js"
import { createPulse } from "./watch-session.js"

export interface SessionsWatcher {
  follow(signal: AbortSignal): AsyncGenerator<string>
  close(): void
}

interface Follower {
  /** What it was not told yet: session → its newest frame. No longer than there are sessions. */
  readonly waiting: Map<SessionId, string>
  wake: () => void
}

const pollMs = 500
/** Clocks differ and a transaction may end after a later one: so far back changes are looked for again. */
const overlapMs = 60_000
const pageSize = 500

export function createSessionsWatcher(runtime: Runtime): SessionsWatcher {
  const { store } = runtime
  const followers = new Set<Follower>()
  const closing = new AbortController()
  /** Session → its last frame; empty: known, not looked at. */
  let known = new Map<SessionId, string>()
  let held = new Set<SessionId>()
  let newest = 0
  let ready: Promise<void> | undefined
  let pulse: ReturnType<typeof createPulse> | undefined
  let failure: unknown

  async function start(): Promise<void> {
    known = new Map((await listSessionIds(store)).map((id) => [id, ""]))
    held = new Set()
    newest = (await listChangedSessions(store, 0, 1))[0]?.updatedAt ?? 0
    await look(true)
    pulse = createPulse(() => look(false), pollMs)
    pulse.now()
  }

  async function look(isFirst: boolean): Promise<void> {
    try {
      const told = new Map<SessionId, string>()
      const changed = await listChangedSessions(store, newest - overlapMs, pageSize)
      const seen = new Set(changed.map(({ id }) => id))
      const others = [...held].filter((id) => !seen.has(id))
      const sessions = [...changed, ...(await Promise.all(others.map((id) => store.sessions.find(id))))]
      for (const session of sessions) {
        if (session === undefined) continue
        newest = Math.max(newest, session.updatedAt)
        const holder = await readHolder(runtime, session.id)
        if (holder === null) held.delete(session.id)
        else held.add(session.id)
        const text = frame("session", listedSession(session, holder))
        if (known.get(session.id) !== text) told.set(session.id, text)
        known.set(session.id, text)
      }
      if ((await countSessions(store)) !== known.size) await compareIds(told)
      if (isFirst) return
      for (const follower of followers) {
        for (const [id, text] of told) follower.waiting.set(id, text)
        if (told.size > 0) follower.wake()
      }
    } catch (error) {
      failure = error
      for (const follower of followers) follower.wake()
    }
  }

  async function compareIds(told: Map<SessionId, string>): Promise<void> {
    const there = new Set(await listSessionIds(store))
    for (const id of known.keys()) {
      if (there.has(id)) continue
      known.delete(id)
      held.delete(id)
      told.set(id, frame("deleted", { id }))
    }
    for (const id of there) {
      if (known.has(id)) continue
      const session = await store.sessions.find(id)
      if (session === undefined) continue
      const text = frame("session", listedSession(session, await readHolder(runtime, id)))
      known.set(id, text)
      told.set(id, text)
    }
  }

  async function* follow(asked: AbortSignal): AsyncGenerator<string> {
    const signal = AbortSignal.any([asked, closing.signal])
    const follower: Follower = { waiting: new Map(), wake: () => undefined }
    followers.add(follower)
    try {
      yield "retry: 1000\n\n"
      ready ??= start()
      await ready
      yield frame("ready", {})
      while (!signal.aborted && failure === undefined) {
        const [next] = follower.waiting
        if (next === undefined) {
          if (!(await waitFor(follower, signal)) && !signal.aborted) yield beat
          continue
        }
        follower.waiting.delete(next[0])
        yield next[1]
      }
    } finally {
      followers.delete(follower)
      if (followers.size === 0) {
        pulse?.stop()
        ;[pulse, ready, failure] = [undefined, undefined, undefined]
      }
    }
  }

  return {
    follow,
    close() {
      closing.abort()
      pulse?.stop()
    },
  }
}

function waitFor(follower: Follower, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const done = (isNews: boolean) => {
      clearTimeout(timer)
      follower.wake = () => undefined
      signal.removeEventListener("abort", wake)
      resolve(isNews)
    }
    const wake = () => done(true)
    const timer = setTimeout(() => done(false), beatMs)
    follower.wake = wake
    signal.addEventListener("abort", wake)
    if (signal.aborted) wake()
  })
}
