/** THE TABLE: every event keepup knows, its version, and whether it is an entry before anyone sees it. */
import type { z } from "zod"
import type { eventSchemas } from "./event-schemas.js"
import type { Entry } from "./session.js"

export type EventName = keyof typeof eventSchemas

/** What an event of this name carries. */
export type EventData<Name extends EventName> = z.infer<(typeof eventSchemas)[Name]>

export interface EventFacts {
  readonly version: number
  /** Durable events are in the log before a listener hears them. */
  readonly durable: boolean
}

const durable: EventFacts = { version: 1, durable: true }
const fleeting: EventFacts = { version: 1, durable: false }

export const eventTable: Readonly<Record<EventName, EventFacts>> = {
  "session:started": durable,
  "session:paused": durable,
  "session:resumed": durable,
  "session:ended": durable,
  "session:interrupted": durable,
  "session:recovered": durable,
  "session:restore-started": durable,
  "session:restore-failed": durable,
  "run:started": durable,
  "run:ended": durable,
  "turn:started": durable,
  "turn:ended": durable,
  "phase:ended": durable,
  "negotiation:resolved": durable,
  "agent:spawned": durable,
  "task:completed": durable,
  "message:added": durable,
  "tool:started": durable,
  "tool:ended": durable,
  "tool:in-doubt": durable,
  "state:changed": durable,
  "checkpoint:created": durable,
  "checkpoint:failed": durable,
  "checkpoint:pruned": durable,
  "checkpoint:restored": durable,
  "history:rewind": durable,
  "context:file-stale": durable,
  "artifact:emitted": durable,
  "artifact:quarantined": durable,
  "message:delta": fleeting,
  "tool:progress": fleeting,
}

/** Longer names are none: who reads a log, or takes one in, need not expect them. */
const longestName = 200
const shape = /^[a-z][a-z0-9-]*:[a-z][a-z0-9-]*$/

/** `run.ended` and `run:ended` are the same event; the colon form is the one kept. `undefined` if it is no event name. */
export function normalizeEventName(name: string): string | undefined {
  const normal = name.includes(":") ? name : name.replace(".", ":")
  return normal.length <= longestName && shape.test(normal) ? normal : undefined
}

export function isKnownEvent(name: string): name is EventName {
  return Object.hasOwn(eventTable, name)
}

/** What the store writes itself, next to a row or the values it names; from others it would name what is not there. */
export function isWrittenByStore(name: string): boolean {
  return name === "session:started" || name === "checkpoint:created" || name === "state:changed"
}

/** Events of other agents are durable: what is not known is kept. */
export function isDurableEvent(name: string): boolean {
  return isKnownEvent(name) ? eventTable[name].durable : true
}

/** Steps that bring old data to the newest version: `upgrades[name][i]` goes from version i + 1 to i + 2. */
export type EventUpgrades = Readonly<Record<string, readonly ((data: unknown) => unknown)[]>>

/** No event has a second version yet. */
const upgrades: EventUpgrades = {}

/** Brings an entry's data to the version of today. An entry of a newer version, or of an unknown event, stays as it is. */
export function upgradeEntry(entry: Entry, steps: EventUpgrades = upgrades): Entry {
  const todo = Object.hasOwn(steps, entry.type) ? (steps[entry.type] ?? []).slice(Math.max(0, entry.version - 1)) : []
  if (todo.length === 0) return entry
  return { ...entry, version: entry.version + todo.length, data: todo.reduce((data, step) => step(data), entry.data) }
}
