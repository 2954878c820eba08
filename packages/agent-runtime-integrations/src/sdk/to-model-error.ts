/**
 * Whatever the SDK throws, in our words: UNAUTHORIZED, NOT_FOUND, INVALID_INPUT or UNAVAILABLE, with the details the loop
 * decides by. Prompts and keys, which the SDK's errors carry along, are left behind.
 */
import { APICallError } from "@ai-sdk/provider"
import { isKeepupError, KeepupError, type ModelErrorDetails, toKeepupError } from "@ku0/agent-runtime-core"
import {
  findRetryAfter,
  findStatus,
  isContextTooLong,
  isOutOfCredit,
  isPassing,
  isUnauthorized,
  type Refusal,
} from "./refusal.js"

export interface ServiceFacts {
  /** The model's name, for messages. */
  readonly model: string
  readonly baseUrl: string
  /** Variables a key is read from. */
  readonly keyVariables: readonly string[]
  /** Never shown, even if the service repeats it. */
  readonly key: string | undefined
}

const nonsense = /AI_(JSONParseError|TypeValidationError|InvalidResponseDataError|EmptyResponseBodyError)/

export function toModelError(thrown: unknown, service: ServiceFacts, now: number): KeepupError {
  const known = findKeepupError(thrown)
  if (known !== undefined) return known
  if (isNonsense(thrown)) return notUnderstood(service, thrown)
  const refusal = readRefusal(thrown)
  if (refusal !== undefined) return fromRefusal(refusal, service, now)
  return toKeepupError(thrown instanceof Error ? slim(thrown, service) : thrown)
}

function findKeepupError(thrown: unknown): KeepupError | undefined {
  let part = thrown
  for (let depth = 0; depth < 8 && typeof part === "object" && part !== null; depth++) {
    if (isKeepupError(part)) return part
    part = (part as { cause?: unknown }).cause
  }
  return undefined
}

function isNonsense(thrown: unknown): boolean {
  if (thrown instanceof Error && nonsense.test(thrown.name)) return true
  return APICallError.isInstance(thrown) && nonsense.test(thrown.responseBody ?? "")
}

/** A refusal comes as the SDK's error, or as an object in the middle of a stream. */
function readRefusal(thrown: unknown): Refusal | undefined {
  if (APICallError.isInstance(thrown)) {
    const body = thrown.responseBody ?? ""
    // The SDK gives errors at the start of a stream a status of its own making.
    const told =
      thrown.statusCode === undefined || thrown.statusCode === 500 ? findStatus(parseObject(body)) : undefined
    return {
      status: told ?? thrown.statusCode ?? 500,
      message: thrown.message,
      text: `${thrown.message} ${body}`,
      headers: thrown.responseHeaders ?? {},
    }
  }
  if (typeof thrown === "string") return { status: 500, message: thrown, text: thrown, headers: {} }
  if (typeof thrown !== "object" || thrown === null || thrown instanceof Error) return undefined
  const error = thrown as Record<string, unknown>
  const message = typeof error["message"] === "string" ? error["message"] : "the stream reported an error"
  return { status: findStatus(error) ?? 500, message, text: `${message} ${JSON.stringify(error)}`, headers: {} }
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text)
    return typeof value === "object" && value !== null ? value : {}
  } catch {
    return {}
  }
}

function fromRefusal(refusal: Refusal, service: ServiceFacts, now: number): KeepupError {
  const { status } = refusal
  const { model, baseUrl, keyVariables } = service
  const said = clean(refusal.message, service) || "no reason given"
  const fail = (
    code: "UNAUTHORIZED" | "NOT_FOUND" | "INVALID_INPUT" | "UNAVAILABLE",
    hint: string,
    more: Partial<ModelErrorDetails> = {},
  ): KeepupError => {
    const details: ModelErrorDetails = { retryable: false, status, ...more }
    return new KeepupError(code, `${model} refused: ${said} (HTTP ${status})`, { hint, details: { ...details } })
  }
  if (isOutOfCredit(refusal)) return fail("UNAVAILABLE", "The account has no credit left; waiting does not help.")
  if (isUnauthorized(refusal)) return fail("UNAUTHORIZED", `Set ${keyVariables.join(" or ")} to a key that is valid.`)
  if (status === 404) return fail("NOT_FOUND", `Check the model's name, and that ${baseUrl} is the right address.`)
  if (isContextTooLong(refusal)) {
    return fail("INVALID_INPUT", "The conversation is too long for this model.", { contextLengthExceeded: true })
  }
  if (!isPassing(refusal)) return fail("INVALID_INPUT", "The service does not take the request as it is.")
  const retryAfterMs = findRetryAfter(refusal, now)
  return fail("UNAVAILABLE", status === 429 ? "Too many requests; ask again later." : "Ask again later.", {
    retryable: true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

function notUnderstood(service: ServiceFacts, thrown: unknown): KeepupError {
  const why = clean(thrown instanceof Error ? thrown.message : String(thrown), service)
  return new KeepupError("UNAVAILABLE", `The answer of ${service.model} can't be understood: ${why}`, {
    hint: `Ask again; if it stays so, check that ${service.baseUrl} speaks this model's protocol.`,
    details: { retryable: true },
  })
}

/** One line, not too long, without the key. */
function clean(text: string, { key }: ServiceFacts): string {
  const hidden = key === undefined ? text : text.replaceAll(key, "…")
  const line = hidden.replace(/\s+/g, " ").trim()
  return line.length > 300 ? `${line.slice(0, 299)}…` : line
}

/** The same error without the fields the SDK added. */
function slim(error: Error, service: ServiceFacts): Error {
  const copy = new Error(clean(error.message, service))
  copy.name = error.name
  if (error.stack !== undefined) copy.stack = clean(error.stack.split("\n")[0] ?? "", service)
  return copy
}
