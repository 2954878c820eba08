/**
 * Spans of OpenTelemetry where the user has set up an SDK. The API package is never loaded: an SDK leaves its provider
 * in a global that all versions 1 of the API share, and without that global a span is a plain call of the function.
 */
import { isKeepupError } from "@ku0/agent-runtime-core"
import { redactSecrets } from "./redact.js"

/** Ids, counts, paths, durations. Never prompts or file contents. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

/** What the function inside a span may do with it. */
export interface ActiveSpan {
  /** Adds facts that are known only later. */
  set(attributes: SpanAttributes): void
}

/**
 * Runs a function inside a span and returns or throws exactly what it does; the span ends when its promise settles. A
 * failing tracer changes nothing: the function runs once in any case. Texts in attributes have their secrets taken out;
 * of an error only its code or name is kept.
 */
export function withSpan<Result>(name: string, attributes: SpanAttributes, run: (span: ActiveSpan) => Result): Result {
  const provider = findTracerProvider()
  if (provider === undefined) return run(noSpan)
  let outcome: { readonly result: Result } | { readonly error: unknown } | undefined
  try {
    provider.getTracer("keepup").startActiveSpan(name, { attributes: redacted(attributes) }, (span) => {
      outcome = settle(span, run)
    })
  } catch {
    // The tracer failed, not the function: what the function did stands, and if it did not run yet it runs below.
  }
  if (outcome === undefined) return run(noSpan)
  if ("error" in outcome) throw outcome.error
  return outcome.result
}

/** The part of the API's interfaces that is used here; all versions 1 have it. */
interface TracerProvider {
  getTracer(name: string): {
    startActiveSpan(name: string, options: { attributes: SpanAttributes }, run: (span: Span) => void): void
  }
}

interface Span {
  setAttributes(attributes: SpanAttributes): unknown
  setStatus(status: { code: number; message?: string }): unknown
  end(): void
}

const apiGlobal = Symbol.for("opentelemetry.js.api.1")
const errorStatus = 2
const noSpan: ActiveSpan = { set() {} }

function findTracerProvider(): TracerProvider | undefined {
  const api = (globalThis as { [apiGlobal]?: { trace?: Partial<TracerProvider> } })[apiGlobal]
  return typeof api?.trace?.getTracer === "function" ? (api.trace as TracerProvider) : undefined
}

function settle<Result>(span: Span, run: (span: ActiveSpan) => Result): { result: Result } | { error: unknown } {
  const active: ActiveSpan = { set: (attributes) => quietly(() => span.setAttributes(redacted(attributes))) }
  const fail = (error: unknown) => {
    const type = errorType(error)
    quietly(() => span.setAttributes({ "error.type": type }))
    quietly(() => span.setStatus({ code: errorStatus, message: type }))
    quietly(() => span.end())
  }
  try {
    const result = run(active)
    if (isPromise(result)) result.then(() => quietly(() => span.end()), fail)
    else quietly(() => span.end())
    return { result }
  } catch (error) {
    fail(error)
    return { error }
  }
}

/** A failing exporter must not fail the work it watches. */
function quietly(act: () => unknown): void {
  try {
    act()
  } catch {
    // Nobody to tell: this is the part that tells.
  }
}

function redacted(attributes: SpanAttributes): SpanAttributes {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name,
      typeof value === "string" ? redactSecrets(value).text : value,
    ]),
  )
}

function errorType(error: unknown): string {
  if (isKeepupError(error)) return error.code
  return error instanceof Error ? error.name : typeof error
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === "function"
}
