import { APICallError } from "@ai-sdk/provider"
import { KeepupError } from "@ku0/agent-runtime-core"
import { describe, expect, it } from "vitest"
import { toModelError } from "./to-model-error.js"

const service = { model: "x/y", baseUrl: "http://box/v1", keyVariables: ["X_KEY"], key: "secret-key" }
const now = Date.parse("2026-01-01T00:00:00Z")

function refuse(statusCode: number | undefined, body: unknown, responseHeaders: Record<string, string> = {}) {
  const responseBody = typeof body === "string" ? body : JSON.stringify(body)
  const call = { url: "http://box", requestBodyValues: { prompt: "private" }, responseHeaders, responseBody }
  const status = statusCode === undefined ? {} : { statusCode }
  return toModelError(new APICallError({ message: "said", ...call, ...status }), service, now)
}

describe("toModelError", () => {
  it.each([
    [{ "retry-after": "1.5" }, 1500],
    [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, 30_000],
    [{ "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, 0],
  ])("reads how long to wait from %j", (headers, retryAfterMs) => {
    expect(refuse(429, "", headers).details).toEqual({ retryable: true, status: 429, retryAfterMs })
  })

  it.each([{}, { "retry-after": "soon" }, { "retry-after": "-1" }, { "retry-after": "" }])(
    "does not make up a time from %j",
    (headers) => {
      expect(refuse(503, "", headers).details).toEqual({ retryable: true, status: 503 })
    },
  )

  it("reads how long to wait from what Google writes into the body", () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.5s" }]
    expect(refuse(429, { error: { details } }).details).toMatchObject({ retryAfterMs: 34_500 })
  })

  it.each([
    [429, { error: { code: "insufficient_quota" } }],
    [400, { error: { message: "Your credit balance is too low" } }],
    [402, ""],
  ])("knows that waiting does not help without credit: %i %j", (status, body) => {
    expect(refuse(status, body)).toMatchObject({ code: "UNAVAILABLE", details: { retryable: false, status } })
  })

  it("knows that Google refuses a wrong key with 400", () => {
    expect(refuse(400, { error: { details: [{ reason: "API_KEY_INVALID" }] } })).toMatchObject({
      code: "UNAUTHORIZED",
      hint: "Set X_KEY to a key that is valid.",
    })
  })

  it.each([
    [{ type: "overloaded_error", message: "m" }, "UNAVAILABLE", 529],
    [{ type: "rate_limit_error", message: "m" }, "UNAVAILABLE", 429],
    [{ type: "authentication_error", message: "m" }, "UNAUTHORIZED", 401],
    [{ type: "invalid_request_error", code: "context_length_exceeded", message: "m" }, "INVALID_INPUT", 400],
    [{ code: 404, message: "m" }, "NOT_FOUND", 404],
    [{ code: "429", message: "m" }, "UNAVAILABLE", 429],
    [{ statusCode: 503, message: "m" }, "UNAVAILABLE", 503],
    [{ message: "m" }, "UNAVAILABLE", 500],
    [{}, "UNAVAILABLE", 500],
    ["m", "UNAVAILABLE", 500],
  ])("understands an error in the middle of a stream: %j", (thrown, code, status) => {
    expect(toModelError(thrown, service, now)).toMatchObject({ code, details: { status } })
    expect(refuse(500, thrown)).toMatchObject({ code, details: { status } })
    expect(refuse(undefined, thrown)).toMatchObject({ code, details: { status } })
  })

  it("finds our own error inside the SDK's", () => {
    const own = new KeepupError("UNAVAILABLE", "silent")
    const call = { message: "failed", url: "", requestBodyValues: {}, cause: new Error("middle", { cause: own }) }
    expect(toModelError(new APICallError(call), service, now)).toBe(own)
  })

  it("calls what nobody foresaw a bug, without the prompt and the key", () => {
    const error = Object.assign(new Error("oh secret-key"), { name: "AI_SomethingError", prompt: "private" })
    const shown = toModelError(error, service, now)
    expect(shown).toMatchObject({ code: "INTERNAL", message: "oh …" })
    expect(shown.cause).not.toHaveProperty("prompt")
    expect(toModelError(undefined, service, now).code).toBe("INTERNAL")
  })

  it("keeps what a service says short and on one line", () => {
    const call = { url: "", requestBodyValues: {}, statusCode: 400 }
    const { message } = toModelError(new APICallError({ message: `a\n${"b".repeat(999)}`, ...call }), service, now)
    expect(message).toMatch(/^x\/y refused: a b+… \(HTTP 400\)$/)
    expect(message.length).toBeLessThan(340)
    expect(toModelError(new APICallError({ message: "", ...call }), service, now).message).toContain("no reason given")
  })
})
