/** The one error class of keepup, its closed set of codes, and what each means to a shell and to HTTP. */
import { describeValue } from "./describe-value.js"

/** Every failure keepup reports has one of these codes. */
export type ErrorCode =
  | "INTERNAL"
  | "INVALID_INPUT"
  | "NOT_FOUND"
  | "SESSION_RUNNING"
  | "CONFLICT"
  | "CORRUPT"
  | "STORE_TOO_NEW"
  | "UNAVAILABLE"
  | "UNAUTHORIZED"
  | "CANCELLED"

export interface ErrorCodeFacts {
  /** Exit code of the command line. */
  readonly exit: number
  /** HTTP status of the server. */
  readonly http: number
  /** Whether the same call may succeed later without a change by the caller. */
  readonly retryable: boolean
}

/** Code → exit code, HTTP status, and whether trying again can help. */
export const errorCodes: Readonly<Record<ErrorCode, ErrorCodeFacts>> = {
  INTERNAL: { exit: 1, http: 500, retryable: false },
  INVALID_INPUT: { exit: 2, http: 400, retryable: false },
  NOT_FOUND: { exit: 3, http: 404, retryable: false },
  SESSION_RUNNING: { exit: 4, http: 409, retryable: true },
  CONFLICT: { exit: 5, http: 409, retryable: true },
  CORRUPT: { exit: 6, http: 500, retryable: false },
  STORE_TOO_NEW: { exit: 7, http: 500, retryable: false },
  UNAVAILABLE: { exit: 8, http: 503, retryable: true },
  UNAUTHORIZED: { exit: 9, http: 401, retryable: false },
  CANCELLED: { exit: 130, http: 499, retryable: false },
}

export interface KeepupErrorOptions {
  /** What the reader can do next. */
  readonly hint?: string
  /** Facts for programs; never secrets, never file contents. */
  readonly details?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

const mark = Symbol.for("keepup.error")

/** A failure keepup foresaw: a code, what happened, and what to do next. */
export class KeepupError extends Error {
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly details: Readonly<Record<string, unknown>> | undefined
  readonly [mark] = true

  constructor(code: ErrorCode, message: string, options: KeepupErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = "KeepupError"
    this.code = code
    this.hint = options.hint
    this.details = options.details
  }
}

/** Recognises a KeepupError, also one made by another installed copy of this package. */
export function isKeepupError(value: unknown): value is KeepupError {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[mark] === true
}

/**
 * Turns anything thrown into a KeepupError with the original as its cause: an aborted signal becomes `CANCELLED`, what
 * keepup did not foresee `INTERNAL`.
 */
export function toKeepupError(value: unknown): KeepupError {
  if (isKeepupError(value)) return value
  if (value instanceof Error && value.name === "AbortError") {
    return new KeepupError("CANCELLED", value.message || "Cancelled.", { cause: value })
  }
  const message = value instanceof Error ? value.message || value.name : describeThrown(value)
  return new KeepupError("INTERNAL", message, { cause: value, hint: "This is a bug in keepup; please report it." })
}

function describeThrown(value: unknown): string {
  return typeof value === "string" ? value : describeValue(value)
}

/** An error as one JSON object, the shape of `--json` output and HTTP bodies. */
export function errorToJson(error: KeepupError): { code: ErrorCode; message: string; hint?: string; details?: object } {
  return {
    code: error.code,
    message: error.message,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    ...(error.details === undefined ? {} : { details: error.details }),
  }
}
