/** The states of the page, without a page. */
import { KeepupError } from "@ku0/agent-runtime-core"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { EntryJson, ListedMessage, ListedSession, RestoreAnswer } from "../../api.js"
import { emptyList, fitsFilter, reduceList, toListRows } from "./list-state.js"
import { describeLive, firstLive, type LiveAction, type LiveState, reduceLive } from "./live-state.js"
import { type LoadState, reduceLoad } from "./load-state.js"
import { missingPage, noMessages, reduceMessages } from "./message-state.js"
import { firstReplay, type ReplayAction, reduceReplay, speeds, waitBefore } from "./replay-state.js"
import { canConfirm, pickedOf, type RestoreState, reduceRestore, startRestore, toRestoreBody } from "./restore-state.js"

const problem = new KeepupError("UNAVAILABLE", "gone")

describe("what is being loaded", () => {
  it("keeps what was shown while it is asked for again, and when that fails", () => {
    const ready = reduceLoad<number>(
      { data: undefined, error: undefined, isLoading: true },
      { type: "answered", data: 1 },
    )
    const again = reduceLoad(ready, { type: "asked", keep: 1 })
    expect(again).toEqual({ data: 1, error: undefined, isLoading: true })
    expect(reduceLoad(again, { type: "failed", error: problem })).toEqual({ data: 1, error: problem, isLoading: false })
  })

  it("changes only what is there", () => {
    const none: LoadState<number> = { data: undefined, error: undefined, isLoading: true }
    expect(reduceLoad(none, { type: "changed", change: (one) => one + 1 })).toBe(none)
    expect(reduceLoad({ ...none, data: 1 }, { type: "changed", change: (one) => one + 1 }).data).toBe(2)
  })
})

describe("the list of sessions", () => {
  const session = (id: string, facts: Partial<ListedSession> = {}) =>
    ({
      id,
      name: id,
      taskDescription: "",
      workspacePath: "/a",
      status: "active",
      updatedAt: 1,
      ...facts,
    }) as ListedSession

  it("puts a session that was made or changed elsewhere into its place, once", () => {
    const loaded = reduceList(emptyList, { type: "loaded", sessions: [session("1"), session("2")], next: "2" })
    const changed = reduceList(loaded, { type: "changed", session: session("2", { updatedAt: 5 }) })
    expect(toListRows(changed.sessions).map(({ key }) => key)).toEqual(["w:/a", "2", "1"])
    const more = reduceList(changed, { type: "more", sessions: [session("2"), session("3")], next: null })
    expect(more.sessions.map(({ id }) => id).sort()).toEqual(["1", "2", "3"])
    expect(reduceList(more, { type: "deleted", id: "1" }).sessions.map(({ id }) => id)).toEqual(["2", "3"])
  })

  it("groups by workspace, the one with the newest change first", () => {
    const rows = toListRows([
      session("1"),
      session("2", { workspacePath: "/b", updatedAt: 9 }),
      session("3", { updatedAt: 2 }),
    ])
    expect(rows.map(({ key }) => key)).toEqual(["w:/b", "2", "w:/a", "3", "1"])
  })

  it("looks for words in name, task, workspace and id, and for a status", () => {
    const one = session("abc", { name: "Fix It", taskDescription: "tests", workspacePath: "/home/x" })
    for (const text of ["fix", "TESTS", "home", "bc", " "]) expect(fitsFilter(one, { text, status: "" })).toBe(true)
    expect(fitsFilter(one, { text: "else", status: "" })).toBe(false)
    expect(fitsFilter(one, { text: "", status: "paused" })).toBe(false)
  })
})

describe("the live connection", () => {
  it("says nothing at first, warns when it breaks, and is silent again when it is back", () => {
    const live = reduceLive(firstLive, { type: "opened" })
    expect([describeLive(firstLive), describeLive(live)]).toEqual([null, null])
    const lost = reduceLive(live, { type: "broke", message: "gone" })
    expect(describeLive(lost)).toBe("Connection lost, trying again.")
    const retried = reduceLive(lost, { type: "retried" })
    expect(describeLive(retried), "while it is asked again").toBe("Connection lost, trying again.")
    expect(describeLive(reduceLive(retried, { type: "opened" }))).toBeNull()
  })

  it("waits longer each time, at most five seconds, and starts small again after a success", () => {
    let state: LiveState = firstLive
    const waits: number[] = []
    for (let round = 0; round < 8; round++) {
      state = reduceLive(state, { type: "broke", message: "" })
      if (state.phase === "lost") waits.push(state.waitMs)
      state = reduceLive(state, { type: "retried" })
    }
    expect(waits).toEqual([...waits].sort((a, b) => a - b))
    expect(waits.at(-1)).toBe(5_000)
    state = reduceLive(reduceLive(state, { type: "opened" }), { type: "broke", message: "" })
    expect(state).toMatchObject({ phase: "lost", attempt: 1, waitMs: waits[0] })
  })

  it("stays gone once the session is deleted", () => {
    const actions: LiveAction[] = [{ type: "opened" }, { type: "broke", message: "" }, { type: "retried" }]
    const gone = reduceLive(firstLive, { type: "gone" })
    for (const action of actions) expect(reduceLive(gone, action)).toBe(gone)
  })
})

