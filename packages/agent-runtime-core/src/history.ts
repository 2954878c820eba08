/** From entries to what the agent knows: a pure fold, the same in every process and on every store. */
import { KeepupError } from "./errors.js"
import type { EventData } from "./events.js"
import { upgradeEntry } from "./events.js"
import { type Message, type ToolCall, tagHidden, visibleMessages } from "./messages.js"
import { nextPhase, phaseEvents } from "./phase.js"
import type { Entry, EntryRef, SessionPhase } from "./session.js"

/** A run of entries of one session, both ends included. A history is a list of these, oldest first. */
export interface HistoryRange {
  readonly sessionId: EntryRef["sessionId"]
  readonly from: number
  readonly to: number
}

/** What a history amounts to. */
export interface SessionState {
  /** All messages, hidden ones with their tags. */
  readonly messages: readonly Message[]
  /** State key → SHA-256 of its value. */
  readonly stateKeys: Readonly<Record<string, string>>
  /** Calls that were started and have neither ended nor been marked as in doubt, in the order they started. */
  readonly openToolCalls: readonly ToolCall[]
  /** Calls whose outcome is not known. */
  readonly inDoubtToolCalls: readonly ToolCall[]
  readonly phase: SessionPhase
  readonly entryCount: number
}

/** The events the fold looks at. All others only count. */
export const foldedEvents: readonly string[] = [
  "message:added",
  "state:changed",
  "tool:started",
  "tool:ended",
  "tool:in-doubt",
  ...phaseEvents,
]

/** Folds a history into the state it leads to. */
export function foldHistory(entries: Iterable<Entry>): SessionState {
  const fold = createHistoryFold()
  for (const entry of entries) fold.add(entry)
  return fold.state()
}

/** The same fold, one entry at a time, for histories that come in pages. */
export interface HistoryFold {
  add(entry: Entry): void
  /** Entries that were left out because the fold does not look at their kind (see `foldedEvents`). */
  pass(count: number): void
  /** At this point no call is open or in doubt, and the phase is this, whatever of the entries before was left out. */
  settle(phase: SessionPhase): void
  state(): SessionState
}

export function createHistoryFold(): HistoryFold {
  const messages: Message[] = []
  let stateKeys: Record<string, string> = Object.create(null)
  const open = new Map<string, ToolCall>()
  const inDoubt = new Map<string, ToolCall>()
  let phase: SessionPhase = "idle"
  let entryCount = 0

  function add(entry: Entry): void {
    try {
      apply(upgradeEntry(entry))
    } catch (cause) {
      const message = `Entry ${entry.seq} of session ${entry.sessionId} (${entry.type}) cannot be understood.`
      throw new KeepupError("CORRUPT", message, { cause, details: { sessionId: entry.sessionId, seq: entry.seq } })
    }
  }

  function apply(entry: Entry): void {
    entryCount++
    // Who goes on from elsewhere (a branch, a restore) is at rest, whatever was going on there.
    if (entry.parent !== null) phase = "idle"
    phase = nextPhase(phase, entry.type, entry.data) ?? phase
    if (entry.type === "message:added") {
      const { message } = entry.data as { message: Message }
      if (typeof message.role !== "string") throw new TypeError("The message has no role.")
      messages.push(message)
      tagHidden(messages, message)
    } else if (entry.type === "state:changed") {
      stateKeys = applyStateChange(stateKeys, entry.data as EventData<"state:changed">)
    } else if (entry.type === "tool:started") {
      const call = toolCallOf(entry.data)
      inDoubt.delete(call.id)
      open.set(call.id, call)
    } else if (entry.type === "tool:ended") {
      const { id } = toolCallOf(entry.data)
      open.delete(id)
      inDoubt.delete(id)
    } else if (entry.type === "tool:in-doubt") {
      const call = toolCallOf(entry.data)
      open.delete(call.id)
      inDoubt.set(call.id, call)
    }
  }

  return {
    add,
    pass(count) {
      entryCount += count
    },
    settle(known) {
      open.clear()
      inDoubt.clear()
      phase = known
    },
    state: () => ({
      messages: [...messages],
      stateKeys,
      openToolCalls: [...open.values()],
      inDoubtToolCalls: [...inDoubt.values()],
      phase,
      entryCount,
    }),
  }
}

/** State keys after a change. The maps have no prototype: a key may be called anything. */
export function applyStateChange(
  keys: Readonly<Record<string, string>>,
  change: EventData<"state:changed">,
): Record<string, string> {
  if (typeof change.set !== "object" || change.set === null) throw new TypeError("The change does not say what is set.")
  const next: Record<string, string> = Object.assign(Object.create(null), change.full ? {} : keys, change.set)
  for (const key of change.removed) delete next[key]
  return next
}

/** The messages a model may see at the end of a history. */
export function messagesForModel(state: SessionState): Message[] {
  return visibleMessages(state.messages)
}

function toolCallOf(data: unknown): ToolCall {
  const { callId, name, arguments: args } = data as { callId: string; name: string; arguments: unknown }
  return { id: callId, name, arguments: args }
}
