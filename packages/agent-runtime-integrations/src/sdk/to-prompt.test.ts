import type { Message } from "@ku0/agent-runtime-core"
import { describe, expect, it } from "vitest"
import { toPrompt } from "./to-prompt.js"
import { createToolNames } from "./tool-names.js"

const names = createToolNames([])
const hides = { from: 1, to: 1 }
const call = (id: string, args: unknown = {}) => ({ id, name: "read", arguments: args })
const result = (callId: string, content: string, isError = false): Message => ({
  role: "tool",
  callId,
  name: "read",
  content,
  isError,
})
const user = (content: string): Message => ({ role: "user", content })
const said = (text: string) => ({ type: "text", text })
const called = (toolCallId: string, input: unknown = {}) => ({ type: "tool-call", toolCallId, toolName: "read", input })
const answered = (toolCallId: string, value: string, type = "text") => ({
  type: "tool-result",
  toolCallId,
  toolName: "read",
  output: { type, value },
})

describe("toPrompt", () => {
  it("puts results behind their calls, in the order of the calls, and what stood between after them", () => {
    const messages: Message[] = [
      { role: "system", content: "One." },
      { role: "system", content: "Two." },
      user("Read both."),
      { role: "assistant", content: "Yes.", toolCalls: [call("1"), call("2")] },
      { role: "summary", content: "Short.", summaryId: "s", hides },
      result("2", "two", true),
      user("And?"),
      result("1", ""),
    ]
    expect(toPrompt(messages, names)).toEqual([
      { role: "system", content: "One.\n\nTwo." },
      { role: "user", content: [said("Read both.")] },
      { role: "assistant", content: [said("Yes."), called("1"), called("2")] },
      { role: "tool", content: [answered("1", "(no output)"), answered("2", "two", "error-text")] },
      { role: "user", content: [said("Summary of the conversation so far:\nShort.\n\nAnd?")] },
    ])
  })

  it("gives each of two calls with the same id its own result and an id of its own", () => {
    const messages: Message[] = [
      user("Go."),
      { role: "assistant", content: "", toolCalls: [call("1", { n: 1 })] },
      result("1", "first"),
      { role: "assistant", content: "", toolCalls: [call("1", { n: 2 })] },
      result("1", "second"),
    ]
    expect(toPrompt(messages, names).slice(1)).toEqual([
      { role: "assistant", content: [called("1", { n: 1 })] },
      { role: "tool", content: [answered("1", "first")] },
      { role: "assistant", content: [called("1_2", { n: 2 })] },
      { role: "tool", content: [answered("1_2", "second")] },
    ])
  })

  it("leaves out calls without a result, results without a call, and what is empty", () => {
    const messages: Message[] = [
      user("Go."),
      user(" \n"),
      { role: "assistant", content: "", toolCalls: [call("lost")] },
      result("stray", "x"),
      { role: "assistant", content: "\t" },
      user("Still there?"),
    ]
    expect(toPrompt(messages, names)).toEqual([{ role: "user", content: [said("Go.\n\nStill there?")] }])
  })

  it("begins with a user and does not end with the assistant", () => {
    expect(
      toPrompt(
        [
          { role: "assistant", content: "a" },
          { role: "assistant", content: "b" },
        ],
        names,
      ),
    ).toEqual([
      { role: "user", content: [said("(The conversation before this point is not shown.)")] },
      { role: "assistant", content: [said("a\n\nb")] },
      { role: "user", content: [said("Go on.")] },
    ])
  })

  it("turns later system messages and truncations into notes where they stand", () => {
    const messages: Message[] = [
      user("Go."),
      { role: "system", content: "Hurry." },
      { role: "system", content: "" },
      { role: "truncation", content: "12 messages.", truncationId: "t", hides },
    ]
    const note = "Go.\n\nNote of the system: Hurry.\n\n(Earlier messages were left out to save room. 12 messages.)"
    expect(toPrompt(messages, names)).toEqual([{ role: "user", content: [said(note)] }])
  })

  it("shows arguments that are no object under a name, and none as an empty object", () => {
    const toolCalls = [
      call("1", "text"),
      call("2", [1]),
      call("3", null),
      call("4", undefined),
      call("5", { a: "\ud83d" }),
    ]
    const results = toolCalls.map(({ id }) => result(id, "x"))
    const assistant = toPrompt([user("Go."), { role: "assistant", content: "", toolCalls }, ...results], names)[1]
    expect(assistant?.content).toMatchObject([
      { input: { arguments: "text" } },
      { input: { arguments: [1] } },
      { input: {} },
      { input: {} },
      { input: { a: "\u{fffd}" } },
    ])
  })

  it("gets through a conversation whose length squared would take longer than a test may", () => {
    const round = (index: number): Message[] => [
      user(`Question ${index}`),
      { role: "assistant", content: "", toolCalls: [call("same")] },
      result("same", "x"),
    ]
    const messages = Array.from({ length: 20_000 }, (_, index) => round(index)).flat()
    expect(toPrompt(messages, names)).toHaveLength(60_000)
  })
})
