/** Shortcuts for tests of the loop. */
import type { Tool, ToolOutcome } from "@ku0/agent-runtime-core"
import {
  type AgentLoopOptions,
  createScriptedModel,
  type RunResult,
  runAgentLoop,
  type ScriptedAnswer,
} from "../src/index.js"
import type { MemoryLog } from "./memory-log.js"

let lastId = 0

export const ids = { next: () => `id-${++lastId}` }
export const clock = { now: () => 1_000 }

export function call(name: string, args: unknown = {}): { name: string; arguments: unknown } {
  return { name, arguments: args }
}

/** A tool from a function. */
export function tool(
  name: string,
  run: (args: never, context: Parameters<Tool["run"]>[1]) => Promise<ToolOutcome> | ToolOutcome,
  more: Partial<Tool> = {},
): Tool {
  const parameters = { type: "object" }
  return {
    name,
    description: name,
    parameters,
    hasEffects: true,
    ...more,
    run: async (args, context) => run(args as never, context),
  }
}

/** Runs the loop on what the log holds, with the answers that are still to come. */
export async function runLoop(
  log: MemoryLog,
  answers: readonly ScriptedAnswer[],
  options: Partial<AgentLoopOptions> = {},
): Promise<RunResult> {
  const history = log.state()
  const startAt = history.messages.filter(({ role }) => role === "assistant").length
  const model = createScriptedModel({ answers, startAt })
  return await runAgentLoop({ model, tools: [], history, emit: log.emit, clock, ids, ...options })
}
