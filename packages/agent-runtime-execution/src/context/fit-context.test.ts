import {
  addMessage,
  KeepupError,
  type Message,
  type Model,
  pairToolCalls,
  visibleMessages,
} from "@ku0/agent-runtime-core"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { call, ids, runLoop, tool } from "../../test/make-loop.js"
import { createMemoryLog } from "../../test/memory-log.js"
import { createScriptedModel } from "../testing/scripted-model.js"
import { estimateTokens, type FitContextOptions, fitContext } from "./fit-context.js"
import { createModelSummariser } from "./summarise-with-model.js"

const user = (content: string): Message => ({ role: "user", content })
const asks = (id: string): Message => ({
  role: "assistant",
  content: "",
  toolCalls: [{ id, name: "look", arguments: {} }],
})
const result = (callId: string): Message => ({ role: "tool", callId, name: "look", content: `result ${callId}` })
const exchanges = (...ids: string[]): Message[] => ids.flatMap((id) => [asks(id), result(id)])

/** Every message counts as ten tokens; nothing is reserved. */
async function fit(
  messages: readonly Message[],
  windowTokens: number,
  more: Partial<FitContextOptions> = {},
): Promise<Message[]> {
  const { signal } = new AbortController()
  const options = { windowTokens, reserveTokens: 0, countTokens: () => 10, ids, signal, ...more }
  return (await fitContext(messages, options)).reduce<Message[]>(addMessage, [...messages])
}

const shown = (messages: readonly Message[]) => visibleMessages(messages).map(({ content, role }) => content || role)

describe("fitContext", () => {
  const long = [user("task"), ...exchanges("1", "2", "3", "4")]

  test("leaves alone what fits", async () => {
    expect(await fit(long, 100)).toEqual(long)
    expect(await fitContext([], { windowTokens: 1, ids, signal: new AbortController().signal })).toEqual([])
  })

  test("hides the older part behind a summary, and keeps the task and the newest", async () => {
    const summarised: (readonly Message[])[] = []
    const summarise = async (messages: readonly Message[]) => {
      summarised.push(messages)
      return " what happened "
    }
    const after = await fit(long, 90, { summarise })
    expect(shown(after)).toEqual(["task", "what happened", "assistant", "result 4"])
    expect(summarised).toEqual([exchanges("1", "2", "3")])
    expect(after.slice(0, -1).map(({ content }) => content)).toEqual(long.map(({ content }) => content))
  })

  test("hides without a summary when there is none to be had, and says why", async () => {
    const cases: [FitContextOptions["summarise"], string][] = [
      [undefined, "[6 earlier messages are hidden to save room]"],
      [async () => " ", "[6 earlier messages are hidden to save room; the summary of them was empty]"],
      [
        () => Promise.reject(new Error("no model")),
        "[6 earlier messages are hidden to save room; a summary could not be made: no model]",
      ],
    ]
    for (const [summarise, said] of cases) {
      const after = await fit(long, 90, summarise === undefined ? {} : { summarise })
      expect(after.at(-1)).toMatchObject({ role: "truncation", content: said, hides: { from: 2, to: 7 } })
      expect(shown(after)).toEqual(["task", said, "assistant", "result 4"])
    }
  })

  test("brings everything back when the summary is cut off", async () => {
    const after = await fit(long, 90)
    expect(shown(after.slice(0, -1))).toEqual(shown(long))
  })

  test("never hides a call without its results, nor the newest exchange", async () => {
    const parallel: Message[] = [
      user("task"),
      {
        role: "assistant",
        content: "",
        toolCalls: ["1", "2", "3"].map((id) => ({ id, name: "look", arguments: {} })),
      },
      ...["1", "2", "3"].map(result),
      ...exchanges("4"),
    ]
    expect(shown(await fit(parallel, 65))).toEqual([
      "task",
      "[4 earlier messages are hidden to save room]",
      "assistant",
      "result 4",
    ])
    expect(await fit([user("task"), ...exchanges("1")], 10)).toHaveLength(3)
    expect(await fit([user("only")], 1)).toHaveLength(1)
  })

  test("keeps the user's newest request word for word when it has to be hidden", async () => {
    const after = await fit([user("first"), ...exchanges("1"), user("do THIS"), ...exchanges("2", "3", "4", "5")], 60)
    expect(after.at(-1)?.content).toMatch(
      /hidden to save room\]\n\nThe user's newest request, word for word:\ndo THIS$/,
    )
    const again = [...after, ...exchanges("6", "7", "8", "9")]
    expect((await fit(again, 60)).at(-1)?.content).toContain("do THIS")
  })

  test("summarises a summary, not what that had hidden", async () => {
    const seen: string[][] = []
    const summarise = async (messages: readonly Message[]) => {
      seen.push(messages.map(({ content, role }) => content || role))
      return `summary ${seen.length}`
    }
    const once = await fit(long, 90, { summarise })
    const twice = await fit([...once, ...exchanges("5", "6", "7", "8")], 90, { summarise })
    expect(seen[1]?.[0]).toBe("summary 1")
    expect(seen[1]).not.toContain("result 1")
    expect(shown(twice)).toContain("summary 2")
    expect(shown(twice)).not.toContain("summary 1")
  })

  test("does nothing when it is cancelled while a summary is made", async () => {
    const controller = new AbortController()
    const summarise = async () => {
      controller.abort()
      throw new Error("aborted")
    }
    expect(await fit(long, 90, { summarise, signal: controller.signal })).toEqual(long)
  })

  test("whatever the history and however often: what is sent is valid, nothing is deleted, and it comes back", async () => {
    const step = fc.oneof(
      fc.constant("user" as const),
      fc.integer({ min: 0, max: 3 }).map((calls) => ({ calls })),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 40 }),
        fc.integer({ min: 20, max: 120 }),
        fc.boolean(),
        async (steps, window, hasSummaries) => {
          let messages: Message[] = []
          let number = 0
          const more = hasSummaries ? { summarise: async () => `S${++number}` } : {}
          for (const one of steps) {
            if (one === "user") messages = addMessage(messages, user(`u${++number}`))
            else {
              messages = await fit(messages, window, more)
              const toolCalls = Array.from({ length: one.calls }, () => ({
                id: `c${++number}`,
                name: "look",
                arguments: {},
              }))
              messages = addMessage(messages, { role: "assistant", content: `a${++number}`, toolCalls })
              for (const { id } of toolCalls) messages = addMessage(messages, result(id))
            }
          }
          const visible = visibleMessages(messages)
          expect(pairToolCalls(visible)).toEqual(visible)
          const firstUser = messages.find(({ role }) => role === "user")
          if (firstUser !== undefined) expect(visible.map(({ content }) => content)).toContain(firstUser.content)
          const newestUser = messages.findLast(({ role }) => role === "user")
          if (newestUser !== undefined) {
            expect(visible.some(({ content }) => content.endsWith(newestUser.content))).toBe(true)
          }
          const plain = messages.filter(({ role }) => role !== "summary" && role !== "truncation")
          const bare = plain.map(({ summaryParent: _s, truncationParent: _t, ...rest }) => rest as Message)
          expect(visibleMessages(plain).map(({ content }) => content)).toEqual(bare.map(({ content }) => content))
        },
      ),
      { numRuns: 200 },
    )
  })
})

