/**
 * Keeps the visible history within the model's window: older parts are hidden behind a summary, or a truncation when no
 * summary can be had. Nothing is deleted; going back before the summary brings everything back.
 */
import {
  type IdSource,
  type Message,
  pairToolCalls,
  type SummaryMessage,
  type TruncationMessage,
  visibleMessages,
} from "@ku0/agent-runtime-core"
import type { Logger } from "@ku0/agent-runtime-telemetry"

export interface FitContextOptions {
  /** What the model can take in, in tokens; `Infinity` if that is not known. */
  readonly windowTokens: number
  /** Room for the answer, the system prompt and the tools. Default: a quarter of the window. */
  readonly reserveTokens?: number
  /** How long a message is for the model. Default: a guess from its characters. Must not throw. */
  readonly countTokens?: (message: Message) => number
  /** Tells in short what was said. May throw: then the messages are hidden without a summary, and that is said. */
  readonly summarise?: (messages: readonly Message[], signal: AbortSignal) => Promise<string>
  readonly ids: IdSource
  readonly signal: AbortSignal
  /** What a model may see of the messages, if that is known already. */
  readonly visible?: readonly Message[]
  readonly logger?: Logger
}

/** Part of the room at which hiding begins, and what it aims at, so that it does not begin again with every turn. */
const startAt = 0.9
const aimAt = 0.5

/** The messages to append so that what a model may see fits: none or one. */
export async function fitContext(messages: readonly Message[], options: FitContextOptions): Promise<Message[]> {
  const { windowTokens, reserveTokens = Math.floor(windowTokens / 4), countTokens = estimateTokens } = options
  if (windowTokens === Number.POSITIVE_INFINITY) return []
  const room = Math.max(0, windowTokens - reserveTokens)
  const { visible = visibleMessages(messages) } = options
  const total = visible.reduce((sum, message) => sum + countTokens(message), 0)
  if (total <= room * startAt) return []
  const range = findRange(messages, visible, countTokens, total - room * aimAt)
  if (range === undefined) return []
  const places = new Map(messages.map((message, place) => [message, place]))
  const hidden = visible.filter((message) => isWithin(range, places.get(message)))
  const request = findRequest(messages, range)
  const hides = { from: range.from + 1, to: range.to + 1 }
  const made = await summarise(pairToolCalls(hidden), options)
  if (made === undefined) return []
  const id = options.ids.next()
  if ("text" in made) {
    const text = made.text.slice(0, Math.max(1_000, room))
    const summary: SummaryMessage = { role: "summary", content: text + request, summaryId: id, hides }
    return [summary]
  }
  const said = `[${hidden.length} earlier messages are hidden to save room${made.reason}]`
  const truncation: TruncationMessage = { role: "truncation", content: said + request, truncationId: id, hides }
  return [truncation]
}

/** About four characters a token, and a few for what surrounds a message. */
export function estimateTokens(message: Message): number {
  const calls = message.role === "assistant" && message.toolCalls !== undefined ? JSON.stringify(message.toolCalls) : ""
  return Math.ceil((message.content.length + calls.length) / 4) + 4
}

/** Places in the list, both ends included. */
interface Range {
  readonly from: number
  readonly to: number
}

/**
 * What to hide: from after the first message of the user, which says what all this is about, as much as is asked for,
 * never the newest exchange, and never a call without its results.
 */
function findRange(
  messages: readonly Message[],
  visible: readonly Message[],
  countTokens: (message: Message) => number,
  excess: number,
): Range | undefined {
  const seen = new Set(visible)
  const isHidable = (message: Message): boolean => seen.has(message) && message.role !== "system"
  const from = messages.findIndex((message) => message.role === "user") + 1
  const newest = messages.findLastIndex(({ role }) => role === "assistant" || role === "user")
  let found: Range | undefined
  let saved = 0
  for (let to = from; to < newest; to++) {
    const message = messages[to] as Message
    if (isHidable(message)) saved += countTokens(message)
    if (saved === 0 || messages[to + 1]?.role === "tool") continue
    found = { from, to }
    if (saved >= excess) break
  }
  return found
}

function isWithin(range: Range, place: number | undefined): boolean {
  return place !== undefined && place >= range.from && place <= range.to
}

/** The user's newest words, if they are about to be hidden: a model that can't see them does something else. */
function findRequest(messages: readonly Message[], range: Range): string {
  const place = messages.findLastIndex((message) => message.role === "user")
  return isWithin(range, place) ? `\n\nThe user's newest request, word for word:\n${messages[place]?.content}` : ""
}

async function summarise(
  hidden: readonly Message[],
  { summarise: make, signal, logger }: FitContextOptions,
): Promise<{ text: string } | { reason: string } | undefined> {
  if (make === undefined) return { reason: "" }
  try {
    const text = (await make(hidden, signal)).trim()
    if (text !== "") return { text }
    return { reason: "; the summary of them was empty" }
  } catch (error) {
    if (signal.aborted) return undefined
    logger?.warn("a summary could not be made", { messages: hidden.length, error: String(error) })
    return { reason: `; a summary could not be made: ${error instanceof Error ? error.message : String(error)}` }
  }
}
