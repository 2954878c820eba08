/** What a run of the agent is handed, and what its parts share while it goes on. */
import {
  type Clock,
  type Emit,
  type EventDraft,
  type IdSource,
  KeepupError,
  type Message,
  type Model,
  type SessionState,
  type Tool,
  type UserMessage,
} from "@ku0/agent-runtime-core"
import { type Logger, silentLogger } from "@ku0/agent-runtime-telemetry"
import { type Approval, type ApprovalOptions, createApproval } from "./approval.js"
import type { FitContextOptions } from "./context/fit-context.js"
import { type Conversation, createConversation } from "./conversation.js"
import { createFleetingEvents, type FleetingEvents } from "./fleeting.js"
import { defaultRetryPolicy, type RetryPolicy } from "./retry-policy.js"
import type { InDoubtChooser, InDoubtPolicy } from "./settle-in-doubt.js"
import { sleepFor } from "./sleep.js"

export interface AgentLoopOptions {
  readonly model: Model
  readonly tools: readonly Tool[]
  /** Where the log stands. The session must be ours: whoever calls holds its lease. */
  readonly history: SessionState
  readonly emit: Emit
  readonly clock: Clock
  readonly ids: IdSource
  /** What the user wants. Without it the agent goes on from where the history ends. */
  readonly prompt?: string | Omit<UserMessage, "role">
  /** Told to the model before the history; not part of the log. */
  readonly systemPrompt?: string
  /** Answers of the model in one run. Default: 100. */
  readonly maxSteps?: number
  /** Cancels the run. */
  readonly signal?: AbortSignal
  /** Asked at every safe point. May throw: then the run ends as failed. */
  readonly isPauseRequested?: () => boolean | Promise<boolean>
  /** Default: `auto` without rules. */
  readonly approval?: ApprovalOptions
  /** What happens to calls that were in flight when the process died. Default: `stop`. */
  readonly inDoubt?: InDoubtPolicy | InDoubtChooser
  /** The facts that `tool:started` of this call carries, read from the log. May return nothing. */
  readonly findStartFacts?: (callId: string) => Promise<Readonly<Record<string, unknown>> | undefined>
  /** State keys that changed since the last call of this, kept with the next result. Must not throw. */
  readonly takeChangedState?: () => Readonly<Record<string, unknown>> | undefined
  readonly fitContext?: Omit<FitContextOptions, "ids" | "signal" | "logger" | "visible">
  readonly retry?: Partial<RetryPolicy>
  /** Waits, or rejects when the signal aborts. Default: a timer. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
  /** A number from 0 to 1, for the waits between tries. */
  readonly random?: () => number
  /** How long a cancelled tool may take to stop before its call is left in doubt. Default: 10 seconds. */
  readonly cancelGraceMs?: number
  readonly logger?: Logger
}

export interface RunScope {
  readonly runId: string
  readonly options: AgentLoopOptions
  readonly tools: ReadonlyMap<string, Tool>
  readonly conversation: Conversation
  readonly approval: Approval
  readonly fleeting: FleetingEvents
  readonly retry: RetryPolicy
  readonly signal: AbortSignal
  readonly logger: Logger
  sleep(ms: number, signal: AbortSignal): Promise<void>
  random(): number
  /** Puts events into the log, all or none; messages among them join the conversation once they are there. */
  record(events: readonly EventDraft[]): Promise<void>
  isPauseRequested(): Promise<boolean>
  /** The turn that has started and not ended. */
  openTurn(): number | undefined
  /** The log refused something: nothing more can be said. */
  isBroken(): boolean
}

export function createRunScope(options: AgentLoopOptions): RunScope {
  const conversation = createConversation(options.history)
  const tools = new Map(options.tools.map((tool) => [tool.name, tool]))
  if (tools.size !== options.tools.length) {
    throw new KeepupError("INVALID_INPUT", "Two tools have the same name.", {
      hint: "Give each tool a name of its own.",
    })
  }
  const fleeting = createFleetingEvents(options.emit)
  let openTurn: number | undefined
  let isBroken = false

  function follow({ type, data }: EventDraft): void {
    if (type === "message:added") conversation.add((data as { message: Message }).message)
    else if (type === "turn:started") openTurn = (data as { turn: number }).turn
    else if (type === "turn:ended") openTurn = undefined
  }

  return {
    runId: options.ids.next(),
    options,
    tools,
    conversation,
    approval: createApproval(options.approval ?? { mode: "auto" }),
    fleeting,
    retry: { ...defaultRetryPolicy, ...options.retry },
    signal: options.signal ?? new AbortController().signal,
    logger: options.logger ?? silentLogger,
    sleep: options.sleep ?? sleepFor,
    random: options.random ?? Math.random,
    async record(events) {
      if (events.length === 0) return
      try {
        await fleeting.flush()
        const state = options.takeChangedState?.()
        await (state === undefined ? options.emit(events) : options.emit(events, state))
      } catch (error) {
        isBroken = true
        throw error
      }
      events.forEach(follow)
    },
    isPauseRequested: async () => (await options.isPauseRequested?.()) ?? false,
    openTurn: () => openTurn,
    isBroken: () => isBroken,
  }
}
