/** Every provider over real HTTP: what becomes of each fault. */
import { inspect } from "node:util"
import type { KeepupError, ModelAnswer } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { type Fault, type ModelServer, openModelServer } from "../testing/model-server.js"
import { type AskOptions, ask as askProvider, key, providers } from "../testing/providers.js"

const maySucceedLater = { code: "UNAVAILABLE", details: { retryable: true } }

let server: ModelServer
beforeEach(async () => {
  server = await openModelServer()
})
afterEach(() => server.close())

describe.each(providers)("$model", (provider) => {
  const ask = (options: AskOptions = {}, onDelta?: (text: string) => void): Promise<ModelAnswer> =>
    askProvider(provider, { baseUrl: server.url, ...options }, onDelta)

  async function fail(fault: Fault | undefined, options: AskOptions = {}): Promise<KeepupError> {
    if (fault !== undefined) server.say({ text: ["Half", " an answer"], fault })
    const error = await ask(options).then(
      () => expect.unreachable("it should have failed"),
      (thrown) => thrown,
    )
    const shown = inspect(error, { depth: 10 })
    expect(shown).not.toContain(key)
    expect(shown).not.toContain("What is in a.txt?")
    return error
  }

  it.each([
    ["in the middle", provider.opening],
    ["at once", 0],
  ])("says an answer that is cut off %s may be asked for again", async (_, after) => {
    const error = await fail({ kind: "cut", after })
    expect(error).toMatchObject(maySucceedLater)
    expect(error.message).toMatch(/broke off|can't be reached/)
  })

  it("does not take a stream that ends too early for an answer", async () => {
    expect(await fail({ kind: "end", after: provider.opening })).toMatchObject(maySucceedLater)
  })

  it("does not take an empty stream for an answer", async () => {
    const error = await fail({ kind: "end", after: 0 })
    expect(error).toMatchObject(maySucceedLater)
    expect(error.message).toContain("answered with nothing")
  })

  it("hands on how long to wait after too many requests, and asks only once", async () => {
    const error = await fail({ kind: "status", status: 429, headers: { "retry-after": "7" }, message: "slow down" })
    expect(error).toMatchObject({ code: "UNAVAILABLE", details: { retryable: true, retryAfterMs: 7000, status: 429 } })
    expect(error.message).toContain("slow down")
    expect(server.requests).toHaveLength(1)
  })

  it.each([500, 503, 529])("says %i may pass, and asks only once", async (status) => {
    expect(await fail({ kind: "status", status })).toMatchObject({
      code: "UNAVAILABLE",
      details: { retryable: true, status },
    })
    expect(server.requests).toHaveLength(1)
  })

  it.each([401, 403])("names the variable to set after %i, and not what was in it", async (status) => {
    const error = await fail({ kind: "status", status, message: `the key ${key} is wrong` })
    expect(error).toMatchObject({ code: "UNAUTHORIZED", details: { retryable: false, status } })
    expect(error.hint).toContain(provider.variables.join(" or "))
  })

  it("says that a model is not there", async () => {
    const error = await fail({ kind: "status", status: 404, message: "no model fake" })
    expect(error).toMatchObject({ code: "NOT_FOUND", details: { retryable: false } })
  })

  it("says that something else is wrong with the request", async () => {
    const error = await fail({ kind: "status", status: 400, message: "temperature must be warm" })
    expect(error).toMatchObject({ code: "INVALID_INPUT", details: { retryable: false, status: 400 } })
    expect(error.details).not.toHaveProperty("contextLengthExceeded")
  })

  it.each([
    [400, "prompt is too long: 212345 tokens > 200000 maximum"],
    [400, "This model's maximum context length is 8192 tokens."],
    [400, "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)."],
    [400, "Your input exceeds the context window of this model."],
    [400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"],
    [400, "the request exceeds the available context size, try increasing it"],
    [413, "Request exceeds the maximum size"],
  ])("recognises a conversation that is too long: %i %s", async (status, message) => {
    const error = await fail({ kind: "status", status, message })
    expect(error).toMatchObject({ code: "INVALID_INPUT", details: { retryable: false, contextLengthExceeded: true } })
  })

  it("survives a refusal that is a page", async () => {
    const error = await fail({ kind: "status", status: 502, body: "<html>Bad gateway</html>" })
    expect(error).toMatchObject({ code: "UNAVAILABLE", details: { retryable: true, status: 502 } })
  })

  it.each([
    ["a page", "text/html", "<!doctype html><title>Welcome</title>"],
    ["JSON", "application/json", '{"object":"chat.completion"}'],
    ["rubbish as a stream", "text/event-stream", "\u0000\u0001 rubbish \u0002"],
    ["a word", "text/plain", "ok"],
  ])("shows what came when it is no stream: %s", async (_, type, text) => {
    const error = await fail({ kind: "body", type, text })
    expect(error).toMatchObject({ code: "UNAVAILABLE", details: { retryable: false } })
    expect(error.message).toContain(type)
    expect(error.hint).toContain(server.url)
  })

  it.each([
    ["broken JSON at the start", 0, 'data: {"type":"messa\n\n'],
    ["broken JSON in the middle", provider.opening, "data: {{{{\n\n"],
    ["JSON of another shape", 1, 'data: {"choices":"none","candidates":7,"type":5}\n\n'],
  ])("says that it can't understand the stream: %s", async (_, after, text) => {
    const error = await fail({ kind: "insert", after, text })
    expect(error).toMatchObject(maySucceedLater)
    expect(error.message).toContain("can't be understood")
  })

  it.each([
    ["before the head", undefined],
    ["before the first word", 0],
    ["in the middle of the answer", provider.opening],
  ])("gives up on silence %s and closes the connection", async (_, after) => {
    const fault: Fault = after === undefined ? { kind: "silence" } : { kind: "silence", after }
    const error = await fail(fault, { idleTimeoutMs: 60 })
    expect(error).toMatchObject(maySucceedLater)
    expect(error.message).toContain("sent nothing for 0.06 s")
    await expect(server.requests[0]?.ended).resolves.toBe("broken")
  })

  it.each([0, provider.opening])("passes on an error the service reports after %i frames", async (after) => {
    const error = await fail({ kind: "error", after, type: "overloaded_error", message: "Overloaded, sorry" })
    expect(error).toMatchObject(maySucceedLater)
    expect(error.message).toContain("Overloaded, sorry")
  })

  it("stops in the middle of a stream when it is told to, and closes the connection", async () => {
    server.say({ text: ["Once", " upon"], fault: { kind: "silence", after: provider.opening } })
    const controller = new AbortController()
    const stopped = ask({ signal: controller.signal }, () => controller.abort())
    await expect(stopped).rejects.toMatchObject({ code: "CANCELLED" })
    await expect(server.requests[0]?.ended).resolves.toBe("broken")
  })

  it("stops while it waits for the head, and sends nothing when it is stopped already", async () => {
    server.say({ fault: { kind: "silence" } })
    const controller = new AbortController()
    const stopped = ask({ signal: controller.signal })
    while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve))
    controller.abort(new Error("enough"))
    await expect(stopped).rejects.toMatchObject({ code: "CANCELLED" })
    await expect(server.requests[0]?.ended).resolves.toBe("broken")
    await expect(ask({ signal: controller.signal })).rejects.toMatchObject({ code: "CANCELLED" })
    expect(server.requests).toHaveLength(1)
  })

  it("says where it could not connect", async () => {
    const other = await openModelServer()
    await other.close()
    const error = await fail(undefined, { baseUrl: other.url })
    expect(error).toMatchObject(maySucceedLater)
    expect(error.message).toContain(other.url)
    expect(error.message).toContain("ECONNREFUSED")
  })

  it("does not follow the service elsewhere", async () => {
    const error = await fail({ kind: "status", status: 307, headers: { location: "http://127.0.0.1:9/v1" } })
    expect(error).toMatchObject({ code: "INVALID_INPUT", details: { retryable: false } })
    expect(error.message).toContain("http://127.0.0.1:9/v1")
  })

  it("sends nothing when there is nothing to answer", async () => {
    const error = await fail(undefined, { messages: [{ role: "system", content: "Be good." }] })
    expect(error).toMatchObject({ code: "INVALID_INPUT", details: { retryable: false } })
    expect(server.requests).toEqual([])
  })
})
