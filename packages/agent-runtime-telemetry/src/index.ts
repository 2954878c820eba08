/** What keepup tells about itself: log lines, numbers and spans, with the secrets taken out. */

export {
  /** What `createLogger` needs: where lines go, the time, the lowest level. */
  type CreateLoggerOptions,
  /** Makes a logger that writes JSON lines to a function you hand in. */
  createLogger,
  /** Facts beside a message: ids, counts, paths, durations. */
  type LogFields,
  /** Says what happened, at four levels. */
  type Logger,
  /** The name of a level. */
  type LogLevel,
  /** The levels, from the most talkative to the most urgent. */
  logLevels,
  /** Accepts the name of a level, or throws `INVALID_INPUT`. */
  parseLogLevel,
  /** A logger that says nothing. */
  silentLogger,
} from "./logger.js"
export {
  /** What `createMetrics` needs: the time. */
  type CreateMetricsOptions,
  /** Makes counters and timers that use bounded memory. */
  createMetrics,
  /** Counters and timers. */
  type Metrics,
  /** All counters and timers at one moment, as plain data. */
  type MetricsSnapshot,
  /** One timer at one moment. */
  type TimerSnapshot,
} from "./metrics.js"
export {
  /** What is used of an event. */
  type ObservedEvent,
  /** What `observeEvents` needs: the events, and where to tell. */
  type ObserveEventsOptions,
  /** Turns the events of a bus into log lines and metrics, without what was said or written. */
  observeEvents,
} from "./observe.js"
export {
  /** A text without its secrets, and how many there were. */
  type RedactedText,
  /** Replaces the secrets in a text and says how many there were. */
  redactSecrets,
} from "./redact.js"
export {
  /** What a JSON document can hold. */
  type JsonValue,
  /** A JSON value without its secrets, and how many there were. */
  type RedactedValue,
  /** Replaces the secrets in a JSON value, by the names of fields and by content. */
  redactValue,
} from "./redact-value.js"
/** Stands where a secret was. */
export { redactedMark } from "./secrets/detector.js"
export {
  /** What the function inside a span may do with it. */
  type ActiveSpan,
  /** Facts about a span: ids, counts, paths, durations. */
  type SpanAttributes,
  /** Runs a function inside an OpenTelemetry span if the user has set up an SDK, and as it is otherwise. */
  withSpan,
} from "./spans.js"
