/** What an agent hands over, looked at once. Facts that can't be kept are `INVALID_INPUT`; the payload is judged later. */
import { type ArtifactEnvelope, KeepupError } from "@ku0/agent-runtime-core"

export interface ParsedEnvelope {
  readonly envelope: ArtifactEnvelope
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** The payload as it will be kept: what is checked is what can be read again. */
  readonly payload: unknown
  readonly content: Uint8Array
}

export interface ParseEnvelopeOptions {
  readonly maxPayloadBytes: number
}

const maxHintBytes = 64 * 1024

const facts: Readonly<Record<string, { readonly fits: (value: unknown) => boolean; readonly what: string }>> = {
  id: {
    fits: (value) => matches(value, /^(?!image_[0-9a-f]{64}$)[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$/),
    what: "letters, digits and . _ : - (at most 200, a letter or digit first; image_<hash> is for images themselves)",
  },
  type: {
    fits: (value) => matches(value, /^[A-Za-z][A-Za-z0-9._-]{0,99}$/),
    what: "letters, digits and . _ - (at most 100, a letter first)",
  },
  schemaVersion: {
    fits: (value) => matches(value, /^[0-9A-Za-z][0-9A-Za-z.+-]{0,49}$/),
    what: "a version such as 1.0.0",
  },
  title: { fits: (value) => isText(value, 1_000), what: "text of at most 1,000 characters" },
  taskNodeId: { fits: (value) => isText(value, 200), what: "text of at most 200 characters" },
  createdAt: {
    fits: (value) => matches(value, /^\d{4}-\d{2}-\d{2}T/) && Number.isFinite(Date.parse(value as string)),
    what: "a time such as 2030-01-31T12:00:00Z",
  },
  renderHints: {
    fits: (value) => value === undefined || (isPlainObject(value) && fitsJson(value, maxHintBytes)),
    what: "an object of at most 64 KiB of JSON, or left out",
  },
}

/** Accepts an envelope whose facts can be kept, whatever its payload, or throws `INVALID_INPUT` naming every fault. */
export function parseEnvelope(value: unknown, options: ParseEnvelopeOptions): ParsedEnvelope {
  if (!isPlainObject(value)) throw invalid(["the artifact must be an object"])
  const wrong = Object.entries(facts).flatMap(([name, { fits, what }]) =>
    fits(value[name]) ? [] : [`${name} must be ${what}`],
  )
  if (wrong.length > 0) throw invalid(wrong)
  const { id, type, schemaVersion, title, taskNodeId, createdAt, renderHints } = value as unknown as ArtifactEnvelope
  const text = toJson(value["payload"])
  const content = new TextEncoder().encode(text)
  if (content.byteLength > options.maxPayloadBytes) {
    throw invalid([`payload has ${content.byteLength} bytes as JSON and must have at most ${options.maxPayloadBytes}`])
  }
  const payload: unknown = JSON.parse(text)
  const hints =
    renderHints === undefined
      ? {}
      : { renderHints: JSON.parse(JSON.stringify(renderHints)) as object as Record<string, unknown> }
  const envelope: ArtifactEnvelope = { id, type, schemaVersion, title, payload, taskNodeId, createdAt, ...hints }
  return { envelope, createdAt: Date.parse(createdAt), payload, content }
}

/** Text that every database can keep. */
export function isText(value: unknown, maxLength: number): value is string {
  return (
    typeof value === "string" && value.length <= maxLength && !value.includes("\0") && !/\p{Surrogate}/u.test(value)
  )
}

function toJson(payload: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(payload)
  } catch (cause) {
    throw invalid([`payload has no JSON form (${cause instanceof Error ? cause.message : String(cause)})`], cause)
  }
  if (text === undefined) throw invalid(["payload is missing"])
  return text
}

function fitsJson(value: unknown, maxBytes: number): boolean {
  try {
    return Buffer.byteLength(JSON.stringify(value)) <= maxBytes
  } catch {
    return false // A cycle or a bigint: it has no JSON form, and the caller says so.
  }
}

function matches(value: unknown, pattern: RegExp): boolean {
  return typeof value === "string" && pattern.test(value)
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function invalid(faults: readonly string[], cause?: unknown): KeepupError {
  return new KeepupError("INVALID_INPUT", `The artifact can't be kept: ${faults.join("; ")}.`, {
    hint: "Nothing was kept. Correct the artifact and emit it again.",
    details: { faults },
    ...(cause === undefined ? {} : { cause }),
  })
}
