import { describe, expect, test } from "vitest"
import { addMessage, type Message, pairToolCalls, tagHidden, visibleMessages } from "./messages.js"

const user = (content: string): Message => ({ role: "user", content })
const calls = (content: string, ...ids: string[]): Message => ({
  role: "assistant",
  content,
  toolCalls: ids.map((id) => ({ id, name: "read", arguments: {} })),
})
const result = (callId: string): Message => ({ role: "tool", callId, name: "read", content: `result of ${callId}` })
const summary = (summaryId: string, from: number, to: number): Message => ({
  role: "summary",
  content: summaryId,
  summaryId,
  hides: { from, to },
})
const truncation = (truncationId: string, from: number, to: number): Message => ({
  role: "truncation",
  content: truncationId,
  truncationId,
  hides: { from, to },
})

function listOf(...messages: Message[]): Message[] {
  return messages.reduce<Message[]>(addMessage, [])
}

/** What is seen, in short. */
function seen(messages: readonly Message[]): string[] {
  return visibleMessages(messages).map((message) => message.content)
}

describe("addMessage", () => {
  test("leaves the given list alone and shares what it does not tag", () => {
    const before = Object.freeze([user("a"), user("b")]) as Message[]
    const after = addMessage(before, summary("S", 1, 1))
    expect(before).toEqual([user("a"), user("b")])
    expect(after).toHaveLength(3)
    expect(after[0]).toEqual({ role: "user", content: "a", summaryParent: "S" })
    expect(after[1]).toBe(before[1])
  })
})

