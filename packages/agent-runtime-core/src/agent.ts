/** The ports of the agent loop. */
import type { EventDraft } from "./event-bus.js"
import type { EventData, EventName } from "./events.js"
import type { Message, ToolCall } from "./messages.js"

export interface ToolDescription {
  readonly name: string
  readonly description: string
  /** JSON schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>
}

export interface ModelRequest {
  readonly messages: readonly Message[]
  readonly tools: readonly ToolDescription[]
  readonly signal: AbortSignal
}

export interface ModelAnswer {
  readonly content: string
  readonly toolCalls: readonly ToolCall[]
  readonly usage?: { readonly inputTokens?: number; readonly outputTokens?: number; readonly cost?: number }
  /** Set when the model did not end the answer itself: it ran out of room, or a filter of the service stopped it. */
  readonly stoppedBy?: "length" | "filter"
}

/** `details` of the KeepupError an answer is rejected with: whether, and when, asking again can help. */
export interface ModelErrorDetails {
  readonly retryable: boolean
  /** What the service asked for. */
  readonly retryAfterMs?: number
  /** HTTP status, if the service refused. */
  readonly status?: number
  /** The messages are more than the model can take: shorten them, then ask again. */
  readonly contextLengthExceeded?: boolean
}

export interface Model {
  readonly name: string
  /** What it takes in at most, in tokens, where that is known. */
  readonly windowTokens?: number
  /** Rejects with a KeepupError that has `ModelErrorDetails`, or with CANCELLED. `onDelta` must not throw. */
  answer(request: ModelRequest, onDelta: (text: string) => void): Promise<ModelAnswer>
}

export interface ToolContext {
  readonly callId: string
  readonly signal: AbortSignal
  /** Must not throw. */
  readonly onProgress: (text: string) => void
}

export interface ToolOutcome {
  readonly content: string
  readonly isError?: boolean
  readonly artifactIds?: readonly string[]
  /** It stopped on the way and has no result yet: the session pauses, and the same call goes on when it is resumed. */
  readonly isPaused?: boolean
}

/** What a tool can see of a call whose outcome is not known. */
export interface ToolInspection {
  /** One sentence for people. */
  readonly summary: string
  /** Whether the call seems to have taken effect; left out when it can't be told. */
  readonly isApplied?: boolean
}

export interface Tool extends ToolDescription {
  /** Whether it can change anything: decides what may be repeated and replayed. */
  readonly hasEffects: boolean
  /** Told to stop, it sees to it by itself that everything it began has stopped, so it is waited for. */
  readonly stopsByItself?: boolean
  /** The places a call is about, relative to the workspace: what rules by path look at. May throw. */
  targets?(args: unknown): Promise<readonly string[]>
  /** How the targets look now, in JSON: recorded as a call begins, compared if its outcome is not known. May throw. */
  readFacts?(args: unknown): Promise<Readonly<Record<string, unknown>>>
  /** Looks for what became of a call and changes nothing. May throw. */
  inspect?(args: unknown, callId: string): Promise<ToolInspection>
  /** May throw; the loop turns that into a tool result. */
  run(args: unknown, context: ToolContext): Promise<ToolOutcome>
}

/**
 * Puts events that belong together on the bus; the durable ones are in the log, all or none, when this resolves. If it
 * rejects, nothing happened. State of the same step (keys that changed, with their values) is kept no later than them.
 */
export type Emit = (events: readonly EventDraft[], state?: Readonly<Record<string, unknown>>) => Promise<unknown>

/** An event of the table, with data the compiler has checked. */
export function event<Name extends EventName>(type: Name, data: EventData<Name>): EventDraft {
  return { type, data }
}
