import { describe, expect, it } from "vitest"
import type { ChatAction } from "./chat-action.js"
import { type ChatItem, longestOutput, type ToolItem } from "./chat-item.js"
import { type ChatState, settledFrom, settledWindow, startState } from "./chat-state.js"
import { reduceChat } from "./reduce-chat.js"

const start = startState({ workspacePath: "/work", model: "" })

function after(...actions: readonly ChatAction[]): ChatState {
  return actions.reduce(reduceChat, start)
}

const texts = (items: readonly ChatItem[]) => items.map((item) => ("text" in item ? item.text : item.kind))
const info = (text: string): ChatAction => ({
  type: "item-added",
  item: { kind: "notice", level: "info", text, hint: undefined },
})
const toolStarted = (callId: string): ChatAction => ({ type: "tool-started", callId, name: "run", target: "x" })
const toolEnded = (callId: string, status: ToolItem["status"] = "ok"): ChatAction => ({
  type: "tool-ended",
  callId,
  name: "run",
  status,
  durationMs: 5,
})
const toolResult = (callId: string, content = "fine"): ChatAction => ({
  type: "tool-result",
  callId,
  name: "run",
  content,
})

describe("a message", () => {
  it("is live while it is being sent and settles when it is in the log", () => {
    const sending = after({ type: "message-sending", text: "hello" })
    expect(sending.live).toMatchObject([{ kind: "user", text: "hello", isSending: true }])
    expect(sending.settled).toEqual([])
    const sent = reduceChat(sending, { type: "message-sent", text: "hello" })
    expect(sent.live).toEqual([])
    expect(sent.settled).toMatchObject([{ kind: "user", text: "hello", isSending: false }])
  })

  it("that could not be sent goes back into the input and leaves the screen", () => {
    const refused = after({ type: "message-sending", text: "hello" }, { type: "message-refused", text: "hello" })
    expect(refused.live).toEqual([])
    expect(refused.settled).toEqual([])
    expect(refused.handedBack).toEqual({ serial: 1, text: "hello" })
  })

  it("of someone else is just added", () => {
    expect(texts(after({ type: "message-sent", text: "from elsewhere" }).settled)).toEqual(["from elsewhere"])
  })

  it("waits in the queue, oldest first", () => {
    const queued = after({ type: "message-queued", text: "a" }, { type: "message-queued", text: "b" })
    expect(queued.queued).toEqual(["a", "b"])
    expect(reduceChat(queued, { type: "queue-taken" }).queued).toEqual(["b"])
    expect(reduceChat(queued, { type: "queue-cleared" }).queued).toEqual([])
  })
})

describe("an answer", () => {
  it("grows as it streams and is replaced by what the log has", () => {
    const streaming = after({ type: "text-streamed", text: "Hel" }, { type: "text-streamed", text: "lo" })
    expect(streaming.live).toMatchObject([{ kind: "assistant", text: "Hello", isStreaming: true }])
    const done = reduceChat(streaming, { type: "answer-added", text: "Hello!" })
    expect(done.live).toEqual([])
    expect(done.settled).toMatchObject([{ text: "Hello!", isStreaming: false, isCutOff: false }])
  })

  it("that never streamed is added whole, an empty one not at all", () => {
    expect(texts(after({ type: "answer-added", text: "Hi" }).settled)).toEqual(["Hi"])
    expect(after({ type: "answer-added", text: "" }).settled).toEqual([])
  })

  it("that is begun again forgets what streamed", () => {
    const again = after({ type: "text-streamed", text: "Wrong" }, { type: "stream-restarted" })
    expect(again.live).toEqual([])
    expect(texts(reduceChat(again, { type: "answer-added", text: "Right" }).settled)).toEqual(["Right"])
  })

  it("that is cut off stays, and says so", () => {
    const cut = after({ type: "text-streamed", text: "Half" }, { type: "stream-cut-off" })
    expect(cut.settled).toMatchObject([{ text: "Half", isCutOff: true, isStreaming: false }])
  })

  it("that is long settles in parts, and nothing is lost or doubled", () => {
    const paragraphs = Array.from({ length: 300 }, (_, index) => `Paragraph ${index} with some words in it.\n\n`)
    const whole = paragraphs.join("")
    const streaming = after(...paragraphs.map((text): ChatAction => ({ type: "text-streamed", text })))
    expect(streaming.settled.length).toBeGreaterThan(1)
    const last = streaming.live[0]
    expect(last?.kind === "assistant" ? last.text.length : 0).toBeLessThan(9_000)
    const done = reduceChat(streaming, { type: "answer-added", text: whole })
    expect(texts(done.settled).join("")).toBe(whole)
    expect(done.settled.map((item) => item.kind === "assistant" && item.isContinued)).toEqual(
      done.settled.map((_, index) => index > 0),
    )
    expect(done.streamedAway).toBe(0)
  })

  it("is not parted inside a code block", () => {
    const code = `Look:\n\n\`\`\`\n${"line of code\n\n".repeat(400)}`
    const streaming = after({ type: "text-streamed", text: "x\n" }, { type: "text-streamed", text: code })
    expect(texts(streaming.settled)).toEqual(["x\nLook:\n\n"])
  })
})

