/**
 * Turns events into log lines and metrics. It tells that something happened, to what, how much and how long, and never
 * what was said or what a file holds: of an event's data only ids, numbers, paths and words of closed lists are taken.
 */
import type { BusEvent, Clock } from "@ku0/agent-runtime-core"
import type { Logger, LogLevel } from "./logger.js"
import type { Metrics } from "./metrics.js"

/** What is used of an event; events of the bus fit. */
export type ObservedEvent = Pick<BusEvent, "type" | "data"> & {
  readonly entry?: { readonly sessionId: string; readonly seq: number } | undefined
}

export interface ObserveEventsOptions {
  /** Subscribes to all events, such as `(listener) => bus.on("*", listener)`, and returns the way to stop. */
  readonly subscribe: (listener: (event: ObservedEvent) => void) => () => void
  readonly logger: Logger
  readonly metrics: Metrics
  /** Times what has a start and an end but does not say how long it took. */
  readonly clock: Clock
}

/**
 * Logs every event and counts it as `events.NAME`; times pairs such as `tool:started` and `tool:ended` as `tool`.
 * Returns the way to stop.
 */
export function observeEvents(options: ObserveEventsOptions): () => void {
  const { logger, metrics, clock } = options
  const running = new Map<string, number>()

  /** The time since the event's beginning, if it is an end and its beginning was seen. */
  function measure(type: string, facts: Facts, sessionId: string | undefined): number | undefined {
    const [subject, happened] = type.split(":") as [string, string?]
    const about = facts.callId ?? facts.turn ?? facts.runId ?? facts.restoreId ?? ""
    const key = JSON.stringify([subject, sessionId, about])
    if (happened === "started") {
      running.set(key, clock.now())
      const [oldest] = running.keys()
      if (running.size > mostRunning && oldest !== undefined) running.delete(oldest)
      return
    }
    const started = running.get(key)
    if (happened !== "ended") return
    running.delete(key)
    if (typeof facts.durationMs === "number") return facts.durationMs
    return started === undefined ? undefined : Math.max(0, clock.now() - started)
  }

  return options.subscribe((event) => {
    const type = eventShape.test(event.type) ? event.type : "(unnamed)"
    metrics.count(`events.${type}`)
    const facts = takeFacts(event.data)
    const { sessionId, seq } = event.entry ?? {}
    const durationMs = measure(type, facts, sessionId)
    if (durationMs !== undefined) metrics.record(type.slice(0, type.indexOf(":")), durationMs)
    if (streamed.has(type)) return
    const place = sessionId === undefined ? {} : { sessionId, seq }
    logger[levelOf(type, facts)](type, { ...facts, ...place, ...(durationMs === undefined ? {} : { durationMs }) })
  })
}

type Facts = Readonly<Record<string, string | number | boolean>>

const mostRunning = 1000
const eventShape = /^[\w-]{1,40}:[\w-]{1,40}$/
/** Too many to log; counted all the same. */
const streamed: ReadonlySet<string> = new Set(["message:delta", "tool:progress"])
const worrying = /:(?:.*-)?(?:failed|interrupted|in-doubt|stale|file-stale|quarantined)$/

function levelOf(type: string, facts: Facts): LogLevel {
  return worrying.test(type) || facts.outcome === "failed" || facts.errorCode !== undefined ? "warn" : "info"
}

const idName = /(?:^id|[a-z]I[dD]|_id)$/
const pathName = /^path$|Path$|_path$/
const hashName = /^(?:hash|commit|base|head|tree)$/
/** Words from closed lists, such as `ok` or `run.ended`. */
const wordName = /^(?:outcome|status|phase|trigger|mode|agentType|code|level)$/
const word = /^[\w.:-]{1,64}$/
const id = /^[\w.:@-]{1,128}$/

/** What may be told of an event's data. Names are checked and values too, since events of other agents are unknown. */
function takeFacts(data: unknown): Facts {
  const facts: Record<string, string | number | boolean> = {}
  if (typeof data !== "object" || data === null) return facts
  for (const [name, value] of Object.entries(data)) {
    if (!word.test(name)) continue
    if (typeof value === "number" || typeof value === "boolean") facts[name] = value
    else if (typeof value === "string" && isTellable(name, value)) facts[name] = value
    else if (Array.isArray(value)) facts[`${name}.count`] = value.length
    else if (name === "error" && typeof value === "object") Object.assign(facts, errorCode(value))
  }
  if (typeof (data as { callId?: unknown }).callId === "string") Object.assign(facts, toolName(data))
  return facts
}

function isTellable(name: string, value: string): boolean {
  if (pathName.test(name)) return value.length <= 1024 && !/[\r\n]/.test(value)
  if (idName.test(name) || hashName.test(name)) return id.test(value)
  return wordName.test(name) && word.test(value)
}

function errorCode(error: object | null): Facts {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === "string" && word.test(code) ? { errorCode: code } : {}
}

/** A tool's name is no content; the name of a session or checkpoint is something a person wrote. */
function toolName(data: object): Facts {
  const { name } = data as { name?: unknown }
  return typeof name === "string" && word.test(name) ? { tool: name } : {}
}
