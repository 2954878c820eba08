/** A log in memory that behaves like the real one: all or none, phases checked, and it can die at any emit. */
import {
  createHistoryFold,
  type Emit,
  type Entry,
  type EventDraft,
  isDurableEvent,
  nextPhase,
  type SessionId,
  type SessionPhase,
  type SessionState,
} from "@ku0/agent-runtime-core"
import { parseEvent } from "@ku0/agent-runtime-core/schemas"

export class Died extends Error {}

export interface MemoryLog {
  readonly entries: readonly Entry[]
  /** Everything that was emitted, fleeting events included. */
  readonly heard: readonly EventDraft[]
  readonly kept: Readonly<Record<string, unknown>>
  /** How many emits there were with durable events. */
  readonly emits: number
  emit: Emit
  state(): SessionState
  types(): string[]
  /** Dies at the nth durable emit from now (0 is the next): before it is recorded, or right after. */
  dieAt(index: number, when: "before" | "after"): void
  /** The next process: nothing is dead any more. */
  revive(): void
}

export function createMemoryLog(): MemoryLog {
  const entries: Entry[] = []
  const heard: EventDraft[] = []
  const kept: Record<string, unknown> = {}
  let phase: SessionPhase = "idle"
  let emits = 0
  let death: { left: number; when: "before" | "after" } | undefined
  let isDead = false

  async function emit(events: readonly EventDraft[], state?: Readonly<Record<string, unknown>>): Promise<void> {
    await Promise.resolve()
    if (isDead) throw new Died()
    const durable = events.filter(({ type }) => isDurableEvent(type))
    const isLast = durable.length > 0 && death !== undefined && death.left-- === 0
    if (isLast) isDead = true
    if (isLast && death?.when === "before") throw new Died()
    let next = phase
    for (const { type, data } of events) {
      parseEvent(type, JSON.parse(JSON.stringify(data)))
      const after = nextPhase(next, type, data)
      if (after === undefined) throw new Error(`${type} may not happen while ${next}`)
      next = after
    }
    phase = next
    if (durable.length > 0) emits++
    Object.assign(kept, JSON.parse(JSON.stringify(state ?? {})))
    for (const { type, data } of durable) {
      const entry = { sessionId: "s" as SessionId, seq: entries.length + 1, type, version: 1, createdAt: 0 }
      entries.push({ ...entry, data: JSON.parse(JSON.stringify(data)), messageIndex: 0, parent: null })
    }
    heard.push(...events)
    if (isLast) throw new Died()
  }

  return {
    entries,
    heard,
    kept,
    get emits() {
      return emits
    },
    emit,
    state() {
      const fold = createHistoryFold()
      for (const entry of entries) fold.add(entry)
      return fold.state()
    },
    types: () => entries.map(({ type }) => type),
    dieAt(index, when) {
      death = { left: index, when }
    },
    revive() {
      isDead = false
      death = undefined
    },
  }
}
