/** The messages of a session as they grow during a run: the same list the log folds to. */
import {
  type Message,
  pairToolCalls,
  type SessionState,
  type ToolCall,
  tagHidden,
  visibleMessages,
} from "@ku0/agent-runtime-core"

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
  /** What was visible at some point, and what came since: a long history is not gone through in every turn. */
  let shown: { readonly before: Message[]; readonly since: Message[] } | undefined

  function unanswered(): ToolCall[] {
    const place = messages.findLastIndex((message) => message.role === "assistant")
    const answer = messages[place]
    if (answer?.role !== "assistant") return []
    const done = new Set(messages.slice(place).flatMap((one) => (one.role === "tool" ? [one.callId] : [])))
    return (answer.toolCalls ?? []).filter((call) => !done.has(call.id))
  }

  function findVisible(): Message[] {
    if (shown !== undefined) {
      // Before, every call has its result: what came since is paired by itself, and joins it once it is complete.
      if (hasAllResults(shown.since)) shown.before.push(...shown.since.splice(0))
      return [...shown.before, ...pairToolCalls(shown.since)]
    }
    const visible = visibleMessages(messages)
    // A result that is still to come makes a call visible that is not now: then nothing can be kept.
    if (isSame(visible, messages) || hasAllResults(messages)) shown = { before: [...visible], since: [] }
    return visible
  }

  return {
    messages,
    add(message) {
      messages.push(message)
      tagHidden(messages, message)
      if (message.role === "assistant") answers++
      if (message.role === "summary" || message.role === "truncation") shown = undefined
      else shown?.since.push(message)
    },
    forModel: findVisible,
    unansweredCalls: unanswered,
    isUnanswered(callId) {
      const asks = messages.some((one) => one.role === "assistant" && one.toolCalls?.some(({ id }) => id === callId))
      return asks && !messages.some((one) => one.role === "tool" && one.callId === callId)
    },
    nextTurn: () => answers + 1,
  }
}

/** Whether every call has its result after it, and nothing else does. */
function hasAllResults(messages: readonly Message[]): boolean {
  return isSame(pairToolCalls(messages), messages)
}

function isSame(one: readonly Message[], other: readonly Message[]): boolean {
  return one.length === other.length && one.every((message, place) => message === other[place])
}
