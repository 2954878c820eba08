/** One turn: an answer of the model and its tool calls, or the calls an earlier turn left open. It always ends. */
import {
  type AssistantMessage,
  type EventDraft,
  errorToJson,
  event,
  type KeepupError,
  type Message,
  type ModelAnswer,
} from "@ku0/agent-runtime-core"
import { callModel, type ModelOutcome } from "./call-model.js"
import { estimateTokens, fitContext } from "./context/fit-context.js"
import { type PlannedCall, runCalls } from "./run-calls.js"
import type { RunScope } from "./run-scope.js"
import { messageAdded } from "./run-tool.js"
import { stableCallId } from "./stable-call-id.js"

export interface TurnResult {
  /** `continued`: the model has to be asked again. */
  readonly outcome: "continued" | "completed" | "failed" | "cancelled" | "paused"
  readonly usage?: ModelAnswer["usage"]
  readonly error?: KeepupError
}

/** How often one answer is asked for with a shorter conversation. */
const maxShortenings = 3

/** Runs calls that were left open, as part of the turn that asked for them. */
export async function finishTurn(run: RunScope, planned: readonly PlannedCall[]): Promise<TurnResult> {
  const turn = Math.max(1, run.conversation.nextTurn() - 1)
  await run.record([event("turn:started", { runId: run.runId, turn })])
  return await runTurnCalls(run, turn, planned, [], undefined)
}

/** Asks the model and runs what it asks for. */
export async function runTurn(run: RunScope): Promise<TurnResult> {
  const turn = run.conversation.nextTurn()
  const shorter = await fitMessages(run)
  await run.record([...shorter, event("turn:started", { runId: run.runId, turn })])
  const called = await askModel(run, turn)
  if (called.kind === "cancelled") return await endTurn(run, turn, [], { outcome: "cancelled" })
  if (called.kind === "failed") return await endTurn(run, turn, [], { outcome: "failed", error: called.error })
  const { content, toolCalls, usage } = called.answer
  const calls = toolCalls.map((call, index) => ({ ...call, id: stableCallId(call.name, call.arguments, turn, index) }))
  const message: AssistantMessage = { role: "assistant", content, ...(calls.length === 0 ? {} : { toolCalls: calls }) }
  if (calls.length === 0) return await endTurn(run, turn, [messageAdded(message)], { outcome: "completed", usage })
  const planned = calls.map((call) => ({ call }))
  return await runTurnCalls(run, turn, planned, [messageAdded(message)], usage)
}

/** A conversation the model finds too long is made shorter, and it is asked again. */
async function askModel(run: RunScope, turn: number): Promise<ModelOutcome> {
  for (let tries = 1; ; tries++) {
    const called = await callModel(run, messagesToSend(run), turn)
    const isTooLong = called.kind === "failed" && called.error.details?.["contextLengthExceeded"] === true
    if (!isTooLong || tries > maxShortenings) return called
    const shorter = await shortenMessages(run)
    if (run.signal.aborted) return { kind: "cancelled" }
    if (shorter.length === 0) return called
    await run.record(shorter)
  }
}

/** What the model is sent: the system prompt, and a list in which every call has its result. */
function messagesToSend(run: RunScope): Message[] {
  const { systemPrompt } = run.options
  const before: Message[] = systemPrompt === undefined ? [] : [{ role: "system", content: systemPrompt }]
  return [...before, ...run.conversation.forModel()]
}

async function fitMessages(run: RunScope): Promise<EventDraft[]> {
  const { fitContext: options, ids } = run.options
  if (options === undefined || options.windowTokens === Number.POSITIVE_INFINITY) return []
  const { signal, logger, conversation } = run
  const visible = conversation.forModel()
  return (await fitContext(conversation.messages, { ...options, ids, signal, logger, visible })).map(messageAdded)
}

/** The same when the model says that its window is smaller than we thought: then what it was sent is taken for all of it. */
async function shortenMessages(run: RunScope): Promise<EventDraft[]> {
  const { fitContext: options, ids } = run.options
  const { signal, logger, conversation } = run
  const visible = conversation.forModel()
  const { countTokens = estimateTokens } = options ?? {}
  const windowTokens = visible.reduce((sum, message) => sum + countTokens(message), 0)
  const smaller = { ...options, windowTokens, reserveTokens: Math.floor(windowTokens / 4) }
  return (await fitContext(conversation.messages, { ...smaller, ids, signal, logger, visible })).map(messageAdded)
}

async function runTurnCalls(
  run: RunScope,
  turn: number,
  planned: readonly PlannedCall[],
  first: readonly EventDraft[],
  usage: ModelAnswer["usage"],
): Promise<TurnResult> {
  const { outcome, unrecorded } = await runCalls(run, planned, first)
  return await endTurn(run, turn, unrecorded, { outcome: outcome === "done" ? "continued" : outcome, usage })
}

async function endTurn(
  run: RunScope,
  turn: number,
  before: readonly EventDraft[],
  result: { outcome: TurnResult["outcome"]; usage?: ModelAnswer["usage"]; error?: KeepupError },
): Promise<TurnResult> {
  const { outcome, usage, error } = result
  const ended = event("turn:ended", {
    runId: run.runId,
    turn,
    outcome: outcome === "continued" ? "completed" : outcome,
    ...(usage === undefined ? {} : { usage }),
    ...(error === undefined ? {} : { error: failureOf(error) }),
  })
  await run.record([...before, ended])
  return { outcome, ...(usage === undefined ? {} : { usage }), ...(error === undefined ? {} : { error }) }
}

/** An error as events carry it. */
export function failureOf(error: KeepupError): { code: string; message: string; hint?: string } {
  const { code, message, hint } = errorToJson(error)
  return { code, message, ...(hint === undefined ? {} : { hint }) }
}
