/** Makes JSON of anything a caller may log. Never throws, whatever getters and cycles it meets, and stays small. */
import { isKeepupError } from "@ku0/agent-runtime-core"
import type { JsonValue } from "./redact-value.js"

const deepest = 6
const mostItems = 100
const longestText = 8192

/** Turns any value into a JSON value; errors keep name, code and message, what JSON cannot say becomes a short text. */
export function toLogValue(value: unknown, depth = 0): JsonValue {
  switch (typeof value) {
    case "string":
      return shorten(value)
    case "boolean":
      return value
    case "number":
      return Number.isFinite(value) ? value : String(value)
    case "object":
      return value === null ? null : objectToLog(value, depth)
    case "function":
      return "[function]"
    default:
      return String(value)
  }
}

function objectToLog(value: object, depth: number): JsonValue {
  if (depth >= deepest) return "[nested]"
  try {
    if (value instanceof Error) return errorToLog(value, depth)
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? "[invalid date]" : value.toISOString()
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
    if (Array.isArray(value)) return listToLog(value, depth)
    if (value instanceof Set) return listToLog([...value], depth)
    return fieldsToLog(value instanceof Map ? [...value].map(textKey) : Object.entries(value), depth)
  } catch (error) {
    return `[unreadable: ${error instanceof Error ? error.name : typeof error}]`
  }
}

function fieldsToLog(fields: readonly [string, unknown][], depth: number): JsonValue {
  const told = fields.filter(([, field]) => field !== undefined).slice(0, mostItems)
  return Object.fromEntries(told.map(([name, field]) => [name, toLogValue(field, depth + 1)]))
}

function listToLog(list: readonly unknown[], depth: number): JsonValue {
  const items = list.slice(0, mostItems).map((item) => toLogValue(item, depth + 1))
  return list.length > mostItems ? [...items, `[${list.length - mostItems} more]`] : items
}

function errorToLog(error: Error, depth: number): JsonValue {
  return {
    name: error.name,
    ...(isKeepupError(error) ? { code: error.code } : codeOf(error)),
    message: shorten(error.message),
    ...(error.cause === undefined ? {} : { cause: toLogValue(error.cause, depth + 1) }),
  }
}

/** The code of a system error, such as ENOSPC. */
function codeOf(error: Error): { readonly code?: string } {
  const { code } = error as { code?: unknown }
  return typeof code === "string" ? { code } : {}
}

function textKey([key, field]: [unknown, unknown]): [string, unknown] {
  return [String(key), field]
}

function shorten(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText)}[${text.length - longestText} more]` : text
}
