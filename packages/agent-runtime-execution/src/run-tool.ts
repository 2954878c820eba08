/** One tool call: it runs, and whatever happens becomes a result. Nothing here is durable; `run-calls.ts` sees to that. */
import {
  type EventDraft,
  event,
  isKeepupError,
  type Tool,
  type ToolCall,
  type ToolOutcome,
  type ToolResultMessage,
} from "@ku0/agent-runtime-core"
import type { RunScope } from "./run-scope.js"
import type { InDoubtChoice } from "./settle-in-doubt.js"

export interface CallResult {
  readonly call: ToolCall
  /** `unknown`: it was told to stop and did not in time. */
  readonly outcome: "ok" | "error" | "cancelled" | "skipped" | "paused" | "unknown"
  readonly content: string
  readonly artifactIds?: readonly string[]
  readonly durationMs?: number
  /** Set when the call had been in doubt. */
  readonly choice?: Exclude<InDoubtChoice, "stop">
}

/** Runs a tool. Never rejects: a thrown error is a result. */
export async function runTool(run: RunScope, tool: Tool, call: ToolCall): Promise<CallResult> {
  const { clock } = run.options
  const begin = clock.now()
  const done = (result: Omit<CallResult, "call" | "durationMs">): CallResult => ({
    call,
    durationMs: Math.max(0, clock.now() - begin),
    ...result,
  })
  let isOver = false
  const onProgress = (text: string): void => {
    if (!isOver) run.fleeting.push(event("tool:progress", { callId: call.id, text }))
  }
  try {
    const work = tool.run(call.arguments, { callId: call.id, signal: run.signal, onProgress })
    const outcome = await (tool.stopsByItself === true ? work : stopInTime(run, work))
    if (outcome === undefined) {
      return done({ outcome: "unknown", content: "Cancelled, but the tool did not stop in time." })
    }
    if (outcome.isPaused === true) return done({ outcome: "paused", content: outcome.content })
    const artifactIds = outcome.artifactIds === undefined ? {} : { artifactIds: outcome.artifactIds }
    return done({ outcome: outcome.isError === true ? "error" : "ok", content: outcome.content, ...artifactIds })
  } catch (thrown) {
    const isCancelled = run.signal.aborted
    return done({
      outcome: isCancelled ? "cancelled" : "error",
      content: isCancelled ? "Cancelled." : describeToolError(thrown),
    })
  } finally {
    isOver = true
  }
}

/** The events of a result, in one step: the call is over, and its message is there. A paused one has none yet. */
export function resultEvents(result: CallResult): EventDraft[] {
  const { call, outcome, content, artifactIds, durationMs, choice } = result
  const { id: callId, name } = call
  if (outcome === "unknown") {
    return [event("tool:in-doubt", { callId, name, arguments: call.arguments, known: { summary: content } })]
  }
  if (outcome === "paused") return [event("tool:ended", { callId, name, outcome, ...(durationMs && { durationMs }) })]
  const message: ToolResultMessage = {
    role: "tool",
    callId,
    name,
    content,
    ...(outcome === "ok" ? {} : { isError: true }),
    ...(artifactIds === undefined || artifactIds.length === 0 ? {} : { artifactIds }),
  }
  const ended = {
    callId,
    name,
    outcome,
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(choice === undefined ? {} : { choice }),
  }
  return [event("tool:ended", ended), messageAdded(message)]
}

/** A message for the log. */
export function messageAdded(message: unknown): EventDraft {
  return { type: "message:added", data: { message } }
}

/** The outcome, or `undefined` if the tool goes on for too long after it was told to stop. */
async function stopInTime(run: RunScope, work: Promise<ToolOutcome>): Promise<ToolOutcome | undefined> {
  let timer: NodeJS.Timeout | undefined
  let onAbort = (): void => undefined
  const late = new Promise<undefined>((resolve) => {
    onAbort = () => {
      timer = setTimeout(() => resolve(undefined), run.options.cancelGraceMs ?? 10_000)
    }
    if (run.signal.aborted) onAbort()
    else run.signal.addEventListener("abort", onAbort, { once: true })
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
    run.signal.removeEventListener("abort", onAbort)
  }
}

/** What the model is told of what a tool threw. */
export function describeToolError(thrown: unknown): string {
  if (isKeepupError(thrown)) {
    return [`${thrown.code}: ${thrown.message}`, ...(thrown.hint === undefined ? [] : [thrown.hint])].join("\n")
  }
  return thrown instanceof Error ? thrown.message || thrown.name : String(thrown)
}
