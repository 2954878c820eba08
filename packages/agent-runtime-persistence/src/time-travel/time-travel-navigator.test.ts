import type { Checkpoint, CheckpointId, Session } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { expectCode, user } from "../testing/contract/samples.js"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import { restoreCheckpoint } from "./restore.js"
import { TimeTravelNavigator } from "./time-travel-navigator.js"

let travel: TimeTravelFixture
let session: Session
let navigator: TimeTravelNavigator
beforeEach(async () => {
  travel = await openFixture()
  session = await travel.createSession()
  navigator = new TimeTravelNavigator(travel)
})
afterEach(() => travel.close())

async function take(state: Record<string, unknown>, text: string): Promise<Checkpoint> {
  await travel.store.log.append(session.id, [user(text)])
  return (await travel.manager.take({ sessionId: session.id, trigger: "manual", state })) as Checkpoint
}

describe("the navigator", () => {
  it("shows a checkpoint's state, what changed in it, and where one can go from there", async () => {
    const one = await take({ step: 1, plan: ["a"] }, "a")
    const two = await take({ step: 2 }, "b")
    const three = await take({ step: 3, plan: undefined }, "c")
    const shown = await navigator.navigateTo(two.id)
    expect(shown.checkpoint).toEqual(two)
    expect(shown.state).toMatchObject({ step: 2, plan: ["a"] })
    expect(shown.diff).toEqual([{ path: "/step", from: 1, to: 2 }])
    expect(shown.availableActions).toEqual([
      { type: "forward", targetId: three.id },
      { type: "backward", targetId: one.id },
      { type: "branch", fromId: two.id },
      { type: "replay", fromId: two.id, toId: three.id },
    ])
    const first = await navigator.navigateTo(one.id)
    expect(first.diff).toEqual([])
    expect(first.availableActions.map(({ type }) => type)).toEqual(["forward", "branch", "replay"])
    const last = await navigator.navigateTo(three.id)
    expect(last.availableActions.map(({ type }) => type)).toEqual(["backward", "branch"])
    await expectCode(navigator.navigateTo("none" as CheckpointId), "NOT_FOUND")
  })

  it("compares the states of any two checkpoints, also of two sessions", async () => {
    const one = await take({ step: 1 }, "a")
    const branch = await navigator.branch(one.id)
    await travel.store.state.put(branch.id, { step: 7, extra: true })
    const other = await travel.store.checkpoints.create({ sessionId: branch.id, trigger: "manual" })
    expect(await navigator.getDiff(one.id, other.id)).toEqual([
      { path: "/extra", from: undefined, to: true },
      { path: "/step", from: 1, to: 7 },
    ])
  })

  it("branches into a session that is kept, starts at the checkpoint and knows where it came from", async () => {
    const one = await take({ step: 1 }, "a")
    await take({ step: 2 }, "b")
    const branch = await navigator.branch(one.id, "another way")
    expect(await travel.store.sessions.get(branch.id)).toMatchObject({
      name: "another way",
      parentSessionId: session.id,
      forkedFromCheckpointId: one.id,
    })
    const { messages } = await travel.store.log.fold(await travel.store.log.head(branch.id))
    expect(messages.map(({ content }) => content)).toEqual(["a"])
  })

  it("offers a replay only along one history", async () => {
    const one = await take({ step: 1 }, "a")
    const two = await take({ step: 2 }, "b")
    await restoreCheckpoint(travel, { checkpoint: one, mode: "conversation" })
    const now = await take({ step: 3 }, "c")
    expect((await navigator.navigateTo(one.id)).availableActions).toContainEqual({
      type: "replay",
      fromId: one.id,
      toId: now.id,
    })
    expect((await navigator.navigateTo(two.id)).availableActions.map(({ type }) => type)).not.toContain("replay")
    const types: string[] = []
    for await (const { type } of navigator.replay(one.id, two.id)) types.push(type)
    expect(types).toEqual(["message:added", "state:changed", "checkpoint:created"])
  })
})
