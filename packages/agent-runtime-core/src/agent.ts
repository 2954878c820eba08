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
}

export interface Model {
  readonly name: string
  /** `onDelta` must not throw. */
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
}

export interface Tool extends ToolDescription {
  /** Whether it can change anything: decides what may be repeated and replayed. */
  readonly hasEffects: boolean
  /** May throw; the loop turns that into a tool result. */
  run(args: unknown, context: ToolContext): Promise<ToolOutcome>
}

/**
 * Puts events that belong together on the bus; the durable ones are in the log, all or none, when this resolves. If it
 * rejects, nothing happened.
 */
export type Emit = (events: readonly EventDraft[]) => Promise<unknown>

/** An event of the table, with data the compiler has checked. */
export function event<Name extends EventName>(type: Name, data: EventData<Name>): EventDraft {
  return { type, data }
}
