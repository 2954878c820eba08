/** The messages of a session as they grow during a run: the same list the log folds to. */
import { type Message, type SessionState, type ToolCall, tagHidden, visibleMessages } from "@ku0/agent-runtime-core"

export interface Conversation {
  readonly messages: readonly Message[]
  add(message: Message): void
  /** What a model may see: hidden ones left out, every call with its result. */
  forModel(): Message[]
  /** Calls of the newest answer that have no result yet, in their order. */
  unansweredCalls(): ToolCall[]
  /** Whether a message of the session asks for this call and no result is there. */
  isUnanswered(callId: string): boolean
  /** The number of the next answer of a model, counted through the whole session, so that no two calls share an id. */
  nextTurn(): number
}

export function createConversation(history: Pick<SessionState, "messages">): Conversation {
  const messages: Message[] = [...history.messages]
  let answers = messages.filter((message) => message.role === "assistant").length

  function unanswered(): ToolCall[] {
    const place = messages.findLastIndex((message) => message.role === "assistant")
    const answer = messages[place]
    if (answer?.role !== "assistant") return []
    const done = new Set(messages.slice(place).flatMap((one) => (one.role === "tool" ? [one.callId] : [])))
    return (answer.toolCalls ?? []).filter((call) => !done.has(call.id))
  }

  return {
    messages,
    add(message) {
      messages.push(message)
      tagHidden(messages, message)
      if (message.role === "assistant") answers++
    },
    forModel: () => visibleMessages(messages),
    unansweredCalls: unanswered,
    isUnanswered(callId) {
      const asks = messages.some((one) => one.role === "assistant" && one.toolCalls?.some(({ id }) => id === callId))
      return asks && !messages.some((one) => one.role === "tool" && one.callId === callId)
    },
    nextTurn: () => answers + 1,
  }
}
