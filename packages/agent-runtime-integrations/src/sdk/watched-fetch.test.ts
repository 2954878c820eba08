import { afterEach, describe, expect, it, vi } from "vitest"
import { createWatchedFetch } from "./watched-fetch.js"

const baseUrl = "http://box/v1"
const stream = "data: 1\n\n"

function watched(fetch: typeof globalThis.fetch, idleTimeoutMs = 10_000) {
  return createWatchedFetch({ model: "x/y", baseUrl, fetch, idleTimeoutMs })
}

afterEach(() => vi.useRealTimers())

describe("createWatchedFetch", () => {
  it("counts silence from the last byte on, and only while it waits", async () => {
    vi.useFakeTimers()
    let send: (text: string) => void = () => {}
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        send = (text) => controller.enqueue(new TextEncoder().encode(text))
      },
    })
    const response = await watched(async () => new Response(body), 100)(`${baseUrl}/a`)
    const reader = response.body?.getReader() ?? expect.unreachable()
    for (let round = 0; round < 5; round++) {
      await vi.advanceTimersByTimeAsync(90)
      send(stream)
      expect((await reader.read()).done).toBe(false)
    }
    const last = expect(reader.read()).rejects.toThrow("x/y sent nothing for 0.1 s.")
    await vi.advanceTimersByTimeAsync(110)
    await last
  })

  it("goes nowhere but to its own origin", async () => {
    const fetch = watched(() => expect.unreachable())
    await expect(fetch("http://other/v1")).rejects.toThrow("BUG: x/y asked for another address.")
  })

  it("gives up on a fetch and on a body that do not mind the signal", async () => {
    const never = new Promise<never>(() => {})
    await expect(watched(() => never, 20)(`${baseUrl}/a`)).rejects.toMatchObject({ code: "UNAVAILABLE" })
    const mute = new ReadableStream<Uint8Array>({ pull: () => never, cancel: () => never })
    const response = await watched(async () => new Response(mute), 20)(`${baseUrl}/a`)
    await expect(response.text()).rejects.toMatchObject({ code: "UNAVAILABLE" })
  })

  it("passes the caller's reason on, before and during the answer", async () => {
    const never = new Promise<never>(() => {})
    const reason = new Error("enough")
    const early = watched(() => never)(`${baseUrl}/a`, { signal: AbortSignal.abort(reason) })
    await expect(early).rejects.toBe(reason)
    const controller = new AbortController()
    const mute = new ReadableStream<Uint8Array>({ pull: () => never })
    const response = await watched(async () => new Response(mute))(new Request(`${baseUrl}/a`), controller)
    controller.abort(reason)
    await expect(response.text()).rejects.toBe(reason)
  })

  it("waits as long as it is told, also for ever", async () => {
    const late = async () => new Promise<Response>((resolve) => setTimeout(() => resolve(new Response(stream)), 30))
    const response = await watched(late, Number.POSITIVE_INFINITY)(`${baseUrl}/a`)
    await expect(response.text()).resolves.toBe(stream)
  })

  it.each([
    ["when nobody reads on", stream, (response: Response) => response.body?.cancel()],
    ["that is no stream of events", "<html>", (response: Response) => response.text().catch(() => {})],
  ])("closes an endless answer %s", async (_, text, use) => {
    let isCancelled = false
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
      cancel: () => {
        isCancelled = true
      },
    })
    await use(await watched(async () => new Response(body))(`${baseUrl}/a`))
    expect(isCancelled).toBe(true)
  })

  it("takes an answer without a body", async () => {
    const response = await watched(async () => new Response(null, { status: 204 }))(`${baseUrl}/a`)
    expect([response.status, response.body]).toEqual([204, null])
  })

  it.each(["\u{feff}\n\n data: 1\n\n", ": hello\n\n", "event: a\ndata: 1\n\n"])(
    "takes %j for a stream of events",
    async (text) => {
      const bytes = new TextEncoder().encode(text)
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
          controller.close()
        },
      })
      const response = await watched(async () => new Response(body))(`${baseUrl}/a`)
      expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes)
    },
  )

  it("does not advise to try again when the certificate is wrong", async () => {
    const cause = Object.assign(new Error("self-signed certificate"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" })
    const failing = watched(() => Promise.reject(new TypeError("fetch failed", { cause })))
    await expect(failing(`${baseUrl}/a`)).rejects.toMatchObject({ code: "UNAVAILABLE", details: { retryable: false } })
  })

  it("names what it was given when that is no error with a code", async () => {
    const failing = watched(() => Promise.reject("out of paper"))
    await expect(failing(`${baseUrl}/a`)).rejects.toThrow("can't be reached at http://box/v1: out of paper")
  })

  it("does not need to know where a redirect leads", async () => {
    const moved = watched(async () => new Response(null, { status: 302 }))
    await expect(moved(`${baseUrl}/a`)).rejects.toThrow("sends us elsewhere")
  })
})
