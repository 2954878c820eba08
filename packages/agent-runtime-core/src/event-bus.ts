/**
 * The runtime's bus: typed, ordered, awaited. A durable event is recorded before anyone hears it. Each listener hears
 * the events it asked for one at a time and in the order they were emitted; a slow one falls behind and loses nothing;
 * a failing one is reported and does not stop the others.
 */
import { describeValue } from "./describe-value.js"
import { KeepupError } from "./errors.js"
import { type EventData, type EventName, isDurableEvent, normalizeEventName } from "./events.js"
import type { Entry } from "./session.js"

export interface BusEvent<Name extends string = string> {
  readonly type: Name
  readonly data: Name extends EventName ? EventData<Name> : unknown
  /** The entry the event became, if it is durable and the bus records. */
  readonly entry: Entry | undefined
}

/** State keys that changed, with their values. */
export type HandedState = Readonly<Record<string, unknown>>

/** An event before it is emitted. */
export interface EventDraft {
  readonly type: string
  readonly data: unknown
}

export type Listener<Name extends string = string> = (event: BusEvent<Name>) => void | Promise<void>

export interface EventBusOptions {
  /**
   * Puts durable events into the log, all or none, together with the state handed over with them, and returns their
   * entries in the same order. If it throws, `emit` throws and no listener hears the events.
   */
  readonly record?: (events: readonly EventDraft[], state?: HandedState) => Promise<readonly Entry[]>
  /** Told of every failing listener. What it throws itself is lost. */
  readonly onListenerError: (error: unknown, event: BusEvent, pattern: string) => void
}

export interface EventBus {
  /**
   * Resolves when the event is recorded and every listener that was free has handled it. A listener still busy with an
   * earlier event hears it later; `flush` waits for those. So a listener may emit and wait without a deadlock.
   */
  emit<Name extends EventName>(type: Name, data: EventData<Name>): Promise<BusEvent<Name>>
  /** An event of someone else. A known name does not come this way: its data is checked by the compiler. */
  emit<Name extends string>(type: Exclude<Name, EventName>, data: unknown): Promise<BusEvent>
  /** The same for events that belong together, and state of the same step: recorded all or none, then heard in order. */
  emitAll(events: readonly EventDraft[], state?: HandedState): Promise<BusEvent[]>
  /** Events that are in the log already: heard in their turn, not recorded again. */
  announce(entries: readonly Entry[]): Promise<void>
  /**
   * Listens to one event, `subject:*`, or `*`, from the next event that is recorded. Returns the way to stop; what was
   * recorded before is still delivered.
   */
  on<Name extends EventName>(pattern: Name, listener: Listener<Name>): () => void
  on(pattern: string, listener: Listener): () => void
  /**
   * Waits until every listener has heard everything emitted so far, and what that led to. Not for listeners: one that
   * waits for itself waits for ever.
   */
  flush(): Promise<void>
}

interface Subscription {
  readonly pattern: string
  readonly hears: (type: string) => boolean
  readonly listener: Listener
  /** What it has not heard yet, in order. A set, because taking the first out of a long array is slow. */
  readonly queue: Set<BusEvent>
  working: Promise<void> | undefined
}

