import type { Checkpoint, Entry, Session } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { createClock, expectCode, user } from "../testing/contract/samples.js"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import { type ReplayOptions, replayHistory } from "./replay.js"
import { restoreCheckpoint } from "./restore.js"
import { rewindToCheckpoint } from "./rewind.js"

let travel: TimeTravelFixture
let session: Session
const clock = createClock()
beforeEach(async () => {
  travel = await openFixture({ clock })
  session = await travel.createSession()
})
afterEach(async () => {
  vi.useRealTimers()
  await travel.close()
})

async function say(text: string, id = session.id): Promise<void> {
  clock.add(1_000)
  await travel.store.log.append(id, [user(text)])
}

async function take(id = session.id): Promise<Checkpoint> {
  return await travel.store.checkpoints.create({ sessionId: id, trigger: "manual" })
}

async function collect(options: ReplayOptions): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const entry of replayHistory(travel.store, options)) entries.push(entry)
  return entries
}

const shown = (entries: readonly Entry[]) =>
  entries.map(({ type, data }) =>
    type === "message:added" ? (data as { message: { content: string } }).message.content : type,
  )

describe("replay", () => {
  it("yields the very entries after the checkpoint in their order, to the end or to another checkpoint", async () => {
    const one = await take()
    await say("a")
    await say("b")
    const two = await take()
    await say("c")
    const all = await collect({ from: one })
    expect(shown(all)).toEqual(["a", "b", "checkpoint:created", "c"])
    expect(all).toEqual(await travel.store.log.read(session.id, { after: one.entrySeq }))
    expect(shown(await collect({ from: one, to: two }))).toEqual(["a", "b", "checkpoint:created"])
    expect(await collect({ from: two, to: two })).toEqual([])
  })

  it("changes nothing and calls nobody", async () => {
    const one = await take()
    await travel.store.log.append(session.id, [
      { type: "tool:started", data: { callId: "c", name: "shell", arguments: { command: "rm -rf /" } } },
    ])
    const before = await travel.store.log.head(session.id)
    expect(shown(await collect({ from: one }))).toEqual(["tool:started"])
    expect(await travel.store.log.head(session.id)).toEqual(before)
  })

  it("follows a branch back into the session it came from", async () => {
    await say("a")
    const one = await take()
    await say("b")
    const two = await take()
    await say("not on the branch")
    const { session: branch } = await rewindToCheckpoint(travel, { checkpoint: two, mode: "conversation" })
    await say("on the branch", branch.id)
    const end = await take(branch.id)
    expect(shown(await collect({ from: one, to: end }))).toEqual([
      "b",
      "checkpoint:created",
      "session:started",
      "on the branch",
      "checkpoint:created",
    ])
  })

  it("after a restore follows the history of today, and the old one when told where it ends", async () => {
    travel.write({ "a.txt": "a" })
    const one = (await travel.manager.take({ sessionId: session.id, trigger: "manual" })) as Checkpoint
    await say("left")
    const two = await take()
    await restoreCheckpoint(travel, { checkpoint: one, mode: "conversation" })
    await say("right")
    expect(shown(await collect({ from: one }))).toEqual(["history:rewind", "checkpoint:restored", "right"])
    expect(shown(await collect({ from: one, to: two }))).toEqual(["left", "checkpoint:created"])
    await expectCode(collect({ from: two }), "INVALID_INPUT", /not in the history/)
  })

  it("reads a long history in pages", async () => {
    const one = await take()
    await travel.store.log.append(
      session.id,
      Array.from({ length: 1_203 }, (_, i) => user(`${i}`)),
    )
    const entries = await collect({ from: one })
    expect(shown(entries)).toEqual(Array.from({ length: 1_203 }, (_, i) => `${i}`))
  })

  it("ends where the session stood when it began, however fast that one grows meanwhile", async () => {
    const one = await take()
    await travel.store.log.append(
      session.id,
      Array.from({ length: 300 }, (_, i) => user(`${i}`)),
    )
    const entries: Entry[] = []
    for await (const entry of replayHistory(travel.store, { from: one })) {
      entries.push(entry)
      if (entries.length <= 350) await say("meanwhile")
    }
    expect(shown(entries)).toEqual(Array.from({ length: 300 }, (_, i) => `${i}`))
  })

  it("takes the time it took, divided by the speed, and no pause longer than allowed", async () => {
    const one = await take()
    await say("a")
    await say("b")
    clock.add(3_600_000)
    await say("c")
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    const pauses: number[] = []
    const wait = vi.spyOn(globalThis, "setTimeout")
    const replay = replayHistory(travel.store, { from: one, speed: 10, longestPauseMs: 700 })
    for (let next = replay.next(); ; next = replay.next()) {
      let isDone = false
      next.then(() => {
        isDone = true
      })
      while (!isDone) {
        await new Promise(setImmediate)
        vi.runAllTimers()
      }
      if ((await next).done) break
    }
    for (const [, ms] of wait.mock.calls) pauses.push(ms as number)
    expect(pauses).toEqual([100, 700])
  })

  it("stops when told, also in the middle of a pause, and refuses a speed that is none", async () => {
    const one = await take()
    await say("a")
    await say("b")
    const controller = new AbortController()
    const replay = replayHistory(travel.store, { from: one, speed: 0.001, signal: controller.signal })
    await replay.next()
    const next = replay.next()
    controller.abort()
    await expect(next).rejects.toMatchObject({ name: "AbortError" })
    const stopped = replayHistory(travel.store, { from: one, speed: 0.001, signal: controller.signal })
    await expect(stopped.next()).rejects.toMatchObject({ name: "AbortError" })
    for (const speed of [0, -1, Number.NaN]) await expectCode(collect({ from: one, speed }), "INVALID_INPUT")
  })

  it("says which entry is missing when one is", async () => {
    const one = await take()
    await say("a")
    await say("b")
    await travel.store.context.driver.run("DELETE FROM entries WHERE seq = ?", [one.entrySeq + 1])
    await expectCode(collect({ from: one }), "CORRUPT", /Entry 3 /)
  })
})
