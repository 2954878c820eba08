/** What services say when they refuse, read from a status, headers and a body that differ from one to the next. Pure. */

export interface Refusal {
  readonly status: number
  readonly message: string
  /** Everything the service said about it, for recognition only. */
  readonly text: string
  readonly headers: Readonly<Record<string, string>>
}

/** Names of errors, as they come in the middle of a stream, and the status each would have had. */
const statusOfKind: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  context_length_exceeded: 400,
  authentication_error: 401,
  invalid_api_key: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  model_not_found: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  api_error: 500,
  server_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}

/** The status an error of a stream stands for, from its `type`, `code` or `status`. */
export function findStatus(error: Readonly<Record<string, unknown>>): number | undefined {
  for (const key of ["code", "type", "status", "statusCode"]) {
    const value = error[key]
    if (typeof value === "string" && statusOfKind[value] !== undefined) return statusOfKind[value]
    const number = Number(value)
    if (Number.isInteger(number) && number >= 400 && number < 600) return number
  }
  return undefined
}

export function isContextTooLong({ status, text }: Refusal): boolean {
  if (status === 413) return true
  return (
    (status === 400 || status === 422) &&
    /context[_ ](length|window|size|limit)|(prompt|input) is too long|input token count|reduce the length of/i.test(
      text,
    )
  )
}

/** Google refuses a wrong key with 400. */
export function isUnauthorized({ status, text }: Refusal): boolean {
  return status === 401 || status === 403 || (status === 400 && /API_KEY_INVALID|api key not valid/i.test(text))
}

/** Money, not speed: waiting does not help. */
export function isOutOfCredit({ status, text }: Refusal): boolean {
  return status === 402 || ((status === 429 || status === 400) && /insufficient_quota|credit balance/i.test(text))
}

export function isPassing({ status }: Refusal): boolean {
  return status === 408 || status === 409 || status === 425 || status === 429 || status >= 500
}

/** How long the service asks to wait: headers first, then what Google writes into the body. */
export function findRetryAfter({ headers, text }: Refusal, now: number): number | undefined {
  const exact = parseNumber(headers["retry-after-ms"])
  if (exact !== undefined) return exact
  const after = headers["retry-after"]
  const seconds = parseNumber(after)
  if (seconds !== undefined) return seconds * 1000
  // Left to itself, Date.parse takes almost any number for a year.
  const date = /[a-z]{3}/i.test(after ?? "") ? Date.parse(after ?? "") : Number.NaN
  if (!Number.isNaN(date)) return Math.max(0, date - now)
  const delay = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(text)?.[1]
  return delay === undefined ? undefined : Number(delay) * 1000
}

function parseNumber(text: string | undefined): number | undefined {
  const number = text === undefined || text.trim() === "" ? Number.NaN : Number(text)
  return Number.isFinite(number) && number >= 0 ? number : undefined
}