describe("the messages", () => {
  const listed = (index: number) =>
    ({
      index,
      entry: { sessionId: "s", seq: index },
      createdAt: 0,
      message: { role: "user", content: `${index}` },
    }) as ListedMessage
  const entry = (messageIndex: number, facts: Partial<EntryJson> = {}): EntryJson => ({
    sessionId: "s",
    seq: messageIndex,
    type: "message:added",
    createdAt: 0,
    messageIndex,
    parent: null,
    data: { message: { role: "user", content: `${messageIndex}` } },
    ...facts,
  })
  const loaded = reduceMessages(noMessages, {
    type: "loaded",
    version: 0,
    answer: { ok: true, total: 120, messages: [listed(119), listed(120)] },
  })

  it("know which page is missing where one looks", () => {
    expect(missingPage(loaded, 119, 120)).toBeNull()
    expect(missingPage(loaded, 100, 110)).toBe(51)
    expect(missingPage(loaded, 101, 130)).toBe(101)
    expect(missingPage(loaded, -5, 1)).toBe(1)
  })

  it("take what arrives at the end, once", () => {
    const next = reduceMessages(loaded, { type: "arrived", entry: entry(121) })
    expect(next).toMatchObject({ total: 121, version: 0 })
    expect(next.byIndex.get(121)?.message.content).toBe("121")
    expect(reduceMessages(next, { type: "arrived", entry: entry(121) })).toBe(next)
    expect(reduceMessages(next, { type: "arrived", entry: entry(121, { type: "turn:ended" }) })).toBe(next)
  })

  it("are asked for again when the history goes on from elsewhere, and a late answer does not count", () => {
    const parent = { sessionId: "s", seq: 3 }
    const back = reduceMessages(loaded, { type: "arrived", entry: entry(4, { type: "checkpoint:restored", parent }) })
    expect(back).toMatchObject({ total: 0, version: 1, isLoaded: false })
    expect(reduceMessages(loaded, { type: "arrived", entry: entry(140) }).version, "a gap").toBe(1)
    const answer = { ok: true as const, total: 120, messages: [listed(1)] }
    const late = { type: "loaded" as const, version: 0, answer }
    expect(reduceMessages(back, late)).toBe(back)
  })
})

