import { describe, expect, it, vi } from "vitest"
import { startState } from "../state/chat-state.js"
import { createChatStore } from "./chat-store.js"

const start = startState({ workspacePath: "/work", model: "" })

describe("the store of the chat", () => {
  it("shows what streams in a frame at a time, however many pieces come", async () => {
    const kept: string[] = []
    const store = createChatStore(start, { onStreamed: (text) => kept.push(text) })
    const told = vi.fn()
    store.subscribe(told)
    for (let index = 0; index < 1_000; index++) store.stream("x")
    expect(store.get()).toBe(start)
    await vi.waitFor(() => expect(told).toHaveBeenCalled(), { timeout: 20_000 })
    expect(told).toHaveBeenCalledTimes(1)
    expect(store.get().live).toMatchObject([{ text: "x".repeat(1_000) }])
    expect(kept).toEqual(["x".repeat(1_000)])
  })

  it("keeps a piece before it is shown", () => {
    const store = createChatStore(start, {
      onStreamed: () => expect(store.get().live).toEqual([]),
    })
    store.stream("x")
    store.close()
    expect(store.get().live).toHaveLength(1)
  })

  it("shows what streamed before anything that happened after it", () => {
    const store = createChatStore(start)
    store.stream("answer")
    store.dispatch({ type: "answer-added", text: "answer" })
    store.dispatch({ type: "item-added", item: { kind: "notice", level: "info", text: "later", hint: undefined } })
    expect(store.get().settled.map(({ kind }) => kind)).toEqual(["assistant", "notice"])
  })

  it("tells once about many changes of one moment", async () => {
    const store = createChatStore(start)
    const told = vi.fn()
    const stop = store.subscribe(told)
    for (let index = 0; index < 10; index++) store.dispatch({ type: "message-queued", text: "x" })
    await Promise.resolve()
    expect(told).toHaveBeenCalledTimes(1)
    stop()
    store.dispatch({ type: "message-queued", text: "x" })
    await Promise.resolve()
    expect(told).toHaveBeenCalledTimes(1)
  })
})