describe("a tool call", () => {
  it("settles when it has ended and its result is there", () => {
    const ended = after(toolStarted("1"), toolEnded("1"))
    expect(ended.settled).toEqual([])
    const done = reduceChat(ended, toolResult("1", "first\nsecond\n"))
    expect(done.settled).toMatchObject([{ kind: "tool", status: "ok", result: "first (+1 line)", durationMs: 5 }])
    expect(done.settled).toMatchObject([{ output: "first\nsecond\n" }])
  })

  it("shows what it said last while it runs", () => {
    const running = after(toolStarted("1"), { type: "tool-progressed", callId: "1", text: "a\nb\n" })
    expect(running.live).toMatchObject([{ result: "b", status: "running" }])
  })

  it("that was refused appears with its end", () => {
    expect(after(toolEnded("1", "skipped"), toolResult("1", "Not allowed")).settled).toMatchObject([
      { status: "skipped", result: "Not allowed" },
    ])
  })

  it("in doubt settles without a result", () => {
    expect(after(toolStarted("1"), toolEnded("1", "in-doubt")).settled).toMatchObject([{ status: "in-doubt" }])
    expect(after(toolStarted("1"), toolEnded("1", "paused")).settled).toMatchObject([{ status: "paused" }])
  })

  it("keeps a bounded part of its output", () => {
    const long = after(toolStarted("1"), toolEnded("1"), toolResult("1", "x".repeat(longestOutput * 2)))
    expect((long.settled[0] as ToolItem).output.length).toBeLessThan(longestOutput + 100)
  })

  it("that runs beside another keeps its place", () => {
    const state = after(toolStarted("1"), toolStarted("2"), toolEnded("2"), toolResult("2"))
    expect(state.settled).toEqual([])
    const done = [toolEnded("1"), toolResult("1")].reduce(reduceChat, state)
    expect(done.settled.map((item) => (item as ToolItem).callId)).toEqual(["1", "2"])
  })
})