describe("a restore", () => {
  const plan = { applied: false } as RestoreAnswer
  const done = { applied: true } as RestoreAnswer
  const start = startRestore({ isBranch: false })
  const planned = reduceRestore(start, { type: "planned", choice: start.choice, plan })

  it("is not done before its plan was shown and confirmed", () => {
    expect(reduceRestore(start, { type: "confirmed" })).toBe(start)
    expect(reduceRestore(planned, { type: "done", answer: done })).toBe(planned)
    const working = reduceRestore(planned, { type: "confirmed" })
    expect(working.phase).toBe("restoring")
    expect(reduceRestore(working, { type: "done", answer: done }).phase).toBe("done")
  })

  it("never shows the plan of an older choice", () => {
    const other = reduceRestore(planned, { type: "chosen", choice: { ...start.choice, mode: "files" } })
    expect(other.phase).toBe("planning")
    expect(reduceRestore(other, { type: "planned", choice: start.choice, plan })).toBe(other)
  })

  it("keeps its plan while a branch is named, and begins with a new plan after a failure", () => {
    expect(reduceRestore(planned, { type: "named", branchName: "b" }).phase).toBe("planned")
    const failed = reduceRestore(planned, { type: "failed", error: problem })
    expect(reduceRestore(failed, { type: "retried" })).toEqual({ phase: "planning", choice: start.choice })
    const working = reduceRestore(planned, { type: "confirmed" }) as RestoreState
    expect(reduceRestore(working, { type: "chosen", choice: start.choice }), "not while it works").toBe(working)
  })

  it("sends what was chosen", () => {
    const choice = { mode: "both", isBranch: true, branchName: "  two ", only: null, paths: null } as const
    expect(toRestoreBody(choice, true)).toMatchObject({ mode: "both", dryRun: true, branch: "two" })
    expect(toRestoreBody({ ...choice, branchName: " " }, false)).toMatchObject({ dryRun: false, branch: true })
    expect(toRestoreBody({ ...choice, isBranch: false }, false)).not.toHaveProperty("branch")
    expect(toRestoreBody(choice, false)).not.toHaveProperty("paths")
  })

  it("of chosen files asks for the plan of all, sends only those, and is not done without one", () => {
    const files = { plan: { write: ["a", "b"], delete: ["c"] } } as unknown as RestoreAnswer
    const choice = { ...start.choice, mode: "files", paths: [] } as const
    const asked = reduceRestore(start, { type: "chosen", choice })
    expect(toRestoreBody(choice, true)).not.toHaveProperty("paths")
    const shown = reduceRestore(asked, { type: "planned", choice, plan: files })
    expect(canConfirm(shown), "nothing is chosen yet").toBe(false)
    const picked = reduceRestore(shown, { type: "picked", paths: ["b", "c", "not in the plan"] })
    expect(canConfirm(picked)).toBe(true)
    expect(pickedOf(picked.choice, files)).toEqual(["b", "c"])
    expect(toRestoreBody({ ...picked.choice, paths: ["b", "c"] }, false)).toMatchObject({ paths: ["b", "c"] })
    expect(reduceRestore(start, { type: "picked", paths: ["b"] }), "not before there is a plan").toBe(start)
  })

  it("of one file has a plan of its own, never that of all", () => {
    const one = startRestore({ isBranch: false, path: "a" })
    expect(toRestoreBody(one.choice, true)).toMatchObject({ mode: "files", dryRun: true, paths: ["a"] })
    const all = { ...one.choice, only: null, paths: null }
    expect(reduceRestore(one, { type: "planned", choice: all, plan })).toBe(one)
    const asThen = { plan: { write: [], delete: [] } } as unknown as RestoreAnswer
    const shown = reduceRestore(one, { type: "planned", choice: one.choice, plan: asThen })
    expect(canConfirm(shown), "it is as then already").toBe(false)
  })
})

describe("a replay", () => {
  const action: fc.Arbitrary<ReplayAction> = fc.oneof(
    fc.record({ type: fc.constant("loaded" as const), total: fc.nat({ max: 50 }) }),
    fc.constantFrom<ReplayAction>({ type: "played" }, { type: "paused" }, { type: "ticked" }),
    fc.record({ type: fc.constant("stepped" as const), by: fc.integer({ min: -60, max: 60 }) }),
    fc.record({ type: fc.constant("moved" as const), to: fc.double({ min: -10, max: 100, noNaN: true }) }),
    fc.record({ type: fc.constant("speeded" as const), speed: fc.constantFrom(...speeds) }),
  )

  it("never leaves its entries, and stops at the end", () => {
    fc.assert(
      fc.property(fc.array(action), (actions) => {
        const { position, total, isPlaying } = actions.reduce(reduceReplay, firstReplay)
        expect(position).toBeGreaterThanOrEqual(0)
        expect(position).toBeLessThanOrEqual(total)
        expect(Number.isInteger(position)).toBe(true)
        if (isPlaying) expect(position).toBeLessThan(total)
      }),
    )
  })

  it("plays each entry once, and from the beginning again after the end", () => {
    let state = reduceReplay(reduceReplay(firstReplay, { type: "loaded", total: 3 }), { type: "played" })
    const seen: number[] = []
    while (state.isPlaying) {
      state = reduceReplay(state, { type: "ticked" })
      seen.push(state.position)
    }
    expect(seen).toEqual([1, 2, 3])
    expect(reduceReplay(state, { type: "played" })).toMatchObject({ position: 0, isPlaying: true })
  })

  it("waits as it was recorded, divided by the speed, within bounds", () => {
    expect(waitBefore(0, 1_000, 4)).toBe(250)
    expect(waitBefore(0, 10_000_000, 1)).toBe(1_500)
    expect(waitBefore(0, 0, 64)).toBe(30)
    expect(waitBefore(undefined, 5, 1)).toBe(30)
  })
})
