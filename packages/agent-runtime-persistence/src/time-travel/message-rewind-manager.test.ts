import { addMessage, type Message, visibleMessages } from "@ku0/agent-runtime-core"
import { describe, expect, it } from "vitest"
import { MessageRewindManager } from "./message-rewind-manager.js"

const manager = new MessageRewindManager()
const user = (content: string): Message => ({ role: "user", content })
const summary = (summaryId: string, from: number, to: number): Message => ({
  role: "summary",
  content: `summary ${summaryId}`,
  summaryId,
  hides: { from, to },
})
const truncation = (truncationId: string, from: number, to: number): Message => ({
  role: "truncation",
  content: `truncated ${truncationId}`,
  truncationId,
  hides: { from, to },
})
const call = (id: string, content = ""): Message => ({
  role: "assistant",
  content,
  toolCalls: [{ id, name: "edit", arguments: {} }],
})
const result = (callId: string): Message => ({ role: "tool", callId, name: "edit", content: "done" })
const listOf = (...messages: Message[]) => messages.reduce<Message[]>(addMessage, [])
const texts = (messages: readonly Message[]) => messages.map(({ content }) => content)

describe("rewinding messages", () => {
  it("keeps the messages before the index and counts the rest", () => {
    const list = [user("a"), user("b"), user("c")]
    expect(manager.rewindToIndex(list, 1)).toEqual({
      messages: [user("a")],
      removedCount: 2,
      removedSummaries: 0,
      removedTruncationMarkers: 0,
    })
    expect(texts(manager.rewindToIndex(list, 1, { includeTarget: true }).messages)).toEqual(["a", "b"])
    expect(list).toHaveLength(3)
  })

  it("takes an index outside of the list as its nearer end", () => {
    const list = [user("a"), user("b")]
    for (const index of [-5, -1, Number.NEGATIVE_INFINITY]) {
      expect(manager.rewindToIndex(list, index).messages).toEqual([])
    }
    for (const index of [2, 99, Number.POSITIVE_INFINITY]) {
      expect(manager.rewindToIndex(list, index, { includeTarget: true }).messages).toEqual(list)
    }
    expect(texts(manager.rewindToIndex(list, 1.9).messages)).toEqual(["a"])
    expect(manager.rewindToIndex([], 3)).toMatchObject({ messages: [], removedCount: 0 })
  })

  it("brings back what a summary and a truncation behind the cut had hidden", () => {
    const list = listOf(user("a"), user("b"), summary("s", 1, 2), user("c"), truncation("t", 4, 4), user("d"))
    expect(texts(visibleMessages(list))).toEqual(["summary s", "truncated t", "d"])
    const cut = manager.rewindToIndex(list, 2)
    expect(texts(visibleMessages(cut.messages))).toEqual(["a", "b"])
    expect(cut).toMatchObject({ removedCount: 4, removedSummaries: 1, removedTruncationMarkers: 1 })
    expect(JSON.stringify(cut.messages)).not.toMatch(/Parent/)
  })

  it("leaves a summary before the cut in force, whatever it summed up", () => {
    const list = listOf(user("a"), user("b"), summary("s", 1, 2), user("c"), user("d"))
    const cut = manager.rewindToIndex(list, 4)
    expect(texts(visibleMessages(cut.messages))).toEqual(["summary s", "c"])
    expect(cut.removedSummaries).toBe(0)
  })

  it("keeps the summary of messages that are not in the list any more: nothing else tells of them", () => {
    const visible = [summary("s", 1, 10), user("11"), user("12")]
    const cut = manager.rewindToIndex(visible, 2)
    expect(texts(cut.messages)).toEqual(["summary s", "11"])
    expect(cut.removedSummaries).toBe(0)
  })

  it("takes a summary away whose ground was cut, and keeps apart what only shares its id with a truncation", () => {
    const odd: Message[] = [summary("x", 2, 2), { ...user("hidden"), summaryParent: "x" }]
    expect(manager.rewindToIndex(odd, 1)).toMatchObject({ messages: [], removedCount: 2, removedSummaries: 1 })
    const same: Message[] = [{ ...user("a"), summaryParent: "x" }, truncation("x", 9, 9)]
    expect(manager.rewindToIndex(same, 2).messages[0]).toEqual(user("a"))
  })

  it("takes nested summaries off one by one", () => {
    const list = listOf(user("a"), summary("one", 1, 1), user("b"), summary("two", 1, 3), user("c"))
    expect(texts(visibleMessages(list))).toEqual(["summary two", "c"])
    expect(texts(visibleMessages(manager.rewindToIndex(list, 3).messages))).toEqual(["summary one", "b"])
    expect(texts(visibleMessages(manager.rewindToIndex(list, 1).messages))).toEqual(["a"])
  })

  it("leaves no call without its result and no result without its call", () => {
    const list = [user("go"), call("1", "first"), result("1"), call("2"), result("2"), user("more")]
    expect(texts(manager.rewindToIndex(list, 4).messages)).toEqual(["go", "first", "done"])
    const cut = manager.rewindToIndex(list, 2)
    expect(cut.messages).toEqual([user("go"), { role: "assistant", content: "first" }])
    expect(cut.removedCount).toBe(4)
    expect(manager.rewindToIndex([result("gone"), user("a")], 2).messages).toEqual([user("a")])
  })

  it("takes a line that only mentions a truncation for what it is: text", () => {
    const list = [user("why does it say [truncated]?"), user("[Conversation Summary] is a nice title")]
    expect(manager.rewindToIndex(list, 2)).toMatchObject({ messages: list, removedCount: 0 })
  })
})
