/**
 * Calls that were in flight when the process died: never repeated silently. They are shown with what is known, and a
 * person or a policy decides. Tools without effects are tried again: that can't do harm, and the log says so.
 */
import { event, type SessionState, type Tool, type ToolCall } from "@ku0/agent-runtime-core"
import type { RunScope } from "./run-scope.js"
import type { CallResult } from "./run-tool.js"
import { sortedJson } from "./stable-call-id.js"

export const inDoubtPolicies = ["stop", "skip", "retry", "fail"] as const

/** `stop`: start nothing and ask. `fail`: the call counts as failed and the run ends. */
export type InDoubtPolicy = (typeof inDoubtPolicies)[number]

/** What a person can choose: also that the call is done. */
export type InDoubtChoice = InDoubtPolicy | "done"

/** Decides about one call. May throw: then nothing is started. */
export type InDoubtChooser = (call: InDoubtCall, signal: AbortSignal) => InDoubtChoice | Promise<InDoubtChoice>

export interface InDoubtCall {
  readonly callId: string
  readonly name: string
  readonly arguments: unknown
  readonly hasEffects: boolean
  readonly known: InDoubtKnowledge
}

export interface InDoubtKnowledge {
  /** One sentence for people. */
  readonly summary: string
  /** Whether the call seems to have taken effect. */
  readonly isApplied?: boolean
  /** Whether its targets look different from when it began. */
  readonly isChanged?: boolean
}

export interface InDoubtDecision {
  readonly call: InDoubtCall
  readonly choice: InDoubtChoice
}

/** Shows every call in doubt and asks what is to become of it. The open ones are recorded as in doubt first. */
export async function decideInDoubt(run: RunScope, history: SessionState): Promise<InDoubtDecision[]> {
  const examine = async (call: ToolCall): Promise<InDoubtCall> => await examineCall(run, call)
  const known = await Promise.all(history.inDoubtToolCalls.map(examine))
  const found = await Promise.all(history.openToolCalls.map(examine))
  await run.record(
    found.map(({ callId, name, arguments: args, known: facts }) =>
      event("tool:in-doubt", { callId, name, arguments: args, known: { ...facts } }),
    ),
  )
  const decisions: InDoubtDecision[] = []
  for (const call of [...known, ...found]) decisions.push({ call, choice: await choose(run, call) })
  return decisions
}

/** The result of a call that was in doubt and is not run again. */
export function settledResult({ call, choice }: InDoubtDecision): CallResult {
  const said = {
    skip: "It was not repeated.",
    done: "The user says it is done.",
    fail: "It counts as failed and was not repeated.",
  }[choice as "skip" | "done" | "fail"]
  return {
    call: { id: call.callId, name: call.name, arguments: call.arguments },
    outcome: choice === "done" ? "ok" : choice === "skip" ? "skipped" : "error",
    content: `The process died while this call was in flight. ${call.known.summary} ${said}`,
    choice: choice as "skip" | "done" | "fail",
  }
}

async function choose(run: RunScope, call: InDoubtCall): Promise<InDoubtChoice> {
  if (!call.hasEffects) return "retry"
  const { inDoubt = "stop" } = run.options
  return typeof inDoubt === "function" ? await inDoubt(call, run.signal) : inDoubt
}

async function examineCall(run: RunScope, { id, name, arguments: args }: ToolCall): Promise<InDoubtCall> {
  const tool = run.tools.get(name)
  const known = await readKnowledge(run, tool, id, args)
  return { callId: id, name, arguments: args, hasEffects: tool?.hasEffects ?? true, known }
}

async function readKnowledge(
  run: RunScope,
  tool: Tool | undefined,
  id: string,
  args: unknown,
): Promise<InDoubtKnowledge> {
  if (tool === undefined) return { summary: "The tool is not there any more, so nothing is known." }
  try {
    const seen = (await tool.inspect?.(args, id)) ?? { summary: "Whether it took effect is not known." }
    const before = await run.options.findStartFacts?.(id)
    const now = before === undefined ? undefined : await tool.readFacts?.(args)
    if (before === undefined || now === undefined) return seen
    const isChanged = sortedJson(before) !== sortedJson(now)
    const change = isChanged
      ? "What it works on changed since it began."
      : "What it works on did not change since it began."
    return { ...seen, summary: `${seen.summary} ${change}`, isChanged }
  } catch (error) {
    run.logger.warn("a call in doubt could not be looked at", { callId: id, name: tool.name, error: String(error) })
    return { summary: "It could not be found out whether it took effect." }
  }
}
