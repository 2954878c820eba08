/**
 * The tool calls of one answer. `tool:started` is in the log before a tool runs; its result is there before the model
 * sees it. Neighbours without effects run side by side, the others one after another; results keep the order of the calls.
 */
import { type EventDraft, event, isKeepupError, type Tool, type ToolCall, toKeepupError } from "@ku0/agent-runtime-core"
import type { RunScope } from "./run-scope.js"
import { type CallResult, resultEvents, runTool } from "./run-tool.js"
import { type InDoubtDecision, settledResult } from "./settle-in-doubt.js"

export interface PlannedCall {
  readonly call: ToolCall
  /** Set when it was in doubt and something was decided. */
  readonly decision?: InDoubtDecision
}

export interface CallsOutcome {
  readonly outcome: "done" | "paused" | "cancelled" | "failed"
  /** The last results: to be recorded with the end of the turn. */
  readonly unrecorded: readonly EventDraft[]
}

/** A call that is about to run, or its result if it does not run. */
type Prepared = { readonly tool: Tool; readonly call: ToolCall; readonly facts?: Facts } | CallResult
type Facts = Readonly<Record<string, unknown>>

/** Runs calls. `first` are events to record before anything begins, together with the first `tool:started`. */
export async function runCalls(
  run: RunScope,
  planned: readonly PlannedCall[],
  first: readonly EventDraft[],
): Promise<CallsOutcome> {
  let unrecorded = [...first]
  const recordAll = async (events: readonly EventDraft[]): Promise<void> => {
    const all = [...unrecorded, ...events]
    unrecorded = []
    await run.record(all)
  }
  const rest = [...planned]
  while (rest.length > 0) {
    if (run.signal.aborted) return endEarly("cancelled", "cancelled", "Cancelled before it began.")
    if (await run.isPauseRequested()) return { outcome: "paused", unrecorded }
    const batch = takeBatch(run, rest)
    const prepared: Prepared[] = []
    for (const one of batch) prepared.push(await prepare(run, one, recordAll))
    const started = batch.flatMap((one, index) => startEvents(one, prepared[index] as Prepared))
    if (started.length > 0) await recordAll(started)
    const results = await runBatch(run, prepared, async (events) => await recordAll(events))
    unrecorded.push(...results.unrecorded)
    if (results.isPaused) return { outcome: run.signal.aborted ? "cancelled" : "paused", unrecorded }
    if (results.isLeftInDoubt) return endEarly("cancelled", "cancelled", "Cancelled before it began.")
    if (batch.some(({ decision }) => decision?.choice === "fail")) {
      return endEarly("failed", "skipped", "Not run: a call before it was in doubt and counts as failed.")
    }
  }
  return { outcome: "done", unrecorded }

  /** Every call that will not run gets its result all the same. */
  function endEarly(outcome: "cancelled" | "failed", as: "cancelled" | "skipped", content: string): CallsOutcome {
    const results = rest.flatMap(({ call, decision }) =>
      resultEvents(
        decision === undefined || decision.choice === "retry"
          ? { call, outcome: as, content, ...(decision === undefined ? {} : { choice: "skip" as const }) }
          : settledResult(decision),
      ),
    )
    return { outcome, unrecorded: [...unrecorded, ...results] }
  }
}

/** Takes calls off the front: neighbours without effects together, any other one alone. */
function takeBatch(run: RunScope, rest: PlannedCall[]): PlannedCall[] {
  const isFree = ({ call, decision }: PlannedCall): boolean =>
    run.tools.get(call.name)?.hasEffects === false && (decision === undefined || decision.choice === "retry")
  const end = rest.findIndex((one) => !isFree(one))
  return rest.splice(0, end === -1 ? rest.length : Math.max(1, end))
}

type RecordEvents = (events: readonly EventDraft[]) => Promise<void>