describe("the screen", () => {
  it("never changes the order of what happened", () => {
    const state = after(toolStarted("1"), info("meanwhile"), toolEnded("1"), toolResult("1"))
    expect(state.settled.map(({ kind }) => kind)).toEqual(["tool", "notice"])
  })

  it("keeps a bounded number of settled items and counts them all", () => {
    const many = after(...Array.from({ length: settledWindow + 50 }, (_, index) => info(String(index))))
    expect(many.settled).toHaveLength(settledWindow)
    expect(many.settledCount).toBe(settledWindow + 50)
    expect(settledFrom(many)).toBe(50)
    expect(texts(many.settled)[0]).toBe("50")
  })

  it("gives every item its own id", () => {
    const state = after(info("a"), { type: "text-streamed", text: "b" }, info("c"), toolStarted("1"))
    const ids = [...state.settled, ...state.live].map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it("does not change for an action that means nothing to it", () => {
    expect(after({ type: "preview-changed", preview: { status: "ready", stat: "", patch: "" } })).toBe(start)
  })

  it("settles everything when the session changes, and counts anew", () => {
    const before = after(
      { type: "usage-added", inputTokens: 5, outputTokens: 6, cost: 1 },
      { type: "text-streamed", text: "half" },
      toolStarted("1"),
    )
    const switched = reduceChat(before, { type: "session-switched", status: { sessionName: "other" }, todo: [] })
    expect(switched.live).toEqual([])
    expect(switched.settled).toMatchObject([{ isCutOff: true }, { status: "cancelled" }])
    expect(switched.status).toMatchObject({ sessionName: "other", inputTokens: 0, outputTokens: 0, cost: undefined })
  })

  it("is over when it was left", () => {
    const left = after({ type: "message-sending", text: "x" }, { type: "left", farewell: "bye" })
    expect(left).toMatchObject({ phase: "left", farewell: "bye", live: [], settled: [] })
  })
})

describe("facts", () => {
  it("tokens and cost add up, and cost stays unknown until it is told", () => {
    const one = after({ type: "usage-added", inputTokens: 1, outputTokens: 2 })
    expect(one.status).toMatchObject({ inputTokens: 1, outputTokens: 2, cost: undefined })
    const two = reduceChat(one, { type: "usage-added", inputTokens: 1, outputTokens: 2, cost: 0.5 })
    expect(two.status).toMatchObject({ inputTokens: 2, outputTokens: 4, cost: 0.5 })
  })

  it("a new phase takes the warning of Ctrl-C away", () => {
    expect(
      after({ type: "leave-armed", isArmed: true }, { type: "phase-changed", phase: "running" }).isLeaveArmed,
    ).toBe(false)
  })

  it("a selection stays within its rows", () => {
    const rows = [1, 2, 3].map((number) => ({ shortId: String(number) })) as never
    const open = after({ type: "overlay-opened", overlay: { kind: "sessions", rows, selected: 0 } })
    const selected = (index: number) => reduceChat(open, { type: "row-selected", index }).overlay
    expect(selected(9)).toMatchObject({ selected: 2 })
    expect(selected(-1)).toMatchObject({ selected: 0 })
  })

  it("a new selection in the timeline waits for its diff", () => {
    const preview = { status: "ready", stat: "x", patch: "" } as const
    const rows = [{}, {}] as never
    const open = after({ type: "overlay-opened", overlay: { kind: "timeline", rows, selected: 0, preview } })
    expect(reduceChat(open, { type: "row-selected", index: 1 }).overlay).toMatchObject({
      selected: 1,
      preview: { status: "loading" },
    })
  })
})

describe("checkpoints", () => {
  const made = (number: number, trigger: string): ChatAction => ({
    type: "item-added",
    item: { kind: "checkpoint", number, trigger, name: null },
  })

  it("of one end share a line, which settles when the user's turn comes", () => {
    const both = after({ type: "phase-changed", phase: "running" }, made(3, "turn ended"), made(4, "run ended"))
    expect(both.live).toMatchObject([{ number: 4, earlier: [{ number: 3, trigger: "turn ended" }] }])
    const idle = reduceChat(both, { type: "phase-changed", phase: "idle" })
    expect(idle.live).toEqual([])
    expect(idle.settled).toHaveLength(1)
  })

  it("with something between them stand alone", () => {
    const state = after({ type: "phase-changed", phase: "running" }, made(3, "turn ended"), info("x"), made(4, "x"))
    expect(texts(state.settled)).toEqual(["checkpoint", "x"])
    expect(state.live).toMatchObject([{ number: 4 }])
    expect(after(made(1, "a"), made(2, "b")).settled).toHaveLength(2)
  })
})
