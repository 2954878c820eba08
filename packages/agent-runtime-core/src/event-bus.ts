/**
 * The runtime's bus: typed, ordered, awaited. A durable event is recorded before anyone hears it. Each listener hears
 * the events it asked for one at a time and in the order they were emitted; a slow one falls behind and loses nothing;
 * a failing one is reported and does not stop the others.
 */
import { KeepupError } from "./errors.js"
import { type EventData, type EventName, isDurableEvent, normalizeEventName } from "./events.js"
import type { Entry } from "./session.js"

export interface BusEvent<Name extends string = string> {
  readonly type: Name
  readonly data: Name extends EventName ? EventData<Name> : unknown
  /** The entry the event became, if it is durable and the bus records. */
  readonly entry: Entry | undefined
}

export type Listener<Name extends string = string> = (event: BusEvent<Name>) => void | Promise<void>

export interface EventBusOptions {
  /** Puts a durable event into the log and returns its entry. If it throws, `emit` throws and no listener hears the event. */
  readonly record?: (type: string, data: unknown) => Promise<Entry>
  /** Told of every failing listener. Must not throw. */
  readonly onListenerError: (error: unknown, event: BusEvent, pattern: string) => void
}

export interface EventBus {
  /**
   * Resolves when the event is recorded and every listener that was free has handled it. A listener still busy with an
   * earlier event hears it later; `flush` waits for those. So a listener may emit and wait without a deadlock.
   */
  emit<Name extends EventName>(type: Name, data: EventData<Name>): Promise<BusEvent<Name>>
  emit(type: string, data: unknown): Promise<BusEvent>
  /** Listens to one event, `subject:*`, or `*`. Returns the way to stop; what was emitted before is still delivered. */
  on<Name extends EventName>(pattern: Name, listener: Listener<Name>): () => void
  on(pattern: string, listener: Listener): () => void
  /** Waits until every listener has heard everything emitted so far, and what that led to. */
  flush(): Promise<void>
}

interface Subscription {
  readonly pattern: string
  readonly hears: (type: string) => boolean
  readonly listener: Listener
  readonly queue: BusEvent[]
  working: Promise<void> | undefined
}

export function createEventBus(options: EventBusOptions): EventBus {
  const subscriptions = new Set<Subscription>()
  const leaving = new Set<Subscription>()
  let lastRecord: Promise<unknown> = Promise.resolve()

  async function emit(type: string, data: unknown): Promise<BusEvent> {
    const name = normalizeEventName(type)
    if (name === undefined) throw new KeepupError("INVALID_INPUT", `Not an event name: ${JSON.stringify(type)}.`)
    let event: BusEvent = { type: name, data, entry: undefined }
    const { record } = options
    const recorded = lastRecord.then(async () => {
      if (record !== undefined && isDurableEvent(name)) event = { ...event, entry: await record(name, data) }
      return deliver(event)
    })
    lastRecord = recorded.catch(() => undefined)
    await Promise.all((await recorded).waits)
    return event
  }

  /** Queues the event for everyone who asked, and says whom to wait for: those who were free. */
  function deliver(event: BusEvent): { waits: Promise<void>[] } {
    const waits: Promise<void>[] = []
    for (const subscription of subscriptions) {
      if (!subscription.hears(event.type)) continue
      subscription.queue.push(event)
      if (subscription.working === undefined) waits.push(startWork(subscription))
    }
    return { waits }
  }

  function startWork(subscription: Subscription): Promise<void> {
    const [first] = subscription.queue
    const heardFirst = hear(subscription, first as BusEvent)
    subscription.working = heardFirst.then(async () => {
      for (let next = subscription.queue[0]; next !== undefined; next = subscription.queue[0]) {
        await hear(subscription, next)
      }
      subscription.working = undefined
      leaving.delete(subscription)
    })
    return heardFirst
  }

  async function hear(subscription: Subscription, event: BusEvent): Promise<void> {
    try {
      await subscription.listener(event)
    } catch (error) {
      options.onListenerError(error, event, subscription.pattern)
    }
    subscription.queue.shift()
  }

  function on(pattern: string, listener: Listener): () => void {
    const subscription: Subscription = { pattern, hears: matcher(pattern), listener, queue: [], working: undefined }
    subscriptions.add(subscription)
    return () => {
      if (subscriptions.delete(subscription) && subscription.working !== undefined) leaving.add(subscription)
    }
  }

  async function flush(): Promise<void> {
    for (;;) {
      await lastRecord
      const busy = [...subscriptions, ...leaving].flatMap(({ working }) => (working === undefined ? [] : [working]))
      if (busy.length === 0) return
      await Promise.all(busy)
    }
  }

  return { emit: emit as EventBus["emit"], on: on as EventBus["on"], flush }
}

function matcher(pattern: string): (type: string) => boolean {
  if (pattern === "*") return () => true
  if (pattern.endsWith(":*") || pattern.endsWith(".*")) {
    const subject = `${pattern.slice(0, -2)}:`
    return (type) => type.startsWith(subject)
  }
  const name = normalizeEventName(pattern)
  if (name === undefined) {
    throw new KeepupError("INVALID_INPUT", `Not an event name or pattern: ${JSON.stringify(pattern)}.`)
  }
  return (type) => type === name
}
