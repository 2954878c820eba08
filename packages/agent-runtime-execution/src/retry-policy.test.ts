import { KeepupError } from "@ku0/agent-runtime-core"
import { expect, it } from "vitest"
import { defaultRetryPolicy, readModelFailure, retryDelay } from "./retry-policy.js"

const failure = (details: Record<string, unknown>) =>
  readModelFailure(new KeepupError("UNAVAILABLE", "The service said no.", { details }), 0).isRetryable

it("takes the word of the adapter that knows the service", () => {
  expect(failure({ status: 429, retryable: false })).toBe(false)
  expect(failure({ status: 400, retryable: true })).toBe(true)
})

it("judges by the status where nobody said anything, and by the code where there is none", () => {
  expect(failure({ status: 429 })).toBe(true)
  expect(failure({ status: 400 })).toBe(false)
  expect(failure({})).toBe(true)
  expect(readModelFailure(Object.assign(new Error("gone"), { code: "ECONNRESET" }), 0).isRetryable).toBe(true)
  expect(readModelFailure(new Error("nonsense"), 0).isRetryable).toBe(false)
})

it("waits as long as the service asked, else twice as long each time, up to a limit", () => {
  expect(retryDelay(defaultRetryPolicy, 3, 1_234, 0.5)).toBe(1_234)
  expect([1, 2, 3].map((attempt) => retryDelay(defaultRetryPolicy, attempt, undefined, 1))).toEqual([
    1_000, 2_000, 4_000,
  ])
  expect(retryDelay(defaultRetryPolicy, 50, undefined, 0)).toBe(30_000)
})