describe("tagHidden", () => {
  test("does nothing for a message that hides nothing", () => {
    const messages = [user("a")]
    tagHidden(messages, user("b"))
    expect(messages).toEqual([user("a")])
  })

  test("gives a message that a truncation hid also to a later summary, so that either of them can go", () => {
    const messages = listOf(user("a"), truncation("T", 1, 1), summary("S", 1, 2))
    expect(messages[0]).toMatchObject({ truncationParent: "T", summaryParent: "S" })
    expect(messages[1]).toMatchObject({ summaryParent: "S" })
  })

  test("does not hide for a second time what a summary hides already", () => {
    const messages = listOf(user("a"), summary("S", 1, 1), truncation("T", 1, 2), summary("S2", 1, 3))
    expect(messages[0]).toEqual({ ...user("a"), summaryParent: "S" })
    expect(messages[1]).toMatchObject({ truncationParent: "T", summaryParent: "S2" })
  })

  test.each([
    ["backwards", 3, 1],
    ["before the start", -5, 0],
    ["past the end", 9, 20],
    ["not a number", Number.NaN, Number.NaN],
    ["without end", Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
    ["in parts", 1.5, 2.5],
  ])("takes a range that is %s, and the summary is still seen", (_, from, to) => {
    for (const hider of [summary("S", from, to), truncation("S", from, to)]) {
      const messages = listOf(user("a"), user("b"), user("c"), hider)
      expect(seen(messages)).toContain("S")
      expect(seen(messages)).toEqual(seen(visibleMessages(messages)))
    }
  })

  test("hides whole messages only when a range is in parts", () => {
    expect(seen(listOf(user("a"), user("b"), user("c"), summary("S", 1.5, 2.5)))).toEqual(["a", "S", "c"])
  })
})

describe("visibleMessages", () => {
  test("puts a summary where the first message it hides stood", () => {
    expect(seen(listOf(user("a"), user("b"), user("c"), user("d"), summary("S", 2, 3)))).toEqual(["a", "S", "d"])
  })

  test("shows only the outer one of nested summaries, where the inner one stood", () => {
    const messages = listOf(user("a"), user("b"), user("c"), summary("S1", 1, 2), user("d"), summary("S2", 4, 4))
    expect(seen(messages)).toEqual(["S2", "c", "d"])
    expect(seen(listOf(...messages, summary("S3", 1, 6)))).toEqual(["S3"])
  })

  test("brings hidden messages back step by step as what hides them is cut off", () => {
    const messages = listOf(user("a"), user("b"), summary("S1", 1, 2), user("c"), summary("S2", 1, 4), user("d"))
    expect(seen(messages)).toEqual(["S2", "d"])
    expect(seen(messages.slice(0, 4))).toEqual(["S1", "c"])
    expect(seen(messages.slice(0, 2))).toEqual(["a", "b"])
  })

  test("brings back what a truncation hid once the truncation is gone", () => {
    const messages = listOf(user("a"), user("b"), user("c"), truncation("T", 2, 2), user("d"))
    expect(seen(messages)).toEqual(["a", "T", "c", "d"])
    expect(seen(messages.filter((message) => message.role !== "truncation"))).toEqual(["a", "b", "c", "d"])
  })

  test("keeps messages hidden when their summary is itself hidden", () => {
    expect(seen(listOf(user("a"), summary("S", 1, 1), user("b"), truncation("T", 2, 2)))).toEqual(["T", "b"])
  })

  test("hides with a new summary what an old one hid before it was cut off", () => {
    const cut = listOf(user("a"), user("b"), summary("S1", 1, 2)).slice(0, 2)
    expect(seen(addMessage(cut, summary("S2", 1, 2)))).toEqual(["S2"])
    expect(seen(addMessage(cut, truncation("T", 1, 2)))).toEqual(["T"])
  })

  test("does not confuse a summary and a truncation that have the same id", () => {
    const messages = listOf(user("a"), user("b"), summary("X", 1, 1), truncation("X", 2, 2))
    expect(seen(messages.slice(0, 3))).toEqual(["X", "b"])
    expect(seen(messages.filter((message) => message.role !== "summary"))).toEqual(["a", "X"])
  })

  test("never loses everything to foreign tags that hide each other in a circle", () => {
    const messages: Message[] = [
      { ...summary("S1", 0, 0), summaryParent: "S2" },
      { ...summary("S2", 0, 0), summaryParent: "S1" },
      { ...summary("S3", 0, 0), summaryParent: "S3" },
    ]
    expect(seen(messages)).toEqual(["S2", "S3"])
  })

  test("leaves messages with a tag that names nothing in the list visible", () => {
    expect(seen([{ role: "user", content: "a", summaryParent: "gone", truncationParent: "gone" }])).toEqual(["a"])
  })

  test("does not take a text that only mentions truncation for a marker", () => {
    expect(seen(listOf(user("what does [truncated] mean?"), user("[Conversation Summary]")))).toHaveLength(2)
  })

  test("leaves out a result whose call a summary hides, and the call of a hidden result", () => {
    const hidesCall = listOf(user("a"), calls("look", "c1"), result("c1"), user("b"), summary("S", 1, 2))
    expect(seen(hidesCall)).toEqual(["S", "b"])
    const hidesResult = listOf(calls("look", "c1"), result("c1"), user("b"), summary("S", 2, 2))
    expect(visibleMessages(hidesResult)).toEqual([
      { role: "assistant", content: "look" },
      expect.objectContaining({ role: "summary" }),
      user("b"),
    ])
  })
})

describe("pairToolCalls", () => {
  test("keeps the same message when all its calls have results", () => {
    const messages = [calls("look", "c1", "c2"), result("c2"), result("c1")]
    const paired = pairToolCalls(messages)
    expect(paired).toEqual(messages)
    expect(paired[0]).toBe(messages[0])
  })

  test("leaves out open calls, and the message if nothing else is in it", () => {
    expect(pairToolCalls([calls("", "c1")])).toEqual([])
    expect(pairToolCalls([calls("look", "c1")])).toEqual([{ role: "assistant", content: "look" }])
    expect(pairToolCalls([calls("", "c1", "c2"), result("c2")])).toEqual([calls("", "c2"), result("c2")])
  })

  test("leaves out a result before its call, and a second one", () => {
    const messages = [result("c1"), calls("look", "c1"), result("c1"), result("c1")]
    expect(pairToolCalls(messages)).toEqual([calls("look", "c1"), result("c1")])
  })

  test("gives each result to the newest call when an id is used again", () => {
    const messages = [calls("one", "c1"), calls("two", "c1"), result("c1"), calls("three", "c1"), result("c1")]
    expect(pairToolCalls(messages)).toEqual([
      { role: "assistant", content: "one" },
      calls("two", "c1"),
      result("c1"),
      calls("three", "c1"),
      result("c1"),
    ])
  })

  test("keeps one of two calls with the same id in one message", () => {
    expect(pairToolCalls([calls("", "c1", "c1"), result("c1")])).toEqual([calls("", "c1"), result("c1")])
  })

  test("counts places in the list, not objects: the same message twice is two messages", () => {
    const call = calls("look", "c1")
    const answer = result("c1")
    expect(pairToolCalls([call, answer, answer])).toEqual([call, answer])
    expect(pairToolCalls([call, call, answer])).toEqual([{ role: "assistant", content: "look" }, call, answer])
  })

  test("leaves an assistant message with an empty list of calls as it is", () => {
    const message = calls("")
    expect(pairToolCalls([message])).toEqual([message])
  })
})