export function createEventBus(options: EventBusOptions): EventBus {
  const subscriptions = new Set<Subscription>()
  const leaving = new Set<Subscription>()
  let lastRecord: Promise<unknown> = Promise.resolve()

  async function emit(type: string, data: unknown): Promise<BusEvent> {
    const [event] = await emitAll([{ type, data }])
    return event as BusEvent
  }

  async function emitAll(drafts: readonly EventDraft[], state?: HandedState): Promise<BusEvent[]> {
    const named = drafts.map(({ type, data }) => ({ type: requireName(type), data }))
    return await inTurn(() => recordDurable(named, state))
  }

  async function announce(entries: readonly Entry[]): Promise<void> {
    await inTurn(async () => entries.map((entry) => ({ type: entry.type, data: entry.data, entry })))
  }

  /** Makes the events, after all that came before were recorded, and delivers them. */
  async function inTurn(make: () => Promise<BusEvent[]>): Promise<BusEvent[]> {
    const recorded = lastRecord.then(async () => {
      const events = await make()
      return { events, waits: deliver(events) }
    })
    lastRecord = recorded.catch(() => undefined)
    const { events, waits } = await recorded
    await Promise.all(waits)
    return events
  }

  async function recordDurable(drafts: readonly EventDraft[], state: HandedState | undefined): Promise<BusEvent[]> {
    const durable = options.record === undefined ? [] : drafts.filter(({ type }) => isDurableEvent(type))
    const isNothing = durable.length === 0 && state === undefined
    const entries = isNothing ? [] : await options.record?.(durable, ...(state === undefined ? [] : [state]))
    return drafts.map((draft) => ({ ...draft, entry: entries?.[durable.indexOf(draft)] }))
  }

  /** Queues the events for everyone who asked, and says whom to wait for: those who were free. */
  function deliver(events: readonly BusEvent[]): Promise<void>[] {
    return [...subscriptions].flatMap((subscription) => {
      const wanted = events.filter((event) => subscription.hears(event.type))
      for (const event of wanted) subscription.queue.add(event)
      return wanted.length > 0 && subscription.working === undefined ? [startWork(subscription, wanted)] : []
    })
  }

  function startWork(subscription: Subscription, first: readonly BusEvent[]): Promise<void> {
    const heardFirst = hearAll(subscription, first)
    subscription.working = heardFirst.then(async () => {
      // No await between the end of the queue and being free: an event in that gap would stay unheard.
      for (const next of subscription.queue) await hear(subscription, next)
      subscription.working = undefined
      leaving.delete(subscription)
    })
    return heardFirst
  }

  async function hearAll(subscription: Subscription, events: readonly BusEvent[]): Promise<void> {
    for (const event of events) await hear(subscription, event)
  }

  async function hear(subscription: Subscription, event: BusEvent): Promise<void> {
    try {
      await subscription.listener(event)
    } catch (error) {
      report(error, event, subscription.pattern)
    }
    subscription.queue.delete(event)
  }

  function report(error: unknown, event: BusEvent, pattern: string): void {
    try {
      options.onListenerError(error, event, pattern)
    } catch {
      // There is nobody left to tell, and the next event must still be heard.
    }
  }

  function on(pattern: string, listener: Listener): () => void {
    const subscription: Subscription = {
      pattern,
      hears: matcher(pattern),
      listener,
      queue: new Set(),
      working: undefined,
    }
    subscriptions.add(subscription)
    return () => {
      if (subscriptions.delete(subscription) && subscription.queue.size > 0) leaving.add(subscription)
    }
  }

  async function flush(): Promise<void> {
    for (;;) {
      const record = lastRecord
      await record
      const busy = [...subscriptions, ...leaving].flatMap(({ working }) => (working === undefined ? [] : [working]))
      if (busy.length === 0 && record === lastRecord) return
      await Promise.all(busy)
    }
  }

  return { emit: emit as EventBus["emit"], emitAll, announce, on: on as EventBus["on"], flush }
}

function requireName(type: string): string {
  const name = normalizeEventName(type)
  if (name === undefined) throw new KeepupError("INVALID_INPUT", `Not an event name: ${describeValue(type)}.`)
  return name
}

function matcher(pattern: string): (type: string) => boolean {
  if (pattern === "*") return () => true
  const isWholeSubject = pattern.endsWith(":*") || pattern.endsWith(".*")
  const name = normalizeEventName(isWholeSubject ? pattern.replace("*", "any") : pattern)
  if (name === undefined) {
    throw new KeepupError("INVALID_INPUT", `Not an event name or pattern: ${JSON.stringify(pattern)}.`)
  }
  const subject = name.slice(0, name.indexOf(":") + 1)
  return isWholeSubject ? (type) => type.startsWith(subject) : (type) => type === name
}
