import { KeepupError, type Model } from "@ku0/agent-runtime-core"
import { describe, expect, test } from "vitest"
import { runLoop } from "../test/make-loop.js"
import { createMemoryLog } from "../test/memory-log.js"
import { readModelFailure, retryDelay } from "./retry-policy.js"

const limited = { error: { message: "slow down", status: 429 } }

describe("a model that fails", () => {
  test("is asked again with growing waits, and the turn goes on as if nothing had been", async () => {
    const log = createMemoryLog()
    const waits: number[] = []
    const sleep = async (ms: number) => void waits.push(ms)
    const answers = [limited, { error: { message: "down", status: 503 } }, limited, { content: "ok" }]
    const end = await runLoop(log, answers, { prompt: "go", sleep, random: () => 1 })
    expect(end.answer).toBe("ok")
    expect(waits).toEqual([1_000, 2_000, 4_000])
    expect(log.types().filter((type) => type === "turn:started")).toHaveLength(1)
  })

  test("is given the time it asks for", async () => {
    const waits: number[] = []
    const answers = [{ error: { message: "slow down", status: 429, retryAfterMs: 7_000 } }, { content: "ok" }]
    await runLoop(createMemoryLog(), answers, { prompt: "go", sleep: async (ms) => void waits.push(ms) })
    expect(waits).toEqual([7_000])
  })

  test("is given up when it asks for too much time", async () => {
    const answers = [{ error: { message: "slow down", status: 429, retryAfterMs: 9e9 } }, { content: "ok" }]
    expect((await runLoop(createMemoryLog(), answers, { prompt: "go" })).outcome).toBe("failed")
  })

  test("ends the turn and the run with the reason when it goes on failing, and a resume tries again", async () => {
    const log = createMemoryLog()
    const waits: number[] = []
    const sleep = async (ms: number) => void waits.push(ms)
    const end = await runLoop(log, [limited, limited], { prompt: "go", sleep, retry: { attempts: 2 } })
    expect(end).toMatchObject({ outcome: "failed", error: { code: "UNAVAILABLE" } })
    expect(waits).toHaveLength(1)
    const error = { code: "UNAVAILABLE", message: "The model did not answer: slow down (HTTP 429)" }
    expect(log.entries.slice(-2)).toMatchObject([
      { type: "turn:ended", data: { outcome: "failed", error } },
      { type: "run:ended", data: { outcome: "failed", error } },
    ])
    expect((await runLoop(log, [{ content: "ok" }])).answer).toBe("ok")
  })

  test("is not asked again for what will not pass", async () => {
    for (const status of [400, 401, 404]) {
      const answers = [{ error: { message: "no", status } }, { content: "ok" }]
      expect((await runLoop(createMemoryLog(), answers, { prompt: "go" })).outcome).toBe("failed")
    }
  })

  test("and a cancel ends the waiting", async () => {
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 10)
    const end = await runLoop(createMemoryLog(), [limited], {
      prompt: "go",
      signal: controller.signal,
      retry: { baseMs: 60_000 },
    })
    expect(end.outcome).toBe("cancelled")
  })

  test("a wait that fails by itself is a failure", async () => {
    const sleep = async () => {
      throw new Error("no timer")
    }
    const end = await runLoop(createMemoryLog(), [limited], { prompt: "go", sleep })
    expect(end).toMatchObject({ outcome: "failed", error: { message: "no timer" } })
  })

  test.each([undefined, {}, { content: 7, toolCalls: [] }, { content: "", toolCalls: [{}] }])(
    "by answering nonsense (%j) ends the turn",
    async (nonsense) => {
      const model = { name: "odd", answer: async () => nonsense } as unknown as Model
      const end = await runLoop(createMemoryLog(), [], { prompt: "go", model })
      expect(end).toMatchObject({ outcome: "failed", error: { message: expect.stringContaining("not an answer") } })
    },
  )

  test("shows what it said in each try, and nothing after it failed", async () => {
    const log = createMemoryLog()
    let late = (_text: string): void => undefined
    let tries = 0
    const model: Model = {
      name: "torn",
      async answer(_request, onDelta) {
        onDelta(`try ${++tries}`)
        late(`late`)
        late = onDelta
        if (tries === 1) throw Object.assign(new Error("cut"), { code: "ECONNRESET" })
        return { content: "ok", toolCalls: [] }
      },
    }
    await runLoop(log, [], { prompt: "go", model, sleep: async () => undefined })
    expect(log.heard.filter(({ type }) => type === "message:delta").map(({ data }) => data)).toEqual([
      { text: "try 1", turn: 1, attempt: 1 },
      { text: "try 2", turn: 1, attempt: 2 },
    ])
  })
})

describe("readModelFailure", () => {
  const read = (thrown: unknown) => readModelFailure(thrown, Date.parse("2026-01-01T00:00:00Z"))

  test("looks through causes for the trouble", () => {
    const fetchFailed = new TypeError("fetch failed", {
      cause: Object.assign(new Error("x"), { code: "ECONNREFUSED" }),
    })
    expect(read(fetchFailed).isRetryable).toBe(true)
    expect(read({ name: "RetryError", lastError: { statusCode: 500 } }).isRetryable).toBe(true)
    expect(read(Object.assign(new Error("late"), { name: "TimeoutError" })).isRetryable).toBe(true)
    expect(read({ isRetryable: true }).isRetryable).toBe(true)
    expect(read("nothing").isRetryable).toBe(false)
    const ours = new KeepupError("UNAVAILABLE", "busy", { details: { status: 429, retryAfterMs: 5 } })
    expect(read(ours)).toEqual({ error: ours, isRetryable: true, retryAfterMs: 5 })
    expect(read(new KeepupError("UNAVAILABLE", "no network")).isRetryable).toBe(true)
    expect(read(new KeepupError("UNAUTHORIZED", "no key")).isRetryable).toBe(false)
    expect(read(new Error("")).error.message).toBe("The model did not answer: Error")
  })

  test.each([
    [{ statusCode: 429, responseHeaders: { "Retry-After": "3" } }, 3_000],
    [{ statusCode: 429, headers: new Headers({ "retry-after-ms": "250", "retry-after": "9" }) }, 250],
    [{ statusCode: 429, headers: new Headers({ "retry-after": "Thu, 01 Jan 2026 00:00:10 GMT" }) }, 10_000],
    [{ statusCode: 429, headers: { "retry-after": "Wed, 31 Dec 2025 00:00:10 GMT" } }, 0],
    [{ statusCode: 429, headers: { "retry-after": "soon" } }, undefined],
    [{ statusCode: 400, headers: { "retry-after": "3" } }, undefined],
  ])("reads how long to wait from %o", (thrown, wait) => {
    expect(read(thrown).retryAfterMs).toBe(wait)
  })
})

test("waits double up to a limit, with chance in the second half", () => {
  const policy = { attempts: 9, baseMs: 100, maxMs: 1_000, maxRetryAfterMs: 1 }
  expect([1, 2, 3, 4, 5].map((attempt) => retryDelay(policy, attempt, undefined, 0))).toEqual([50, 100, 200, 400, 500])
  expect(retryDelay(policy, 1, undefined, 1)).toBe(100)
})
