/** Every provider over real HTTP: what it says, what it is sent, and what becomes of each fault. */
import type { Message, Model, ModelRequest, ToolDescription } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { type Fault, type ModelServer, openModelServer } from "../testing/model-server.js"
import { type CreateModelOptions, createModel } from "./create-model.js"

const key = "key-0123456789abcdef"

const providers = [
  { model: "anthropic/claude-fake", environment: { ANTHROPIC_API_KEY: key }, variable: "ANTHROPIC_API_KEY" },
  { model: "openai/gpt-fake", environment: { OPENAI_API_KEY: key }, variable: "OPENAI_API_KEY" },
  {
    model: "google/gemini-fake",
    environment: { GEMINI_API_KEY: key },
    variable: "GOOGLE_GENERATIVE_AI_API_KEY or GEMINI",
  },
  {
    model: "openai-compatible/fake",
    environment: { OPENAI_COMPATIBLE_API_KEY: key },
    variable: "OPENAI_COMPATIBLE_API",
  },
] as const

const tools: ToolDescription[] = [
  {
    name: "read_file",
    description: "Reads a file.",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  },
  { name: "list.files", description: "Lists files.", parameters: {} },
]
const prompt: Message[] = [
  { role: "system", content: "You are careful." },
  { role: "user", content: "What is in a.txt?" },
]

let server: ModelServer
beforeEach(async () => {
  server = await openModelServer()
})
afterEach(() => server.close())

