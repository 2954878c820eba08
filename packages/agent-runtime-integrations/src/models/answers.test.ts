/** Every provider over real HTTP: what it says, and what it is sent. */
import type { Message, ModelAnswer } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { type ModelServer, openModelServer } from "../testing/model-server.js"
import { type AskOptions, ask as askProvider, key, prompt, providers } from "../testing/providers.js"

let server: ModelServer
beforeEach(async () => {
  server = await openModelServer()
})
afterEach(() => server.close())

describe.each(providers)("$model", (provider) => {
  const ask = (options: AskOptions = {}, onDelta?: (text: string) => void): Promise<ModelAnswer> =>
    askProvider(provider, { baseUrl: server.url, ...options }, onDelta)

  it("streams a text in the pieces it comes in and counts tokens", async () => {
    server.say({ text: ["Hel", "lo, ", "wörld 🌍"], usage: { input: 120, output: 7 } })
    const deltas: string[] = []
    const answer = await ask({}, (text) => deltas.push(text))
    expect(answer).toEqual({ content: "Hello, wörld 🌍", toolCalls: [], usage: { inputTokens: 120, outputTokens: 7 } })
    expect(deltas).toEqual(["Hel", "lo, ", "wörld 🌍"])
    await expect(server.requests[0]?.ended).resolves.toBe("sent")
  })

  it("sends the key, the system text and the tools' schemas as they are", async () => {
    server.say({ text: "Hi" })
    await ask()
    const { headers, body, problems } = server.requests[0] ?? expect.unreachable()
    expect(problems).toEqual([])
    expect(JSON.stringify(headers)).toContain(key)
    const sent = JSON.stringify(body)
    expect(sent).toContain("You are careful.")
    expect(sent).toContain('"required":["path"]')
    expect(sent).toContain('"list_files"')
  })

  it("takes a slow stream that comes in drops, cut anywhere", async () => {
    const words = Array.from({ length: 8 }, (_, index) => `wörd 🌍${index} `)
    server.say({ text: words, drip: { bytes: 43, everyMs: 3 } })
    const answer = await ask({ idleTimeoutMs: 5_000 })
    expect(answer.content).toBe(words.join(""))
  })

  it("goes the round of a tool call, its arguments cut into deltas", async () => {
    const args = { path: 'a "quoted"\n ü.txt', deep: { list: [1, 2, { three: null }] } }
    server.say({ text: "I look.", calls: [{ name: "read_file", arguments: args, pieces: 5 }] }, { text: "It says hi." })
    const first = await ask()
    expect(first.content).toBe("I look.")
    expect(first.toolCalls).toEqual([{ id: "call_1_0", name: "read_file", arguments: args }])
    const result: Message = { role: "tool", callId: "call_1_0", name: "read_file", content: "hi" }
    const second = await ask({ messages: [...prompt, { role: "assistant", ...first }, result] })
    expect(second).toMatchObject({ content: "It says hi.", toolCalls: [] })
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
    const { toolCalls } = await ask()
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
    expect(await ask({ messages })).toMatchObject({ content: "Done." })
    expect(server.requests[1]?.problems).toEqual([])
    expect(JSON.stringify(server.requests[1]?.body)).toContain("Earlier…")
  })

  it("says when the model ran out of room or a filter stopped it", async () => {
    server.say({ text: "Too lo", stop: "length" }, { text: "No", stop: "filter" }, { text: "All." })
    expect(await ask()).toMatchObject({ content: "Too lo", stoppedBy: "length" })
    expect(await ask()).toMatchObject({ stoppedBy: "filter" })
    expect(await ask()).not.toHaveProperty("stoppedBy")
  })

  it("reckons a cost from given prices, with cached tokens at their own", async () => {
    const usage = { input: 1000, output: 100, cached: 400 }
    server.say({ text: "Hi", usage }, { text: "Hi", usage })
    const exact = await ask({ prices: { input: 3, output: 15, cacheRead: 0.3 } })
    expect(exact.usage).toMatchObject({ inputTokens: 1000, outputTokens: 100 })
    expect(exact.usage?.cost).toBeCloseTo((600 * 3 + 400 * 0.3 + 100 * 15) / 1e6, 10)
    const plain = await ask({ prices: { input: 3, output: 15 } })
    expect(plain.usage?.cost).toBeCloseTo((1000 * 3 + 100 * 15) / 1e6, 10)
  })

  it("hands on arguments that are no JSON, and shows them to the model as an object", async () => {
    server.say({ calls: [{ name: "read_file", argumentText: '{"path": "a' }] }, { text: "Sorry." })
    const { toolCalls } = await ask()
    expect(toolCalls).toMatchObject([{ arguments: '{"path": "a' }])
    const callId = toolCalls[0]?.id ?? ""
    const result: Message = { role: "tool", callId, name: "read_file", content: "no JSON", isError: true }
    await ask({ messages: [...prompt, { role: "assistant", content: "", toolCalls }, result] })
    expect(server.requests[1]?.problems).toEqual([])
  })

  it("gives a call another id when the conversation has it already", async () => {
    server.say({
      calls: [
        { id: "call_1", name: "read_file" },
        { id: "call_9", name: "read_file" },
      ],
    })
    const toolCalls = [{ id: "call_1", name: "read_file", arguments: {} }]
    const result: Message = { role: "tool", callId: "call_1", name: "read_file", content: "x" }
    const answer = await ask({ messages: [...prompt, { role: "assistant", content: "", toolCalls }, result] })
    expect(answer.toolCalls).toMatchObject([{ id: "call_1_2" }, { id: "call_9" }])
  })

  it("limits the answer when told to, and asks without tools when there are none", async () => {
    server.say({ text: "Hi" })
    await ask({ maxOutputTokens: 1234, tools: [] })
    const sent = server.requests[0]?.body ?? {}
    expect(JSON.stringify(sent)).toContain("1234")
    expect(sent).not.toHaveProperty("tools")
  })

  it("takes an answer without a word", async () => {
    server.say({})
    expect(await ask()).toMatchObject({ content: "", toolCalls: [] })
  })
})

describe("Anthropic", () => {
  it("is asked to keep the system text and the conversation for the next turn", async () => {
    server.say({ text: "Hi" })
    await askProvider(providers[0], { baseUrl: server.url })
    const kept = { cache_control: { type: "ephemeral" } }
    expect(server.requests[0]?.body).toMatchObject({ system: [kept], messages: [{ role: "user", content: [kept] }] })
  })
})
