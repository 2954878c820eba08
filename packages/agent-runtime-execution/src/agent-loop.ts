/**
 * The agent: prompt → turns until done, a step limit, a pause or a cancel. Every step is in the log before it counts, so
 * it can be killed anywhere and goes on from there. It rejects only if the log does; any other failure is an outcome.
 */
import {
  type EventDraft,
  event,
  KeepupError,
  type ModelAnswer,
  type SessionPhase,
  toKeepupError,
  type UserMessage,
} from "@ku0/agent-runtime-core"
import type { PlannedCall } from "./run-calls.js"
import { type AgentLoopOptions, createRunScope, type RunScope } from "./run-scope.js"
import { messageAdded, resultEvents } from "./run-tool.js"
import { failureOf, finishTurn, runTurn, type TurnResult } from "./run-turn.js"
import { decideInDoubt, type InDoubtCall, type InDoubtDecision, settledResult } from "./settle-in-doubt.js"

export interface RunResult {
  readonly runId: string
  /** `in-doubt`: nothing was started, because somebody has to decide about calls first. */
  readonly outcome: "completed" | "failed" | "cancelled" | "paused" | "step-limit" | "in-doubt"
  /** What the model said last in this run. */
  readonly answer: string | undefined
  /** Answers of the model in this run. */
  readonly steps: number
  readonly usage: Required<NonNullable<ModelAnswer["usage"]>>
  readonly error?: KeepupError
  /** The calls somebody has to decide about. */
  readonly inDoubt?: readonly InDoubtCall[]
}

/** Runs the agent on a prompt, or lets it go on from where its history ends. */
export async function runAgentLoop(options: AgentLoopOptions): Promise<RunResult> {
  const run = createRunScope(options)
  const begin = options.clock.now()
  const totals = { steps: 0, usage: { inputTokens: 0, outputTokens: 0, cost: 0 } }
  const opening = openingEvents(options.history.phase, options.history.openToolCalls.length)
  checkPrompt(options)
  const decisions = await decideInDoubt(run, options.history)
  const undecided = decisions.filter(({ choice }) => choice === "stop").map(({ call }) => call)
  if (undecided.length > 0) return result({ outcome: "in-doubt" })

  let last: TurnResult
  let outcome: RunResult["outcome"]
  try {
    const { planned, events } = planBeginning(run, decisions)
    await run.record([...opening, event("run:started", { runId: run.runId, model: options.model.name }), ...events])
    ;({ outcome, last } = await runTurns(run, planned, totals))
  } catch (thrown) {
    if (run.isBroken()) throw thrown
    outcome = run.signal.aborted ? "cancelled" : "failed"
    last = { outcome: "failed", error: toKeepupError(thrown) }
  }
  await run.record(closingEvents(run, outcome, last.error, { ...totals, durationMs: options.clock.now() - begin }))
  return result({ outcome, ...(last.error === undefined || outcome !== "failed" ? {} : { error: last.error }) })

  function result(end: Pick<RunResult, "outcome" | "error">): RunResult {
    const answer = run.conversation.messages
      .slice(options.history.messages.length)
      .findLast((message) => message.role === "assistant")?.content
    const inDoubt = undecided.length === 0 ? {} : { inDoubt: undecided }
    return { runId: run.runId, answer, ...totals, ...inDoubt, ...end }
  }
}

interface Totals {
  steps: number
  readonly usage: { inputTokens: number; outputTokens: number; cost: number }
}

type RunEnd = { readonly outcome: Exclude<RunResult["outcome"], "in-doubt">; readonly last: TurnResult }

