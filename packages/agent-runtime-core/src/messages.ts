/**
 * What is said in a session. Nothing is ever cut out of the list: a summary or a truncation hides a range of it by
 * tags, so going back before the summary brings the hidden messages back.
 */

/** A part of the list by message index, both ends included. Indexes start at 1. */
export interface MessageRange {
  readonly from: number
  readonly to: number
}

/** Set by the fold on messages that a summary or a truncation hides. */
export interface MessageTags {
  readonly summaryParent?: string
  readonly truncationParent?: string
}

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: unknown
}

export interface UserMessage extends MessageTags {
  readonly role: "user"
  readonly content: string
  /** Artifacts that belong to the message: images, long pastes. */
  readonly artifactIds?: readonly string[]
}

export interface SystemMessage extends MessageTags {
  readonly role: "system"
  readonly content: string
}

export interface AssistantMessage extends MessageTags {
  readonly role: "assistant"
  readonly content: string
  readonly toolCalls?: readonly ToolCall[]
}

export interface ToolResultMessage extends MessageTags {
  readonly role: "tool"
  readonly callId: string
  readonly name: string
  readonly content: string
  readonly isError?: boolean
  readonly artifactIds?: readonly string[]
}

/** Stands in for the messages it hides. */
export interface SummaryMessage extends MessageTags {
  readonly role: "summary"
  readonly content: string
  readonly summaryId: string
  readonly hides: MessageRange
}

/** Says that messages were left out to save room. */
export interface TruncationMessage extends MessageTags {
  readonly role: "truncation"
  readonly content: string
  readonly truncationId: string
  readonly hides: MessageRange
}

export type Message =
  | UserMessage
  | SystemMessage
  | AssistantMessage
  | ToolResultMessage
  | SummaryMessage
  | TruncationMessage

/** Appends a message to a list and tags what it hides. The list is not changed; untouched messages are shared. */
export function addMessage(messages: readonly Message[], message: Message): Message[] {
  const next = [...messages, message]
  tagHidden(next, message)
  return next
}

/** Tags, in place, what `message` hides in `messages`. */
export function tagHidden(messages: Message[], message: Message): void {
  if (message.role !== "summary" && message.role !== "truncation") return
  const from = Math.max(1, message.hides.from)
  const to = Math.min(messages.length, message.hides.to)
  for (let index = from; index <= to; index++) {
    const hidden = messages[index - 1] as Message
    if (hidden === message) continue
    if (message.role === "summary") {
      if (hidden.summaryParent === undefined) messages[index - 1] = { ...hidden, summaryParent: message.summaryId }
    } else if (hidden.truncationParent === undefined && hidden.summaryParent === undefined) {
      messages[index - 1] = { ...hidden, truncationParent: message.truncationId }
    }
  }
}

/**
 * The messages a model may see: hidden ones are left out as long as what hides them is in the list, a summary stands
 * where the first message it hides stood, and every tool call has its result and every result its call.
 */
export function visibleMessages(messages: readonly Message[]): Message[] {
  return pairToolCalls(placeMarkers(messages, dropHidden(messages)))
}

function dropHidden(messages: readonly Message[]): Set<Message> {
  const summaries = new Set<string>()
  const truncations = new Set<string>()
  for (const message of messages) {
    if (message.role === "summary") summaries.add(message.summaryId)
    if (message.role === "truncation") truncations.add(message.truncationId)
  }
  const visible = new Set<Message>()
  for (const message of messages) {
    const isSummarised = message.summaryParent !== undefined && summaries.has(message.summaryParent)
    const isTruncated = message.truncationParent !== undefined && truncations.has(message.truncationParent)
    if (!isSummarised && !isTruncated) visible.add(message)
  }
  return visible
}

function placeMarkers(messages: readonly Message[], visible: Set<Message>): Message[] {
  const placed = new Map<number, Message[]>()
  const rest: Message[] = []
  messages.forEach((message, position) => {
    if (!visible.has(message)) return
    if (message.role !== "summary" && message.role !== "truncation") return
    const at = Math.min(position, Math.max(0, message.hides.from - 1))
    placed.set(at, [...(placed.get(at) ?? []), message])
  })
  messages.forEach((message, position) => {
    rest.push(...(placed.get(position) ?? []))
    if (visible.has(message) && message.role !== "summary" && message.role !== "truncation") rest.push(message)
  })
  return rest
}

/**
 * Leaves out results whose call is not there and calls whose result is not there. A result counts only after its call,
 * and only once.
 */
export function pairToolCalls(messages: readonly Message[]): Message[] {
  const answered = new Set<Message>()
  const open = new Map<string, AssistantMessage>()
  const answeredCalls = new Map<AssistantMessage, Set<string>>()
  for (const message of messages) {
    if (message.role === "assistant") {
      for (const call of message.toolCalls ?? []) open.set(call.id, message)
    } else if (message.role === "tool") {
      const asker = open.get(message.callId)
      if (asker === undefined) continue
      open.delete(message.callId)
      answered.add(message)
      const calls = answeredCalls.get(asker) ?? new Set()
      answeredCalls.set(asker, calls.add(message.callId))
    }
  }
  const paired: Message[] = []
  for (const message of messages) {
    if (message.role === "tool") {
      if (answered.has(message)) paired.push(message)
    } else if (message.role === "assistant" && message.toolCalls !== undefined) {
      const kept = keepCalls(message, answeredCalls.get(message) ?? new Set())
      if (kept !== undefined) paired.push(kept)
    } else paired.push(message)
  }
  return paired
}

function keepCalls(message: AssistantMessage, answered: ReadonlySet<string>): AssistantMessage | undefined {
  const seen = new Set<string>()
  const toolCalls = (message.toolCalls ?? []).filter((call) => {
    if (!answered.has(call.id) || seen.has(call.id)) return false
    seen.add(call.id)
    return true
  })
  if (toolCalls.length === message.toolCalls?.length) return message
  if (toolCalls.length > 0) return { ...message, toolCalls }
  if (message.content === "") return undefined
  const { toolCalls: _dropped, ...rest } = message
  return rest
}
