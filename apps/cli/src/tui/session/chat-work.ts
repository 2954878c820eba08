/** What the chat does, one thing after the other: turns of the agent, work of keepup's own, and what waits for them. */
import { isSlash } from "../slash/find-slash.js"
import type { ChatScope } from "./chat-scope.js"
import { type Following, findHolder, showElsewhere } from "./follow-session.js"
import { refreshStatus, skipToHead } from "./open-session.js"
import { runTurn, showError } from "./run-turn.js"

export interface ChatWork {
  /** Whether something may begin now. */
  isFree(): boolean
  /** Whether the agent works. */
  isRunning(): boolean
  startTurn(prompt: string | undefined): void
  busy(activity: string, doIt: () => Promise<void>): void
  queue(text: string): void
  runQueued(): void
  /** Tells the agent to stop. */
  stop(): void
  /** Resolves when nothing that was begun is under way. */
  isDone(): Promise<void>
}

export interface ChatWorkOptions {
  readonly isLeaving: () => boolean
  readonly sendSlash: (line: string) => void
}

export function createChatWork(
  scope: ChatScope,
  following: Following,
  { isLeaving, sendSlash }: ChatWorkOptions,
): ChatWork {
  const { store, journal } = scope
  let turn: AbortController | undefined
  let last: Promise<void> = Promise.resolve()

  function isFree(): boolean {
    return ["idle", "elsewhere"].includes(store.get().phase) && !isLeaving()
  }

  /** Lets the agent work: at once for whoever looks, after what is still under way in truth. */
  function startTurn(prompt: string | undefined): void {
    const controller = new AbortController()
    turn = controller
    store.dispatch({ type: "phase-changed", phase: "running", activity: "Thinking", at: scope.now() })
    enqueue(async () => {
      await following.stop()
      const { isDone } = await runTurn(scope, prompt, controller.signal)
      turn = undefined
      await settleDown()
      if (isDone) return runQueued()
      handBackQueue()
    })
  }

  /** What was sent while the agent or keepup was at work follows, one by one. */
  function runQueued(): void {
    const [next] = store.get().queued
    if (next === undefined || isLeaving() || turn !== undefined) return
    store.dispatch({ type: "queue-taken" })
    if (!isSlash(next)) {
      startTurn(next)
      return
    }
    journal.keepQueue(store.get().queued)
    sendSlash(next)
    // one that was no command has not begun anything that would go on with the queue
    if (isFree()) runQueued()
  }

  /** After a stop or a failure the user may want something else first. */
  function handBackQueue(): void {
    const { queued } = store.get()
    if (queued.length === 0) return
    store.dispatch({ type: "text-handed-back", text: queued.join("\n\n") })
    store.dispatch({ type: "queue-cleared" })
    journal.keepQueue([])
  }

  /** Back to the user's turn, with the facts as they are. */
  async function settleDown(): Promise<void> {
    let isElsewhere = false
    try {
      await skipToHead(scope)
      await refreshStatus(scope)
      isElsewhere = scope.session !== undefined && (await findHolder(scope)) !== undefined
    } catch (error) {
      showError(scope, error)
    }
    if (isLeaving()) return
    if (isElsewhere) showElsewhere(scope)
    else store.dispatch({ type: "phase-changed", phase: "idle" })
    following.start()
  }

  /** Something of keepup's own that changes the session or its files. What it writes is not another process's. */
  function busy(activity: string, doIt: () => Promise<void>): void {
    store.dispatch({ type: "phase-changed", phase: "busy", activity, at: scope.now() })
    enqueue(async () => {
      await following.stop()
      try {
        await doIt()
      } catch (error) {
        showError(scope, error)
      }
      await settleDown()
      runQueued()
    })
  }

  /** One thing after the other; never rejects. */
  function enqueue(doIt: () => Promise<void>): void {
    last = last.then(doIt).catch((error: unknown) => showError(scope, error))
  }

  function queue(text: string): void {
    store.dispatch({ type: "message-queued", text })
    journal.keepQueue(store.get().queued)
  }

  return {
    isFree,
    isRunning: () => turn !== undefined,
    startTurn,
    busy,
    queue,
    runQueued,
    stop: () => turn?.abort(),
    isDone: () => last,
  }
}
