import { describe, expect, test } from "vitest"
import { isKeepupError } from "./errors.js"
import { applyStateChange, createHistoryFold, foldHistory, messagesForModel } from "./history.js"
import type { SessionId } from "./ids.js"
import type { Entry, EntryRef } from "./session.js"

const sessionId = "01234567-89ab-7000-8000-000000000000" as SessionId
const elsewhere: EntryRef = { sessionId: "parent" as SessionId, seq: 7 }

/** Entries as a log would number them. A third part says that history continues from elsewhere. */
function log(...facts: [type: string, data: unknown, parent?: EntryRef][]): Entry[] {
  return facts.map(([type, data, parent], index) => ({
    sessionId,
    seq: index + 1,
    type,
    version: 1,
    data,
    createdAt: 0,
    messageIndex: 0,
    parent: parent ?? null,
  }))
}

const call = (callId: string) => ({ callId, name: "read", arguments: { path: callId } })
const toolCall = (id: string) => ({ id, name: "read", arguments: { path: id } })
const ended = (callId: string) => ({ callId, name: "read", outcome: "ok" })

describe("foldHistory", () => {
  test("of nothing is an idle session with nothing in it", () => {
    expect(foldHistory([])).toEqual({
      messages: [],
      stateKeys: {},
      openToolCalls: [],
      inDoubtToolCalls: [],
      phase: "idle",
      entryCount: 0,
    })
  })

  test("collects messages with their tags, and the model sees what is not hidden", () => {
    const state = foldHistory(
      log(
        ["message:added", { message: { role: "user", content: "a" } }],
        ["weather:changed", { degrees: 21 }],
        ["message:added", { message: { role: "user", content: "b" } }],
        ["message:added", { message: { role: "summary", content: "S", summaryId: "S", hides: { from: 1, to: 1 } } }],
      ),
    )
    expect(state.messages.map((message) => message.summaryParent)).toEqual(["S", undefined, undefined])
    expect(messagesForModel(state).map((message) => message.content)).toEqual(["S", "b"])
    expect(state.entryCount).toBe(4)
  })

  test("knows the open calls in the order they started", () => {
    const state = foldHistory(
      log(
        ["tool:started", call("c1")],
        ["tool:started", call("c2")],
        ["tool:started", call("c3")],
        ["tool:ended", ended("c2")],
      ),
    )
    expect(state.openToolCalls).toEqual([toolCall("c1"), toolCall("c3")])
    expect(state.inDoubtToolCalls).toEqual([])
  })

  test("keeps a call in doubt until it ends or is started again", () => {
    const doubted = log(["tool:started", call("c1")], ["tool:in-doubt", call("c1")])
    expect(foldHistory(doubted)).toMatchObject({ openToolCalls: [], inDoubtToolCalls: [toolCall("c1")] })
    expect(foldHistory([...doubted, ...log(["tool:ended", ended("c1")])])).toMatchObject({
      openToolCalls: [],
      inDoubtToolCalls: [],
    })
    expect(foldHistory([...doubted, ...log(["tool:started", call("c1")])])).toMatchObject({
      openToolCalls: [toolCall("c1")],
      inDoubtToolCalls: [],
    })
  })

  test("is not disturbed by the end of a call that never started", () => {
    expect(foldHistory(log(["tool:ended", ended("c9")]))).toMatchObject({ openToolCalls: [], inDoubtToolCalls: [] })
  })

  test("follows the phases and passes over what may not happen", () => {
    const facts = log(["run:started", { runId: "r" }], ["session:recovered", { inDoubt: [] }])
    expect(foldHistory(facts).phase).toBe("running")
    expect(foldHistory([...facts, ...log(["session:ended", { outcome: "failed" }])]).phase).toBe("failed")
  })

  test("is at rest where a branch begins, although the parent was in the middle of a run", () => {
    const branch = log(
      ["run:started", { runId: "r" }],
      ["session:started", { name: "n", agentType: "", taskDescription: "", workspacePath: "/w" }, elsewhere],
    )
    expect(foldHistory(branch).phase).toBe("idle")
    expect(foldHistory([...branch, ...log(["run:started", { runId: "r2" }])]).phase).toBe("running")
  })

  test("is at rest after a restore to the middle of a run, whose beginning is not in the history", () => {
    const restored = { restoreId: "r", checkpointId: "c", safetyCheckpointId: null, mode: "both" }
    const history = log(["run:started", { runId: "r" }], ["checkpoint:restored", restored, elsewhere])
    expect(foldHistory(history).phase).toBe("idle")
  })

  test.each([
    ["message:added", {}],
    ["message:added", { message: {} }],
    ["message:added", null],
    ["state:changed", { full: false, set: {} }],
    ["tool:started", undefined],
  ])("calls a log corrupt in which %s carries %j, and says where", (type, data) => {
    let thrown: unknown
    try {
      foldHistory(log(["run:started", { runId: "r" }], [type, data]))
    } catch (error) {
      thrown = error
    }
    expect(isKeepupError(thrown)).toBe(true)
    expect(thrown).toMatchObject({ code: "CORRUPT", details: { sessionId, seq: 2 } })
    expect((thrown as Error).message).toContain(`Entry 2 of session ${sessionId} (${type})`)
  })
})

describe("state keys", () => {
  const odd = ["__proto__", "constructor", "toString", "hasOwnProperty", ""]

  test("may be called anything, and an unset one is never found by its name alone", () => {
    for (const key of odd) expect(foldHistory([]).stateKeys[key]).toBeUndefined()
    const set = JSON.parse(`{${odd.map((key) => `${JSON.stringify(key)}: "hash of ${key}"`).join(", ")}}`)
    const { stateKeys } = foldHistory(log(["state:changed", { full: false, set, removed: [] }]))
    expect(Object.keys(stateKeys).sort()).toEqual([...odd].sort())
    for (const key of odd) expect(stateKeys[key]).toBe(`hash of ${key}`)
    expect(({} as Record<string, unknown>).a).toBeUndefined()
    const removed = foldHistory(log(["state:changed", { full: false, set, removed: odd }]))
    expect(Object.keys(removed.stateKeys)).toEqual([])
  })

  test("stay unless they are replaced, removed or all given anew", () => {
    const one = applyStateChange({ a: "1", b: "1" }, { full: false, set: { b: "2", c: "2" }, removed: ["a"] })
    expect({ ...one }).toEqual({ b: "2", c: "2" })
    expect({ ...applyStateChange(one, { full: true, set: { d: "3" }, removed: [] }) }).toEqual({ d: "3" })
    expect({ ...one }).toEqual({ b: "2", c: "2" })
  })
})

describe("createHistoryFold", () => {
  test("gives states that later entries do not change", () => {
    const fold = createHistoryFold()
    const [first, second, third, fourth] = log(
      ["message:added", { message: { role: "user", content: "a" } }],
      ["state:changed", { full: false, set: { a: "1" }, removed: [] }],
      ["message:added", { message: { role: "summary", content: "S", summaryId: "S", hides: { from: 1, to: 1 } } }],
      ["state:changed", { full: false, set: {}, removed: ["a"] }],
    ) as [Entry, Entry, Entry, Entry]
    fold.add(first)
    fold.add(second)
    const early = fold.state()
    const copy = structuredClone({ ...early, stateKeys: { ...early.stateKeys } })
    fold.add(third)
    fold.add(fourth)
    expect(early).toEqual(copy)
    expect(fold.state().entryCount).toBe(4)
  })
})
