/** One run of the agent inside the chat: a message, or going on from where the history ends. */
import { type BusEvent, KeepupError, type RunResult, runSession, toKeepupError } from "@ku0/agent-runtime"
import { openModel, systemPrompt } from "../../run-agent.js"
import type { ChatScope } from "./chat-scope.js"
import { modelName, startSession } from "./open-session.js"
import { approvalQuestion, inDoubtChoice, inDoubtQuestion } from "./questions.js"
import { notice, showEvent } from "./show-event.js"

export interface TurnEnd {
  /** Whether what the user queued may follow. */
  readonly isDone: boolean
}

/** Never rejects: what goes wrong is on the screen, and a message that was not kept is back in the input. */
export async function runTurn(scope: ChatScope, prompt: string | undefined, signal: AbortSignal): Promise<TurnEnd> {
  const { store, journal } = scope
  let isSent = prompt === undefined
  if (prompt !== undefined) {
    // until the log has it, it is one of those that wait
    journal.keepQueue([prompt, ...store.get().queued])
    store.dispatch({ type: "message-sending", text: prompt })
  }

  function hear(event: BusEvent): void {
    if (event.entry !== undefined) scope.seen = Math.max(scope.seen, event.entry.seq)
    if (event.type === "message:delta") {
      const { text, attempt } = event.data as { text: string; attempt?: number }
      streamDelta(text, attempt ?? 1)
      return
    }
    const role = event.type === "message:added" ? (event.data as { message: { role: string } }).message.role : ""
    if (role === "user") {
      isSent = true
      journal.keepQueue(store.get().queued)
    }
    // a failure is told by the warning, which also comes when the log can't take the event
    if (event.type === "checkpoint:failed") return
    for (const action of showEvent(event, scope.now())) store.dispatch(action)
    // not before what was gathered of it has been shown and kept
    if (role === "assistant") journal.endAnswer()
    if (event.type === "checkpoint:created") countCheckpoint(scope)
    if (event.type === "run:ended" && ["running", "stopping"].includes(store.get().phase)) {
      store.dispatch({ type: "phase-changed", phase: "busy", activity: "Keeping a checkpoint", at: scope.now() })
    }
  }

  /** The input has it again, and keeps it as its draft. */
  function refuse(): void {
    if (prompt === undefined) return
    journal.keepDraft(prompt)
    journal.keepQueue(store.get().queued)
    store.dispatch({ type: "message-refused", text: prompt })
  }

  let lastAttempt = 1
  function streamDelta(text: string, attempt: number): void {
    if (attempt !== lastAttempt) {
      store.dispatch({ type: "stream-restarted" })
      journal.endAnswer()
    }
    lastAttempt = attempt
    store.stream(text)
  }

  try {
    const runtime = await scope.openRuntime()
    const session = scope.session ?? (await startSession(scope, runtime, prompt ?? ""))
    const request = { session, ...(prompt !== undefined && { prompt }) }
    const model = await openModel(scope.context, { ...scope.choice, isContinued: true }, runtime, request)
    scope.session = await runtime.store.sessions.get(session.id)
    store.dispatch({ type: "status-changed", status: { model: modelName(scope, runtime), isPaused: false } })
    const always = allowedTools(scope)
    const { run } = await runSession(runtime, {
      sessionId: session.id,
      model,
      signal,
      systemPrompt: systemPrompt(session),
      approval: {
        mode: scope.approval ?? runtime.config.approval,
        async ask(call, asked) {
          if (always.has(call.name)) return { isAllowed: true }
          const key = await scope.questions.ask(approvalQuestion(call), asked)
          if (key === "a") always.add(call.name)
          return key === "n" ? { isAllowed: false, reason: "the user said no" } : { isAllowed: true }
        },
      },
      inDoubt: async (call, asked) => inDoubtChoice(await scope.questions.ask(inDoubtQuestion(call), asked)),
      onEvent: hear,
      onWarning: (message) => store.dispatch(notice("warning", message)),
      ...(prompt !== undefined && { prompt }),
      ...(scope.maxSteps !== undefined && { maxSteps: scope.maxSteps }),
    })
    if (!isSent) refuse()
    tellEnd(scope, run)
    return { isDone: run.outcome === "completed" }
  } catch (thrown) {
    if (!isSent) refuse()
    store.dispatch({ type: "stream-cut-off" })
    showError(scope, thrown)
    return { isDone: false }
  } finally {
    journal.endAnswer()
  }
}

export function showError({ store }: ChatScope, thrown: unknown): void {
  const { code, message: words, hint: said } = toKeepupError(thrown)
  const message = words.replace(/^session:[\w-]+ is/, "This session is")
  const hint = said?.replace(/`keepup (checkpoint|session) list`/g, (_, what) => `\`/${what}s\``)
  if (code === "CANCELLED") store.dispatch(notice("info", message, hint))
  else store.dispatch(notice("error", message, hint))
}

const allowed = new WeakMap<ChatScope, Set<string>>()

/** Tools the user allowed for as long as the chat is open. */
function allowedTools(scope: ChatScope): Set<string> {
  const known = allowed.get(scope) ?? new Set<string>()
  allowed.set(scope, known)
  return known
}

function countCheckpoint({ store }: ChatScope): void {
  const { checkpointCount } = store.get().status
  store.dispatch({ type: "status-changed", status: { checkpointCount: checkpointCount + 1 } })
}

function tellEnd(scope: ChatScope, { outcome, error, inDoubt }: RunResult): void {
  const { store } = scope
  if (outcome === "completed") return
  if (outcome === "failed") {
    showError(scope, error ?? new KeepupError("INTERNAL", "The run failed."))
    return
  }
  if (outcome === "paused") {
    store.dispatch({ type: "status-changed", status: { isPaused: true } })
  }
  const words = {
    cancelled: "Stopped. Everything up to here is kept; send a message to go on.",
    paused: "Paused, and kept in a checkpoint. Send a message to go on.",
    "step-limit": "Stopped at the step limit. Send a message to go on.",
    "in-doubt": `${inDoubt?.length ?? 0} tool call(s) wait for your decision; nothing was started.`,
  }[outcome]
  store.dispatch(notice("info", words))
}
