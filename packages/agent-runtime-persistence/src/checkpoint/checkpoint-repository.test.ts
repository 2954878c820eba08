import type { Checkpoint, CheckpointId } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import { createCheckpointManager } from "./checkpoint-manager.js"
import { CheckpointRepository } from "./checkpoint-repository.js"

let travel: TimeTravelFixture
let repository: CheckpointRepository
beforeEach(async () => {
  travel = await openFixture({ store: {} })
  const manager = createCheckpointManager({ store: travel.store })
  repository = new CheckpointRepository({ store: travel.store, manager })
})
afterEach(() => travel.close())

describe("the checkpoint repository", () => {
  it("creates, gets and lists in the order they were taken, also over more than one page", async () => {
    const { id: sessionId } = await travel.createSession()
    const made: Checkpoint[] = []
    for (let i = 0; i < 501; i++) made.push(await repository.create({ sessionId, trigger: "turn.ended" }))
    made.push(await repository.create({ sessionId, trigger: "manual", name: "mine", state: { step: 1 } }))
    const listed = await repository.listForSession(sessionId)
    expect(listed.map(({ number }) => number)).toEqual(made.map(({ number }) => number))
    expect(await repository.get(listed.at(-1)?.id as CheckpointId)).toEqual(made.at(-1))
    expect(await repository.get("none" as CheckpointId)).toBeUndefined()
    const other = await travel.createSession()
    expect(await repository.listForSession(other.id)).toEqual([])
  })

  it("keeps the newest, the first, and what was taken by hand; numbers stay what they were", async () => {
    const { id: sessionId } = await travel.createSession()
    for (let i = 0; i < 8; i++) {
      await repository.create({ sessionId, trigger: i === 3 ? "manual" : "turn.ended" })
    }
    expect(await repository.pruneOldest(sessionId, 2)).toBe(3)
    expect((await repository.listForSession(sessionId)).map(({ number }) => number)).toEqual([1, 4, 6, 7, 8])
    expect(await repository.pruneOldest(sessionId, 2)).toBe(0)
    expect(await repository.create({ sessionId, trigger: "turn.ended" })).toMatchObject({ number: 9 })
  })
})
