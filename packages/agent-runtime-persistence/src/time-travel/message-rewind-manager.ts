/**
 * Cuts a list of messages and leaves it whole: summaries and truncation markers made after the cut go with it, what
 * they hid can be seen again, those before the cut stay, and tool calls and results stay paired.
 */
import { type Message, pairToolCalls } from "@ku0/agent-runtime-core"

export interface RewindToIndexOptions {
  /** Keep the message at the index too. */
  readonly includeTarget?: boolean
}

export interface RewindResult {
  readonly messages: Message[]
  /** How many messages of the list given are not in the result. */
  readonly removedCount: number
  readonly removedSummaries: number
  readonly removedTruncationMarkers: number
}

export class MessageRewindManager {
  /** Keeps the messages before `index`, which counts from 0. An index outside of the list means its nearer end. */
  rewindToIndex(messages: readonly Message[], index: number, options: RewindToIndexOptions = {}): RewindResult {
    const wanted = Number.isNaN(index) ? messages.length : Math.trunc(index) + (options.includeTarget === true ? 1 : 0)
    const kept = messages.slice(0, Math.max(0, Math.min(messages.length, wanted)))
    const clean = clearOrphanTags(pairToolCalls(kept.filter((message) => hasGround(message, kept.length))))
    return {
      messages: clean,
      removedCount: messages.length - clean.length,
      removedSummaries: countRole(messages, "summary") - countRole(clean, "summary"),
      removedTruncationMarkers: countRole(messages, "truncation") - countRole(clean, "truncation"),
    }
  }
}

/** A summary or marker stands on the messages it hides; all of them must be before the cut. */
function hasGround(message: Message, length: number): boolean {
  return (message.role !== "summary" && message.role !== "truncation") || message.hides.to <= length
}

function countRole(messages: readonly Message[], role: Message["role"]): number {
  return messages.filter((message) => message.role === role).length
}

/** A tag that names nothing in the list hides nothing; it is taken off, so that it can't hide anything later. */
function clearOrphanTags(messages: readonly Message[]): Message[] {
  const hiders = new Set(
    messages.flatMap((message) =>
      message.role === "summary" ? [message.summaryId] : message.role === "truncation" ? [message.truncationId] : [],
    ),
  )
  return messages.map((message) => {
    const { summaryParent, truncationParent, ...rest } = message
    const isOrphan = (parent: string | undefined) => parent !== undefined && !hiders.has(parent)
    if (!isOrphan(summaryParent) && !isOrphan(truncationParent)) return message
    return {
      ...rest,
      ...(summaryParent !== undefined && hiders.has(summaryParent) && { summaryParent }),
      ...(truncationParent !== undefined && hiders.has(truncationParent) && { truncationParent }),
    } as Message
  })
}
