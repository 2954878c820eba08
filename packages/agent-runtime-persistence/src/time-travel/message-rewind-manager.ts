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
    const cut = messages.slice(kept.length)
    const clean = clearOrphanTags(pairToolCalls(kept.filter((message) => hasGround(message, cut))))
    return {
      messages: clean,
      removedCount: messages.length - clean.length,
      removedSummaries: countRole(messages, "summary") - countRole(clean, "summary"),
      removedTruncationMarkers: countRole(messages, "truncation") - countRole(clean, "truncation"),
    }
  }
}

/** A summary or marker stands on the messages it hides: none of them may be behind the cut. */
function hasGround(message: Message, cut: readonly Message[]): boolean {
  if (message.role === "summary") return !cut.some(({ summaryParent }) => summaryParent === message.summaryId)
  if (message.role === "truncation") {
    return !cut.some(({ truncationParent }) => truncationParent === message.truncationId)
  }
  return true
}

function countRole(messages: readonly Message[], role: Message["role"]): number {
  return messages.filter((message) => message.role === role).length
}

/** A tag that names nothing in the list hides nothing; it is taken off, so that it can't hide anything later. */
function clearOrphanTags(messages: readonly Message[]): Message[] {
  const summaries = new Set(messages.flatMap((one) => (one.role === "summary" ? [one.summaryId] : [])))
  const truncations = new Set(messages.flatMap((one) => (one.role === "truncation" ? [one.truncationId] : [])))
  return messages.map((message) => {
    const { summaryParent, truncationParent, ...rest } = message
    const hasSummary = summaryParent === undefined || summaries.has(summaryParent)
    const hasTruncation = truncationParent === undefined || truncations.has(truncationParent)
    if (hasSummary && hasTruncation) return message
    return {
      ...rest,
      ...(hasSummary && summaryParent !== undefined && { summaryParent }),
      ...(hasTruncation && truncationParent !== undefined && { truncationParent }),
    } as Message
  })
}
