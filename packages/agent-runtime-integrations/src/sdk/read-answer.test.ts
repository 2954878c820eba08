import type { LanguageModelV3StreamPart, LanguageModelV3Usage } from "@ai-sdk/provider"
import { describe, expect, it } from "vitest"
import { readAnswer } from "./read-answer.js"
import { createToolNames, createUniqueNames } from "./tool-names.js"

const unknown = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined }
const usage: LanguageModelV3Usage = {
  inputTokens: unknown,
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
}
const finish: LanguageModelV3StreamPart = { type: "finish", usage, finishReason: { unified: "stop", raw: "stop" } }

const options = (deltas: string[]) => ({
  model: "x/y",
  names: createToolNames([]),
  callId: createUniqueNames("call"),
  prices: { input: 1, output: 1 },
  onDelta: (text: string) => void deltas.push(text),
})

async function read(...parts: LanguageModelV3StreamPart[]) {
  const deltas: string[] = []
  return { answer: await readAnswer(ReadableStream.from(parts), options(deltas)), deltas }
}

const say = (id: string, delta: string): LanguageModelV3StreamPart => ({ type: "text-delta", id, delta })

describe("readAnswer", () => {
  it("keeps blocks of text apart, in the deltas as in the answer", async () => {
    const { answer, deltas } = await read(
      say("0", "I look."),
      say("1", "Found"),
      say("1", " it.\n"),
      say("2", "End."),
      finish,
    )
    expect(answer.content).toBe("I look.\n\nFound it.\nEnd.")
    expect(deltas.join("")).toBe(answer.content)
  })

  it("leaves out thoughts, empty deltas and tools the service ran itself", async () => {
    const foreign: LanguageModelV3StreamPart = {
      type: "tool-call",
      toolCallId: "1",
      toolName: "web_search",
      input: "{}",
      providerExecuted: true,
    }
    const thought: LanguageModelV3StreamPart = { type: "reasoning-delta", id: "r", delta: "hmm" }
    const { answer, deltas } = await read(say("0", ""), thought, foreign, say("0", "Yes."), finish)
    expect(answer).toEqual({ content: "Yes.", toolCalls: [] })
    expect(deltas).toEqual(["Yes."])
  })

  it("gives calls without an id, or with the same one, ids of their own, and no arguments as none", async () => {
    const call = (toolCallId: string): LanguageModelV3StreamPart => ({
      type: "tool-call",
      toolCallId,
      toolName: "a",
      input: " ",
    })
    const { answer } = await read(call(""), call("1"), call("1"), finish)
    expect(answer.toolCalls).toEqual(["call", "1", "1_2"].map((id) => ({ id, name: "a", arguments: {} })))
  })

  it("makes up neither tokens nor a cost", async () => {
    expect((await read(finish)).answer).not.toHaveProperty("usage")
    const half = { ...usage, inputTokens: { ...unknown, total: 7 } }
    const { answer } = await read({ ...finish, usage: half } as LanguageModelV3StreamPart)
    expect(answer.usage).toEqual({ inputTokens: 7 })
  })

  it.each([undefined, { unified: "other", raw: undefined }, { unified: "error", raw: "x" }] as const)(
    "refuses an answer that ends with %j",
    async (finishReason) => {
      const end = finishReason === undefined ? [] : [{ type: "finish" as const, usage, finishReason }]
      await expect(read(say("0", "Ha"), ...end)).rejects.toMatchObject({
        code: "UNAVAILABLE",
        details: { retryable: true },
      })
    },
  )

  it("closes a stream that reports an error and goes on", async () => {
    const error = { type: "overloaded_error" }
    let isCancelled = false
    const stream = new ReadableStream<LanguageModelV3StreamPart>({
      start: (controller) => controller.enqueue({ type: "error", error }),
      cancel: () => {
        isCancelled = true
      },
    })
    await expect(readAnswer(stream, options([]))).rejects.toBe(error)
    expect(isCancelled).toBe(true)
  })

  it("takes a reason it does not know for an end", async () => {
    const end = { type: "finish" as const, usage, finishReason: { unified: "other" as const, raw: "pause_turn" } }
    expect((await read(say("0", "Ha"), end)).answer.content).toBe("Ha")
  })
})
