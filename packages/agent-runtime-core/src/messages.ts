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

/** Tags, in place, what `message` hides in `messages`; what an older hider in the list has tagged keeps that tag. */
export function tagHidden(messages: Message[], message: Message): void {
  if (message.role !== "summary" && message.role !== "truncation") return
  const hiders = findHiders(messages)
  const from = Math.max(1, Math.ceil(message.hides.from))
  const to = Math.min(messages.length, message.hides.to)
  for (let index = from; index <= to; index++) {
    const hidden = messages[index - 1] as Message
    if (hidden === message || isHiddenBy(hiders, summaryParentOf(hidden), index - 1)) continue
    if (message.role === "summary") messages[index - 1] = { ...hidden, summaryParent: message.summaryId }
    else if (!isHiddenBy(hiders, truncationParentOf(hidden), index - 1)) {
      messages[index - 1] = { ...hidden, truncationParent: message.truncationId }
    }
  }
}

/**
 * The messages a model may see: hidden ones are left out as long as what hides them is in the list, a summary stands
 * where the first message it hides stood, and every tool call has its result and every result its call.
 */
export function visibleMessages(messages: readonly Message[]): Message[] {
  return pairToolCalls(dropHidden(messages))
}

/** Leaves out what is hidden, and moves what hides it to where the first of it stood. */
function dropHidden(messages: readonly Message[]): Message[] {
  const hiders = findHiders(messages)
  if (hiders.size === 0) return [...messages]
  const firstHidden = new Map<string, number>()
  const visible: { message: Message; place: number }[] = []
  messages.forEach((message, position) => {
    const place = firstHidden.get(hiderKey(message) ?? "") ?? position
    const parents = [summaryParentOf(message), truncationParentOf(message)].filter((key) => key !== undefined)
    for (const key of parents) firstHidden.set(key, Math.min(place, firstHidden.get(key) ?? place))
    if (!parents.some((key) => isHiddenBy(hiders, key, position))) visible.push({ message, place })
  })
  return visible.sort((a, b) => a.place - b.place).map(({ message }) => message)
}

/** Where in the list the summaries and truncations are. */
function findHiders(messages: readonly Message[]): ReadonlyMap<string, number> {
  const hiders = new Map<string, number>()
  messages.forEach((message, position) => {
    const key = hiderKey(message)
    if (key !== undefined) hiders.set(key, position)
  })
  return hiders
}

/** A message is hidden only by what stands after it, so no tags can make two hide each other. */
function isHiddenBy(hiders: ReadonlyMap<string, number>, key: string | undefined, position: number): boolean {
  return key !== undefined && (hiders.get(key) ?? -1) > position
}

function hiderKey(message: Message): string | undefined {
  if (message.role === "summary") return `summary ${message.summaryId}`
  return message.role === "truncation" ? `truncation ${message.truncationId}` : undefined
}

function summaryParentOf({ summaryParent }: Message): string | undefined {
  return summaryParent === undefined ? undefined : `summary ${summaryParent}`
}

function truncationParentOf({ truncationParent }: Message): string | undefined {
  return truncationParent === undefined ? undefined : `truncation ${truncationParent}`
}

/**
 * Leaves out results whose call is not there and calls whose result is not there. A result counts only after its call,
 * and only once.
 */
export function pairToolCalls(messages: readonly Message[]): Message[] {
  /** Call → the ids that are answered of the message that asks for it. */
  const open = new Map<string, Set<string>>()
  /** Places of the results that count, and what is answered of the messages with calls. */
  const results = new Set<number>()
  const answered = new Map<number, Set<string>>()
  messages.forEach((message, position) => {
    if (message.role === "assistant" && message.toolCalls !== undefined) {
      const ids = new Set<string>()
      answered.set(position, ids)
      for (const call of message.toolCalls) open.set(call.id, ids)
    } else if (message.role === "tool") {
      const ids = open.get(message.callId)
      if (ids === undefined) return
      ids.add(message.callId)
      open.delete(message.callId)
      results.add(position)
    }
  })
  const paired: Message[] = []
  messages.forEach((message, position) => {
    const ids = answered.get(position)
    if (message.role === "assistant" && ids !== undefined) paired.push(...keepCalls(message, ids))
    else if (message.role !== "tool" || results.has(position)) paired.push(message)
  })
  return paired
}

function keepCalls(message: AssistantMessage, answered: ReadonlySet<string>): AssistantMessage[] {
  if (answered.size === message.toolCalls?.length) return [message]
  const left = new Set(answered)
  const toolCalls = message.toolCalls?.filter((call) => left.delete(call.id))
  if (toolCalls === undefined || toolCalls.length === message.toolCalls?.length) return [message]
  if (toolCalls.length > 0) return [{ ...message, toolCalls }]
  if (message.content === "") return []
  const { toolCalls: _dropped, ...rest } = message
  return [rest]
}