describe("in the loop", () => {
  test("the model is sent a short list, and the log keeps everything", async () => {
    const log = createMemoryLog()
    const look = tool("look", () => ({ content: "x".repeat(400) }), { hasEffects: false })
    const answers = [...Array.from({ length: 12 }, () => ({ toolCalls: [call("look")] })), { content: "end" }]
    const model = createScriptedModel({ answers })
    const fitted = { windowTokens: 800, summarise: async () => "so far so good" }
    await runLoop(log, [], { prompt: "the task", tools: [look], model, fitContext: fitted })
    expect(log.state().messages.some(({ role }) => role === "summary")).toBe(true)
    expect(log.state().messages.filter(({ role }) => role === "tool")).toHaveLength(12)
    for (const { messages } of model.requests) {
      expect(messages.reduce((sum, message) => sum + estimateTokens(message), 0)).toBeLessThan(800)
      expect(messages[0]?.content).toBe("the task")
      expect(pairToolCalls(messages)).toEqual(messages)
    }
  })
})

describe("createModelSummariser", () => {
  const { signal } = new AbortController()

  test("sends the messages as text and gives back what the model says", async () => {
    const model = createScriptedModel({
      answers: [
        { content: "short", expect: ["Summarise", "\\[calls look\\] \\{\\}", "\\[result of look\\]\nresult 1"] },
        {},
      ],
    })
    const summarise = createModelSummariser(model)
    expect(await summarise([user("task"), ...exchanges("1")], signal)).toBe("short")
    await expect(summarise([], signal)).rejects.toThrow("empty summary")
  })
})

describe("a model that finds the conversation too long", () => {
  const refuse = () =>
    new KeepupError("INVALID_INPUT", "too long", { details: { retryable: false, contextLengthExceeded: true } })

  /** Takes in so many messages and no more; says what it was sent. */
  function createShortModel(limit: number) {
    const sent: number[] = []
    const model: Model = {
      name: "short",
      async answer({ messages }) {
        sent.push(messages.length)
        if (messages.length > limit) throw refuse()
        return { content: "Done.", toolCalls: [] }
      },
    }
    return { model, sent }
  }

  const look = tool("look", () => ({ content: "x".repeat(400) }), { hasEffects: false })
  const looks = Array.from({ length: 8 }, () => ({ toolCalls: [call("look")] }))

  test("is asked again with a shorter one, nothing is deleted, and the run goes on", async () => {
    const log = createMemoryLog()
    await runLoop(log, looks, { prompt: "go", tools: [look], maxSteps: 8 })
    const before = log.state().messages.length
    const { model, sent } = createShortModel(8)
    expect(await runLoop(log, [], { model, tools: [look] })).toMatchObject({ outcome: "completed", answer: "Done." })
    expect(sent[0]).toBe(before)
    expect(sent.at(-1)).toBeLessThanOrEqual(8)
    const { messages } = log.state()
    expect(messages.filter(({ role }) => role === "tool")).toHaveLength(8)
    expect(messages.some(({ role }) => role === "truncation" || role === "summary")).toBe(true)
    expect(pairToolCalls(visibleMessages(messages))).toEqual(visibleMessages(messages))
  })

  test("ends the turn with its reason when nothing more can be hidden", async () => {
    const { model, sent } = createShortModel(0)
    const result = await runLoop(createMemoryLog(), [], { model, prompt: "go" })
    expect(result).toMatchObject({ outcome: "failed", error: { message: "too long" } })
    expect(sent).toEqual([1])
  })
})