describe.each(providers)("$model", ({ model: reference, environment, variable }) => {
  const connect = (more: Partial<CreateModelOptions> = {}): Promise<Model> =>
    createModel(reference, { environment, baseUrl: server.url, ...more })

  async function ask(more: Partial<ModelRequest> & Partial<CreateModelOptions> = {}) {
    const deltas: string[] = []
    const model = await connect(more)
    const request = { messages: prompt, tools, signal: new AbortController().signal, ...more }
    const answer = await model.answer(request, (text) => deltas.push(text))
    return { answer, deltas }
  }

  async function failure(fault: Fault, more: Partial<CreateModelOptions> = {}) {
    server.say({ text: ["Half", " an answer"], fault })
    const error = await ask(more).then(
      () => expect.unreachable("it should have failed"),
      (thrown) => thrown,
    )
    expect(JSON.stringify([error.message, error.details, error.hint])).not.toContain(key)
    return error
  }

  it("streams a text in the pieces it comes in and counts tokens", async () => {
    server.say({ text: ["Hel", "lo, ", "wörld 🌍"], usage: { input: 120, output: 7 } })
    const { answer, deltas } = await ask()
    expect(answer).toEqual({ content: "Hello, wörld 🌍", toolCalls: [], usage: { inputTokens: 120, outputTokens: 7 } })
    expect(deltas).toEqual(["Hel", "lo, ", "wörld 🌍"])
    const [request] = server.requests
    expect(request?.problems).toEqual([])
    expect(JSON.stringify(request?.headers)).toContain(key)
    expect(JSON.stringify(request?.body)).toContain("You are careful.")
    expect(JSON.stringify(request?.body)).toContain('"required":["path"]')
    await expect(request?.ended).resolves.toBe("sent")
  })

  it("takes a stream that comes in drops, cut anywhere", async () => {
    server.say({ text: ["wör", "ld 🌍🌍"], drip: { bytes: 11, everyMs: 0 } })
    const { answer } = await ask({ idleTimeoutMs: 5_000 })
    expect(answer.content).toBe("wörld 🌍🌍")
  })

  it("goes the round of a tool call, its arguments cut into deltas", async () => {
    const args = { path: 'a "quoted"\n ü.txt', deep: { list: [1, 2, { three: null }] } }
    server.say({ text: "I look.", calls: [{ name: "read_file", arguments: args, pieces: 5 }] }, { text: "It says hi." })
    const first = (await ask()).answer
    expect(first.content).toBe("I look.")
    expect(first.toolCalls).toEqual([{ id: "call_1_0", name: "read_file", arguments: args }])
    const second = await ask({
      messages: [
        ...prompt,
        { role: "assistant", ...first },
        { role: "tool", callId: "call_1_0", name: "read_file", content: "hi" },
      ],
    })
    expect(second.answer.content).toBe("It says hi.")
    expect(server.requests.map(({ problems }) => problems)).toEqual([[], []])
    expect(JSON.stringify(server.requests[1]?.body)).toContain("call_1_0")
  })

  it("takes parallel calls in their order and sends back all results, whatever stands between", async () => {
    const calls = [
      { name: "read_file", arguments: { path: "a" }, pieces: 3 },
      { name: "list_files", pieces: 2 },
      { name: "read_file", arguments: { path: "b" }, pieces: 2 },
    ]
    server.say({ calls }, { text: "Done." })
    const { toolCalls } = (await ask()).answer
    expect(toolCalls.map((call) => [call.name, call.arguments])).toEqual([
      ["read_file", { path: "a" }],
      ["list.files", {}],
      ["read_file", { path: "b" }],
    ])
    const results = toolCalls.map(
      ({ id, name }): Message => ({ role: "tool", callId: id, name, content: "", isError: true }),
    )
    const [one, two, three] = results as [Message, Message, Message]
    const summary: Message = { role: "summary", content: "Earlier…", summaryId: "s", hides: { from: 1, to: 1 } }
    const messages: Message[] = [...prompt, { role: "assistant", content: "", toolCalls }, two, summary, one, three]
    expect((await ask({ messages })).answer.content).toBe("Done.")
    expect(server.requests[1]?.problems).toEqual([])
  })

  it("says when the model ran out of room or a filter stopped it", async () => {
    server.say({ text: "Too lo", stop: "length" }, { text: "No", stop: "filter" }, { text: "All." })
    expect((await ask()).answer).toMatchObject({ content: "Too lo", stoppedBy: "length" })
    expect((await ask()).answer).toMatchObject({ stoppedBy: "filter" })
    expect((await ask()).answer).not.toHaveProperty("stoppedBy")
  })

  it("reckons a cost from given prices, with cached tokens at their own", async () => {
    server.say({ text: "Hi", usage: { input: 1000, output: 100, cached: 400 } })
    const { answer } = await ask({ prices: { input: 3, output: 15, cacheRead: 0.3 } })
    expect(answer.usage).toMatchObject({ inputTokens: 1000, outputTokens: 100 })
    expect(answer.usage?.cost).toBeCloseTo((600 * 3 + 400 * 0.3 + 100 * 15) / 1e6, 10)
  })

  it.each([
    ["in the middle", 3],
    ["at once", 0],
  ])("says a stream that is cut %s may be asked for again", async (_, after) => {
    const error = await failure({ kind: "cut", after: reference.startsWith("google") ? Math.min(after, 1) : after })
    expect(error).toMatchObject({ code: "UNAVAILABLE", details: { retryable: true } })
    expect(error.message).toMatch(/broke off|can't be reached/)
  })

  it("does not take a stream that ends too early for an answer", async () => {
    const error = await failure({ kind: "end", after: reference.startsWith("google") ? 1 : 3 })
    expect(error).toMatchObject({ code: "UNAVAILABLE", details: { retryable: true } })
  })

  it("does not take an empty stream for an answer", async () => {
    const error = await failure({ kind: "end", after: 0 })
    expect(error).toMatchObject({ code: "UNAVAILABLE", details: { retryable: true } })
    expect(error.message).toContain("answered with nothing")
  })

  it("hands on how long to wait after too many requests, and asks only once", async () => {
    const error = await failure({ kind: "status", status: 429, headers: { "retry-after": "7" }, message: "slow down" })
    expect(error).toMatchObject({ code: "UNAVAILABLE", details: { retryable: true, retryAfterMs: 7000, status: 429 } })
    expect(error.message).toContain("slow down")
    expect(server.requests).toHaveLength(1)
  })

  it.each([500, 503, 529])("says %i may pass", async (status) => {
    const error = await failure({ kind: "status", status })
    expect(error).toMatchObject({ code: "UNAVAILABLE", details: { retryable: true, status } })
    expect(server.requests).toHaveLength(1)
  })

  it.each([401, 403])("names the variable to set after %i", async (status) => {
    const error = await failure({ kind: "status", status, message: `the key ${key} is wrong` })
    expect(error).toMatchObject({ code: "UNAUTHORIZED", details: { retryable: false, status } })
    expect(error.hint).toContain(variable)
  })

  it("says that a model is not there", async () => {
    const error = await failure({ kind: "status", status: 404, message: "no model fake" })
    expect(error).toMatchObject({ code: "NOT_FOUND", details: { retryable: false } })
  })

  it("says that something else is wrong with the request", async () => {
    const error = await failure({ kind: "status", status: 400, message: "temperature must be warm" })
    expect(error).toMatchObject({ code: "INVALID_INPUT", details: { retryable: false, status: 400 } })
    expect(error.details).not.toHaveProperty("contextLengthExceeded")
  })

  it.each([
    [400, "prompt is too long: 212345 tokens > 200000 maximum"],
    [400, "This model's maximum context length is 8192 tokens."],
    [400, "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)."],
    [400, "Your input exceeds the context window of this model."],
    [413, "Request exceeds the maximum size"],
  ])("recognises a conversation that is too long: %i %s", async (status, message) => {
    const error = await failure({ kind: "status", status, message })
    expect(error).toMatchObject({ code: "INVALID_INPUT", details: { retryable: false, contextLengthExceeded: true } })
  })

  it("survives a refusal that is a page", async () => {
    const error = await failure({ kind: "status", status: 502, body: "<html>Bad gateway</html>" })
    expect(error).toMatchObject({ code: "UNAVAILABLE", details: { retryable: true, status: 502 } })
  })

  it.each([
    ["a page", "text/html", "<!doctype html><title>Welcome</title>"],
    ["JSON", "application/json", '{"object":"chat.completion"}'],
    ["rubbish as a stream", "text/event-stream", "\u0000\u0001 rubbish \u0002"],
    ["a word", "text/plain", "ok"],
  ])("shows what came when it is no stream: %s", async (_, type, text) => {
    const error = await failure({ kind: "body", type, text })
    expect(error).toMatchObject({ code: "UNAVAILABLE", details: { retryable: false } })
    expect(error.message).toContain(type)
    expect(error.hint).toContain(server.url)
  })

  it.each([
    ["broken JSON at the start", 0, 'data: {"type":"messa\n\n'],
    ["broken JSON in the middle", 2, "data: {{{{\n\n"],
    ["JSON of another shape", 1, 'data: {"choices":"none","candidates":7,"type":5}\n\n'],
  ])("says that it can't understand the stream: %s", async (_, after, text) => {
    const error = await failure({ kind: "insert", after, text })
    expect(error).toMatchObject({ code: "UNAVAILABLE", details: { retryable: true } })
    expect(error.message).toContain("can't be understood")
  })

  it.each([
    ["before the head", undefined],
    ["in the middle of the answer", 1],
  ])("gives up on silence %s and closes the connection", async (_, after) => {
    const fault: Fault = after === undefined ? { kind: "silence" } : { kind: "silence", after }
    const error = await failure(fault, { idleTimeoutMs: 60 })
    expect(error).toMatchObject({ code: "UNAVAILABLE", details: { retryable: true } })
    expect(error.message).toContain("sent nothing for 0.06 s")
    await expect(server.requests[0]?.ended).resolves.toBe("broken")
  })

  it.each([0, 2])("passes on an error the service reports after %i frames", async (after) => {
    const error = await failure({ kind: "error", after, type: "overloaded_error", message: "Overloaded, sorry" })
    expect(error).toMatchObject({ code: "UNAVAILABLE", details: { retryable: true } })
    expect(error.message).toContain("Overloaded, sorry")
  })

  it("stops in the middle of a stream when it is told to, and closes the connection", async () => {
    server.say({ text: ["Once", " upon"], fault: { kind: "silence", after: reference.startsWith("google") ? 1 : 4 } })
    const controller = new AbortController()
    const model = await connect()
    const request = { messages: prompt, tools, signal: controller.signal }
    const error = await model.answer(request, () => controller.abort()).catch((thrown) => thrown)
    expect(error).toMatchObject({ code: "CANCELLED" })
    await expect(server.requests[0]?.ended).resolves.toBe("broken")
  })

  it("stops while it waits for the head, and sends nothing when it is stopped already", async () => {
    server.say({ fault: { kind: "silence" } })
    const controller = new AbortController()
    setTimeout(() => controller.abort(new Error("enough")), 30)
    await expect(ask({ signal: controller.signal })).rejects.toMatchObject({ code: "CANCELLED" })
    await expect(ask({ signal: controller.signal })).rejects.toMatchObject({ code: "CANCELLED" })
    expect(server.requests).toHaveLength(1)
  })

  it("says where it could not connect", async () => {
    const other = await openModelServer()
    await other.close()
    const error = await ask({ baseUrl: other.url }).catch((thrown) => thrown)
    expect(error).toMatchObject({ code: "UNAVAILABLE", details: { retryable: true } })
    expect(error.message).toContain(`${other.url}`)
    expect(error.message).toContain("ECONNREFUSED")
  })

  it("does not follow the service elsewhere", async () => {
    const error = await failure({ kind: "status", status: 307, headers: { location: "http://127.0.0.1:9/v1" } })
    expect(error).toMatchObject({ code: "INVALID_INPUT", details: { retryable: false } })
    expect(error.message).toContain("http://127.0.0.1:9/v1")
  })

  it("hands on arguments that are no JSON, and shows them to the model as an object", async () => {
    server.say({ calls: [{ name: "read_file", argumentText: '{"path": "a' }] }, { text: "Sorry." })
    const { toolCalls } = (await ask()).answer
    expect(toolCalls).toMatchObject([{ arguments: '{"path": "a' }])
    const id = toolCalls[0]?.id ?? ""
    const result: Message = { role: "tool", callId: id, name: "read_file", content: "no JSON", isError: true }
    await ask({ messages: [...prompt, { role: "assistant", content: "", toolCalls }, result] })
    expect(server.requests[1]?.problems).toEqual([])
  })

  it("gives a call another id when the conversation has it already", async () => {
    server.say({ calls: [{ id: "call_1", name: "read_file" }] })
    const toolCalls = [{ id: "call_1", name: "read_file", arguments: {} }]
    const result: Message = { role: "tool", callId: "call_1", name: "read_file", content: "x" }
    const { answer } = await ask({ messages: [...prompt, { role: "assistant", content: "", toolCalls }, result] })
    expect(answer.toolCalls).toMatchObject([{ id: "call_1_2" }])
  })
})
