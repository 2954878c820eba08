/** A small logger: one JSON object per line, secrets taken out before anyone sees the line. It opens nothing itself. */
import { type Clock, KeepupError } from "@ku0/agent-runtime-core"
import { toLogValue } from "./log-value.js"
import { type JsonValue, redactValue } from "./redact-value.js"

export const logLevels = ["debug", "info", "warn", "error"] as const

export type LogLevel = (typeof logLevels)[number]

/** Facts beside the message: ids, counts, paths, durations. Never prompts or file contents. */
export type LogFields = Readonly<Record<string, unknown>>

export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** A logger that adds these fields to every line. */
  child(fields: LogFields): Logger
}

export interface CreateLoggerOptions {
  /** Takes one line, without its line end. Must not throw: what it throws reaches the caller who only wanted to log. */
  readonly write: (line: string) => void
  readonly clock: Clock
  /** Lines below this level are not made. Default: `info`. */
  readonly level?: LogLevel
  /** Takes the secrets out of a line before it is written. Must not throw. Default: `redactValue`. */
  readonly redact?: (line: JsonValue) => JsonValue
}

/** Makes a logger that writes JSON lines with `time` (milliseconds), `level`, `message` and the fields. */
export function createLogger(options: CreateLoggerOptions): Logger {
  const { write, clock, level = "info", redact = (line) => redactValue(line).value } = options
  const lowest = logLevels.indexOf(parseLogLevel(level))

  function loggerWith(always: LogFields): Logger {
    function at(level: LogLevel): (message: string, fields?: LogFields) => void {
      if (logLevels.indexOf(level) < lowest) return ignore
      return (message, fields) => {
        const line = { time: clock.now(), level, message, ...withoutOwnNames(always), ...withoutOwnNames(fields) }
        write(JSON.stringify(redact(toLogValue(line))))
      }
    }
    return {
      debug: at("debug"),
      info: at("info"),
      warn: at("warn"),
      error: at("error"),
      child: (fields) => loggerWith({ ...always, ...fields }),
    }
  }

  return loggerWith({})
}

/** Accepts the name of a level, or throws `INVALID_INPUT`. */
export function parseLogLevel(value: unknown): LogLevel {
  const level = logLevels.find((known) => known === value)
  if (level !== undefined) return level
  throw new KeepupError("INVALID_INPUT", `Not a log level: ${JSON.stringify(value) ?? String(value)}.`, {
    hint: `Use one of ${logLevels.join(", ")}.`,
  })
}

/** A logger that says nothing. */
export const silentLogger: Logger = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  child: () => silentLogger,
}

function ignore(): void {}

/** A field cannot pass itself off as the time, level or message of its line; it gets an underscore. */
function withoutOwnNames(fields: LogFields = {}): LogFields {
  if (!("time" in fields || "level" in fields || "message" in fields)) return fields
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [/^(?:time|level|message)$/.test(name) ? `_${name}` : name, field]),
  )
}
