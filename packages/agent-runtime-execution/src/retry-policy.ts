/** When a failed model call is worth another try, and how long to wait before it. Pure. */
import { isKeepupError, KeepupError } from "@ku0/agent-runtime-core"

export interface RetryPolicy {
  /** How often a model is asked for one answer, the first time included. */
  readonly attempts: number
  /** The wait before the second try; it doubles with each one after. */
  readonly baseMs: number
  readonly maxMs: number
  /** A model that asks for a longer wait than this is given up. */
  readonly maxRetryAfterMs: number
}

export const defaultRetryPolicy: RetryPolicy = { attempts: 5, baseMs: 1_000, maxMs: 60_000, maxRetryAfterMs: 300_000 }

export interface ModelFailure {
  readonly error: KeepupError
  readonly isRetryable: boolean
  /** What the service asked for, if it did. */
  readonly retryAfterMs?: number
}

const networkCodes =
  /^(ECONNRESET|ECONNREFUSED|ECONNABORTED|ETIMEDOUT|EPIPE|EAI_AGAIN|ENOTFOUND|ENETUNREACH|EHOSTUNREACH|UND_ERR_.*)$/

/** What a model threw, understood: rate limits, trouble of the network and of the server may pass, the rest will not. */
export function readModelFailure(thrown: unknown, now: number): ModelFailure {
  const chain = causesOf(thrown)
  const status = firstNumber(chain, ["statusCode", "status"])
  const isNetwork = chain.some(
    (part) => networkCodes.test(String(part["code"] ?? "")) || part["name"] === "TimeoutError",
  )
  const told = chain.find((part) => typeof part["retryable"] === "boolean")?.["retryable"] as boolean | undefined
  const isRetryable =
    told ??
    (status !== undefined
      ? status === 408 || status === 409 || status === 425 || status === 429 || (status >= 500 && status < 600)
      : isNetwork || chain.some((part) => part["code"] === "UNAVAILABLE" || part["isRetryable"] === true))
  const retryAfterMs = isRetryable ? readRetryAfter(chain, now) : undefined
  return {
    error: toModelError(thrown, status, isRetryable),
    isRetryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }
}

/** The wait before try number `attempt + 1`: what the service asked for, else doubled each time, with some chance in it. */
export function retryDelay(
  policy: RetryPolicy,
  attempt: number,
  retryAfterMs: number | undefined,
  random: number,
): number {
  if (retryAfterMs !== undefined) return retryAfterMs
  const full = Math.min(policy.maxMs, policy.baseMs * 2 ** (attempt - 1))
  return Math.round(full / 2 + (full / 2) * random)
}

function toModelError(thrown: unknown, status: number | undefined, isRetryable: boolean): KeepupError {
  if (isKeepupError(thrown)) return thrown
  const said = thrown instanceof Error ? thrown.message || thrown.name : String(thrown)
  const what = status === undefined ? said : `${said} (HTTP ${status})`
  return new KeepupError("UNAVAILABLE", `The model did not answer: ${what}`, {
    cause: thrown,
    hint: isRetryable
      ? "The service is busy or can't be reached; resume the session later."
      : "Check the model's name, its key and what it was sent; then resume the session.",
    ...(status === undefined ? {} : { details: { status } }),
  })
}

/** The error, what caused it, and the details each carries, outermost first. */
function causesOf(thrown: unknown): Record<string, unknown>[] {
  const chain: Record<string, unknown>[] = []
  let part = thrown
  while (typeof part === "object" && part !== null && chain.length < 12) {
    const fields = part as Record<string, unknown>
    chain.push(fields)
    if (typeof fields["details"] === "object" && fields["details"] !== null) {
      chain.push(fields["details"] as Record<string, unknown>)
    }
    part = fields["cause"] ?? fields["lastError"]
  }
  return chain
}

function firstNumber(chain: readonly Record<string, unknown>[], keys: readonly string[]): number | undefined {
  for (const part of chain) for (const key of keys) if (typeof part[key] === "number") return part[key]
  return undefined
}

function readRetryAfter(chain: readonly Record<string, unknown>[], now: number): number | undefined {
  const direct = firstNumber(chain, ["retryAfterMs"])
  if (direct !== undefined) return Math.max(0, direct)
  for (const part of chain) {
    const headers = part["responseHeaders"] ?? part["headers"]
    const exact = Number(readHeader(headers, "retry-after-ms") ?? Number.NaN)
    if (Number.isFinite(exact)) return Math.max(0, exact)
    const value = readHeader(headers, "retry-after")
    if (value === undefined) continue
    const seconds = Number(value)
    const wait = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(value) - now
    if (Number.isFinite(wait)) return Math.max(0, wait)
  }
  return undefined
}

function readHeader(headers: unknown, name: string): string | undefined {
  if (typeof headers !== "object" || headers === null) return undefined
  if (typeof (headers as Headers).get === "function") return (headers as Headers).get(name) ?? undefined
  for (const [key, value] of Object.entries(headers)) {
    if (key.toLowerCase() === name && typeof value === "string" && value !== "") return value
  }
  return undefined
}