async function runTurns(run: RunScope, open: readonly PlannedCall[], totals: Totals): Promise<RunEnd> {
  const { maxSteps = 100 } = run.options
  let last: TurnResult = open.length > 0 ? await finishTurn(run, open) : { outcome: "continued" }
  if (open.length === 0 && isAnswered(run)) return { outcome: "completed", last }
  for (;;) {
    if (last.outcome !== "continued") return { outcome: last.outcome, last }
    if (run.signal.aborted) return { outcome: "cancelled", last }
    if (await run.isPauseRequested()) return { outcome: "paused", last }
    if (totals.steps >= maxSteps) return { outcome: "step-limit", last }
    totals.steps++
    last = await runTurn(run)
    totals.usage.inputTokens += last.usage?.inputTokens ?? 0
    totals.usage.outputTokens += last.usage?.outputTokens ?? 0
    totals.usage.cost += last.usage?.cost ?? 0
  }
}

/**
 * What brings the history to where the run begins, and which calls are still to be run. A new prompt closes them: the user
 * wants something else now.
 */
function planBeginning(
  run: RunScope,
  decisions: readonly InDoubtDecision[],
): { planned: PlannedCall[]; events: EventDraft[] } {
  const { prompt } = run.options
  const decided = new Map(decisions.map((decision) => [decision.call.callId, decision]))
  const calls = run.conversation.unansweredCalls()
  const ofOthers = decisions.filter(({ call }) => !calls.some(({ id }) => id === call.callId))
  const closed = ofOthers.flatMap((decision) => closeStray(run, decision))
  const planned = calls.map((call): PlannedCall => {
    const decision = decided.get(call.id)
    return decision === undefined ? { call } : { call, decision }
  })
  if (prompt === undefined) return { planned, events: closed }
  const content = "Not finished: the user asked for something else."
  const dropped = planned.flatMap(({ call, decision }) =>
    resultEvents(
      decision === undefined
        ? { call, outcome: "skipped", content }
        : settledResult(decision.choice === "retry" ? { ...decision, choice: "skip" } : decision),
    ),
  )
  const message: UserMessage = { role: "user", ...(typeof prompt === "string" ? { content: prompt } : prompt) }
  return { planned: [], events: [...closed, ...dropped, messageAdded(message)] }
}

/** A call in doubt that no message waits for: it ends, and nothing is repeated. */
function closeStray(run: RunScope, decision: InDoubtDecision): EventDraft[] {
  const result = settledResult(decision.choice === "retry" ? { ...decision, choice: "skip" } : decision)
  return resultEvents(result).slice(0, run.conversation.isUnanswered(decision.call.callId) ? 2 : 1)
}

/** Whether the model has said its last word and nobody has spoken since. */
function isAnswered(run: RunScope): boolean {
  return run.options.prompt === undefined && run.conversation.forModel().at(-1)?.role === "assistant"
}

/** What must be said before a run may start in this phase. */
function openingEvents(phase: SessionPhase, openCalls: number): EventDraft[] {
  if (phase === "idle") return []
  if (phase === "restoring") {
    throw new KeepupError("CONFLICT", "A restore of this session is not finished.", {
      hint: "Run `keepup doctor --repair`, then try again.",
    })
  }
  const died = event("session:interrupted", { reason: `The process of the last run died (open calls: ${openCalls}).` })
  return phase === "running" ? [died, event("session:resumed", {})] : [event("session:resumed", {})]
}

function closingEvents(
  run: RunScope,
  outcome: RunResult["outcome"],
  error: KeepupError | undefined,
  totals: Totals & { durationMs: number },
): EventDraft[] {
  const { runId } = run
  const turn = run.openTurn()
  const failure = error === undefined ? {} : { error: failureOf(error) }
  const ended = { runId, outcome, usage: totals.usage, durationMs: Math.max(0, totals.durationMs), ...failure }
  return [
    ...(turn === undefined ? [] : [event("turn:ended", { runId, turn, outcome, ...failure })]),
    event("run:ended", ended),
    ...(outcome === "paused" ? [event("session:paused", { reason: "requested" })] : []),
  ]
}

function checkPrompt({ prompt, history }: AgentLoopOptions): void {
  if (prompt !== undefined || history.messages.length > 0) return
  throw new KeepupError("INVALID_INPUT", "There is nothing to go on with: the session has no messages.", {
    hint: "Give a prompt.",
  })
}
