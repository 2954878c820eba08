/**
 * `fetch` that goes to one origin only, follows no redirect, notices silence, and says in our words what went wrong on
 * the way. Refusals of the service (status 400 and up) pass through.
 */
import { KeepupError } from "@ku0/agent-runtime-core"
import { createEventStreamCheck } from "./event-stream-check.js"
import { brokenOff } from "./read-answer.js"

/** Node fires a timer at once that is set for longer. */
const longestTimer = 2 ** 31 - 1

export interface WatchedFetchOptions {
  /** The model's name, for messages. */
  readonly model: string
  readonly baseUrl: string
  readonly fetch: typeof globalThis.fetch
  readonly idleTimeoutMs: number
}

export function createWatchedFetch(options: WatchedFetchOptions): typeof globalThis.fetch {
  const { model, baseUrl, idleTimeoutMs } = options
  return async (input, init = {}) => {
    const url = input instanceof Request ? input.url : String(input)
    if (new URL(url).origin !== new URL(baseUrl).origin) throw new Error(`BUG: ${model} asked for another address.`)
    const watch = createWatch(init.signal ?? undefined, idleTimeoutMs, () => silent(model, idleTimeoutMs))
    try {
      const asked = options.fetch(url, { ...init, redirect: "manual", signal: watch.signal })
      const response = await watch.during(asked)
      if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
        throw redirected(model, response.headers.get("location"))
      }
      if (response.body === null) watch.end()
      const body = response.body && watchBody(response.body, watch, options, response)
      const { status, statusText, headers } = response
      return new Response(body, { status, statusText, headers })
    } catch (thrown) {
      watch.end()
      throw watch.signal.aborted || thrown instanceof KeepupError ? thrown : unreachable(model, baseUrl, thrown)
    }
  }
}

function watchBody(
  body: ReadableStream<Uint8Array>,
  watch: Watch,
  { model, baseUrl }: WatchedFetchOptions,
  response: Response,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const check = response.ok ? createEventStreamCheck(model, baseUrl, response.headers.get("content-type")) : undefined
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await watch.during(reader.read())
        if (!done) {
          check?.see(value)
          controller.enqueue(value)
          return
        }
        check?.end()
        watch.end()
        controller.close()
      } catch (thrown) {
        watch.end()
        reader.cancel().catch(() => {})
        controller.error(watch.signal.aborted || thrown instanceof KeepupError ? thrown : brokenOff(model, thrown))
      }
    },
    async cancel(reason) {
      watch.end()
      await reader.cancel(reason)
    },
  })
}

interface Watch {
  readonly signal: AbortSignal
  /** Waits for a step of the exchange; rejects when the caller aborts or the step takes too long. */
  during<T>(step: Promise<T>): Promise<T>
  end(): void
}

function createWatch(caller: AbortSignal | undefined, idleTimeoutMs: number, silence: () => KeepupError): Watch {
  const controller = new AbortController()
  const forward = (): void => controller.abort(caller?.reason)
  if (caller?.aborted) forward()
  caller?.addEventListener("abort", forward, { once: true })
  return {
    signal: controller.signal,
    during(step) {
      const { signal } = controller
      return new Promise((resolve, reject) => {
        const settle = (): void => {
          clearTimeout(timer)
          signal.removeEventListener("abort", giveUp)
        }
        const giveUp = (): void => {
          settle()
          reject(signal.reason)
        }
        const timer = setTimeout(() => controller.abort(silence()), Math.min(idleTimeoutMs, longestTimer))
        signal.addEventListener("abort", giveUp)
        if (signal.aborted) giveUp()
        step.finally(settle).then(resolve, reject)
      })
    },
    end: () => caller?.removeEventListener("abort", forward),
  }
}

function silent(model: string, idleTimeoutMs: number): KeepupError {
  return new KeepupError("UNAVAILABLE", `${model} sent nothing for ${idleTimeoutMs / 1000} s.`, {
    hint: "Ask again; for a slow local model, allow a longer silence.",
    details: { retryable: true },
  })
}

function redirected(model: string, location: string | null): KeepupError {
  const place = location === null ? "elsewhere" : `to ${location.slice(0, 200)}`
  return new KeepupError("INVALID_INPUT", `The service of ${model} sends us ${place}; keepup does not follow.`, {
    hint: "Give the address the service really has.",
    details: { retryable: false },
  })
}

function unreachable(model: string, baseUrl: string, thrown: unknown): KeepupError {
  const inner = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown
  const code = String((inner as { code?: unknown } | undefined)?.code ?? "")
  const why = code || (inner instanceof Error ? inner.message : String(inner))
  const isCertificate = /CERT|SIGNATURE|TLS|SSL/.test(code)
  return new KeepupError("UNAVAILABLE", `The service of ${model} can't be reached at ${baseUrl}: ${why}`, {
    hint: code === "ECONNREFUSED" ? "Is a server running there?" : "Check the address and the network.",
    details: { retryable: !isCertificate },
    cause: thrown,
  })
}
