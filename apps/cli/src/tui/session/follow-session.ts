/** Between turns anybody may change the session: another terminal, the page, a script. It is noticed and said. */
import {
  type Checkpoint,
  type CheckpointId,
  type Entry,
  type EventData,
  type Lease,
  toKeepupError,
} from "@ku0/agent-runtime"
import type { ChatScope } from "./chat-scope.js"
import { refreshStatus } from "./open-session.js"
import { notice, showEvent } from "./show-event.js"

const pollMs = 250
/** How often it is looked whether another process that works here still lives. */
const aliveMs = 1_000

export interface Following {
  /** Begins with what came after the newest entry that was shown. */
  start(): void
  /** Resolves when nothing more will be shown. */
  stop(): Promise<void>
}

export function createFollowing(scope: ChatScope): Following {
  let controller: AbortController | undefined
  let working: Promise<void> = Promise.resolve()
  let watch: NodeJS.Timeout | undefined

  /** A process that was killed says nothing: seen twice without its lease, it is gone. */
  function watchHolder(signal: AbortSignal): void {
    let missed = 0
    const look = async () => {
      const isElsewhere = scope.store.get().phase === "elsewhere"
      missed = isElsewhere && (await findHolder(scope)) === undefined ? missed + 1 : 0
      if (missed === 2 && !signal.aborted && scope.store.get().phase === "elsewhere") tellDied(scope)
    }
    // a store that can't be read is told by the one that follows
    watch = setInterval(() => void look().catch(() => undefined), aliveMs)
    watch.unref()
  }

  async function follow(signal: AbortSignal): Promise<void> {
    if (scope.session === undefined) return
    const { store } = await scope.openRuntime()
    try {
      for await (const entry of store.log.tail(scope.session.id, { after: scope.seen, signal, pollMs })) {
        scope.seen = entry.seq
        await showEntry(scope, entry)
      }
    } catch (thrown) {
      const error = toKeepupError(thrown)
      if (!signal.aborted) scope.store.dispatch(notice("warning", `The session can't be watched: ${error.message}`))
    }
  }

  return {
    start() {
      if (controller !== undefined || scope.session === undefined) return
      controller = new AbortController()
      working = follow(controller.signal)
      watchHolder(controller.signal)
    },
    async stop() {
      clearInterval(watch)
      controller?.abort()
      controller = undefined
      await working
    },
  }
}

async function showEntry(scope: ChatScope, entry: Entry): Promise<void> {
  const { store } = scope
  const say = others[entry.type]
  if (say !== undefined) await say(scope, entry.data)
  for (const action of showEvent(entry, scope.now())) store.dispatch(action)
  if (changesStatus.has(entry.type)) await refreshStatus(scope)
}

const changesStatus: ReadonlySet<string> = new Set([
  "checkpoint:created",
  "checkpoint:pruned",
  "checkpoint:restored",
  "session:paused",
  "session:resumed",
  "run:ended",
])

/** What someone else's entries mean to the one who sits here. */
const others: Readonly<Record<string, (scope: ChatScope, data: unknown) => void | Promise<void>>> = {
  async "run:started"(scope) {
    const lease = await findHolder(scope)
    const who = lease === undefined ? "" : ` (${lease.holder.purpose}, pid ${lease.holder.pid})`
    scope.store.dispatch(notice("warning", `Another process goes on with this session${who}.`))
    showElsewhere(scope)
  },
  "run:ended"(scope, data) {
    const { outcome } = data as EventData<"run:ended">
    scope.store.dispatch({ type: "phase-changed", phase: "idle" })
    scope.store.dispatch(notice("info", `The other process has ended: ${outcome}. You can go on here.`))
  },
  async "checkpoint:restored"(scope, data) {
    const { checkpointId, mode } = data as EventData<"checkpoint:restored">
    const checkpoint = await findCheckpoint(scope, checkpointId)
    const number = checkpoint === undefined ? "a checkpoint" : `checkpoint #${checkpoint.number}`
    const what = { files: "files", conversation: "conversation", both: "files and conversation" }[mode]
    const hint = mode === "files" ? undefined : "Messages after it are no longer part of the conversation."
    scope.store.dispatch(notice("warning", `Another process restored ${number} of this session: ${what}.`, hint))
  },
  "session:interrupted": (scope) => tellDied(scope),
  "session:paused": (scope) => scope.store.dispatch(notice("info", "The session was paused by another process.")),
  "session:ended": (scope) => scope.store.dispatch(notice("info", "The session was ended by another process.")),
}

function tellDied({ store }: ChatScope): void {
  store.dispatch({ type: "phase-changed", phase: "idle" })
  store.dispatch(notice("warning", "The other process died. What it did is kept."))
}

export function showElsewhere({ store, now }: ChatScope): void {
  store.dispatch({ type: "phase-changed", phase: "elsewhere", activity: "Another process works", at: now() })
}

/** The lease of whoever works in the session now. */
export async function findHolder(scope: ChatScope): Promise<Lease | undefined> {
  const { store } = await scope.openRuntime()
  return await store.leases.find(`session:${scope.session?.id}`)
}

async function findCheckpoint(scope: ChatScope, id: string): Promise<Checkpoint | undefined> {
  return await (await scope.openRuntime()).store.checkpoints.find(id as CheckpointId)
}