async function prepare(run: RunScope, { call, decision }: PlannedCall, recordAll: RecordEvents): Promise<Prepared> {
  if (decision !== undefined && decision.choice !== "retry") return settledResult(decision)
  const tool = run.tools.get(call.name)
  if (tool === undefined) {
    const names = [...run.tools.keys()].join(", ") || "none"
    return { call, outcome: "error", content: `There is no tool named ${call.name}. The tools are: ${names}.` }
  }
  let targets: readonly string[]
  try {
    targets = (await tool.targets?.(call.arguments)) ?? []
  } catch (error) {
    const { code, message, hint } = toKeepupError(error)
    const content = isKeepupError(error) ? `${code}: ${message}${hint === undefined ? "" : `\n${hint}`}` : message
    return { call, outcome: "error", content }
  }
  const refusal = await findRefusal(run, tool, call, targets, recordAll)
  if (refusal !== undefined) return { call, outcome: "skipped", content: refusal }
  const facts = tool.hasEffects ? await readFacts(run, tool, call) : undefined
  return { tool, call, ...(facts === undefined ? {} : { facts }) }
}

/** Why a call may not run, if it may not. */
async function findRefusal(
  run: RunScope,
  tool: Tool,
  call: ToolCall,
  targets: readonly string[],
  recordAll: RecordEvents,
): Promise<string | undefined> {
  const { name, hasEffects } = tool
  const request = { callId: call.id, name, arguments: call.arguments, hasEffects, targets }
  const decision = run.approval.decide(request)
  if (decision === "auto") return undefined
  if (decision === "deny") return `Not allowed: the rules of this session deny ${name}.`
  // Whoever is asked must be able to see what led to the question.
  await recordAll([])
  try {
    const { isAllowed, reason } = await run.approval.ask(request, run.signal)
    return isAllowed ? undefined : `Not allowed: ${reason ?? "the user said no"}.`
  } catch (error) {
    if (run.signal.aborted) return "Cancelled while it waited for approval."
    throw error
  }
}

async function readFacts(run: RunScope, tool: Tool, call: ToolCall): Promise<Facts | undefined> {
  try {
    return await tool.readFacts?.(call.arguments)
  } catch (error) {
    // The tool will meet the same trouble when it runs, and the model will hear of it there.
    run.logger.debug("the targets of a call could not be looked at", { callId: call.id, error: String(error) })
    return undefined
  }
}

function startEvents({ decision }: PlannedCall, prepared: Prepared): EventDraft[] {
  if (!("tool" in prepared)) return []
  const { call, facts } = prepared
  return [
    event("tool:started", {
      callId: call.id,
      name: call.name,
      arguments: call.arguments,
      ...(facts === undefined ? {} : { facts: { ...facts } }),
      ...(decision === undefined ? {} : { choice: "retry" }),
    }),
  ]
}

/** Runs a batch and records results in order, as soon as all before them are there; the last ones are handed back. */
async function runBatch(
  run: RunScope,
  prepared: readonly Prepared[],
  record: RecordEvents,
): Promise<{ unrecorded: EventDraft[]; isPaused: boolean; isLeftInDoubt: boolean }> {
  const settled: (CallResult | undefined)[] = []
  const running = prepared.map(async (one, index) => {
    settled[index] = "tool" in one ? await runTool(run, one.tool, one.call) : one
  })
  let unrecorded: EventDraft[] = []
  try {
    for (let next = 0; next < prepared.length; ) {
      await running[next]
      for (; settled[next] !== undefined; next++) unrecorded.push(...resultEvents(settled[next] as CallResult))
      if (next === prepared.length) break
      await record(unrecorded)
      unrecorded = []
    }
    const isSome = (outcome: CallResult["outcome"]): boolean => settled.some((result) => result?.outcome === outcome)
    return { unrecorded, isPaused: isSome("paused"), isLeftInDoubt: isSome("unknown") }
  } finally {
    await Promise.allSettled(running)
  }
}
