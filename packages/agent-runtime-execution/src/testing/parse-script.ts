/** The script of a model: a list of answers, as JSON or JSON lines. Unknown → typed, or `INVALID_INPUT` with the place. */
import { KeepupError } from "@ku0/agent-runtime-core"

export interface ScriptedCall {
  readonly name: string
  /** Strings in it may hold templates. */
  readonly arguments?: unknown
}

export interface ScriptedAnswer {
  /** What the model says; may hold templates. */
  readonly content?: string
  readonly toolCalls?: readonly ScriptedCall[]
  /** Regular expressions that must fit what the model was sent. */
  readonly expect?: string | readonly string[]
  /** Regular expressions that must fit the newest message it was sent. */
  readonly expectLast?: string | readonly string[]
  /** Regular expressions that must not fit what it was sent. */
  readonly expectNot?: string | readonly string[]
  /** The model fails instead of answering. */
  readonly error?: { readonly message: string; readonly status?: number; readonly retryAfterMs?: number }
  /** Waits before it answers. */
  readonly delayMs?: number
  readonly usage?: { readonly inputTokens?: number; readonly outputTokens?: number; readonly cost?: number }
}

/** Reads a script: a JSON list, one JSON object, or one object a line. Empty lines and lines that begin with # do not count. */
export function parseScript(text: string): ScriptedAnswer[] {
  const trimmed = text.trim()
  const whole = trimmed.startsWith("[") ? parseJson(trimmed, "The script") : undefined
  const rows = Array.isArray(whole)
    ? whole.map((value, index) => ({ value, place: `Answer ${index + 1} of the script` }))
    : text.split("\n").flatMap((line, index) => {
        const place = `Line ${index + 1} of the script`
        return line.trim() === "" || line.trim().startsWith("#") ? [] : [{ value: parseJson(line, place), place }]
      })
  return rows.map(({ value, place }) => parseAnswer(value, place))
}

const known = new Set(["content", "toolCalls", "expect", "expectLast", "expectNot", "error", "delayMs", "usage"])

/** Checks one answer. A key that is not known is refused: most likely it is a slip. */
export function parseAnswer(value: unknown, place: string): ScriptedAnswer {
  const refuse = (what: string): KeepupError =>
    new KeepupError("INVALID_INPUT", `${place}: ${what}.`, { hint: "The README of the package shows the format." })
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw refuse("it is not a JSON object")
  const answer = value as Record<string, unknown>
  const odd = Object.keys(answer).find((key) => !known.has(key))
  if (odd !== undefined) throw refuse(`"${odd}" is not known`)
  if (answer["content"] !== undefined && typeof answer["content"] !== "string") throw refuse('"content" must be a text')
  const calls = answer["toolCalls"] ?? []
  if (!Array.isArray(calls) || !calls.every((call) => typeof call?.name === "string")) {
    throw refuse('"toolCalls" must be a list of calls with a name')
  }
  for (const key of ["expect", "expectLast", "expectNot"]) {
    for (const pattern of patternsOf(answer[key])) {
      if (typeof pattern !== "string" || !isExpression(pattern)) throw refuse(`"${key}" must be regular expressions`)
    }
  }
  const error = answer["error"] as { message?: unknown } | undefined
  if (error !== undefined && typeof error?.message !== "string") throw refuse('"error" must have a message')
  const delay = answer["delayMs"] ?? 0
  if (typeof delay !== "number" || !(delay >= 0)) throw refuse('"delayMs" must be a number, 0 or more')
  return value as ScriptedAnswer
}

/** One pattern, several, or none, as a list. */
export function patternsOf(value: unknown): readonly unknown[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value : [value]
}

function parseJson(text: string, place: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new KeepupError("INVALID_INPUT", `${place} is not JSON: ${message}.`, { cause })
  }
}

function isExpression(pattern: string): boolean {
  try {
    return new RegExp(pattern, "s") instanceof RegExp
  } catch {
    return false
  }
}
