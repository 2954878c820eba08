import { type BusEvent, type Checkpoint, createEventBus, KeepupError, type Session } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { expectCode } from "../testing/contract/samples.js"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import { type CheckpointManager, createCheckpointManager } from "./checkpoint-manager.js"
import { createCheckpointPolicy } from "./checkpoint-policy.js"
import { CheckpointService, type CheckpointServiceOptions } from "./checkpoint-service.js"

let travel: TimeTravelFixture
let session: Session
let heard: BusEvent[]
let warnings: string[]
beforeEach(async () => {
  travel = await openFixture()
  session = await travel.createSession()
  heard = []
  warnings = []
})
afterEach(() => travel.close())

/** A service on a real bus whose record is the session's log. */
function listen(more: Partial<CheckpointServiceOptions> = {}) {
  const eventBus = createEventBus({
    record: (events) => travel.store.log.append(session.id, events),
    onListenerError: (error) => warnings.push(`listener: ${error}`),
  })
  eventBus.on("*", (event) => void heard.push(event))
  const service = new CheckpointService({
    ...{ eventBus, manager: travel.manager, store: travel.store, sessionId: session.id },
    onWarning: (message) => warnings.push(message),
    ...more,
  })
  service.start()
  return { eventBus, service }
}

/** A manager that is like the fixture's but for `take`. */
function managerThat(take: CheckpointManager["take"]): CheckpointManager {
  return { ...travel.manager, take }
}

const list = async () => (await travel.store.checkpoints.list(session.id, { limit: 500 })).reverse()

/** Every entry that asks for a checkpoint must be at or before the entry of one whose files were captured after it. */
async function expectNoneLost(types: readonly string[]): Promise<void> {
  const last = (await list()).at(-1) as Checkpoint
  for (const entry of await travel.store.log.read(session.id)) {
    if (types.includes(entry.type)) expect(entry.seq, entry.type).toBeLessThan(last.entrySeq)
  }
}

describe("events that ask for a checkpoint", () => {
  it("get it before the emitter goes on, with the state of that moment and their own trigger", async () => {
    let step = 0
    const { eventBus, service } = listen({ getState: () => ({ step: ++step }) })
    for (const type of ["run:started", "turn:started"] as const) await eventBus.emit(type, { runId: "r", turn: 1 })
    expect(await list()).toEqual([])
    await eventBus.emit("turn:ended", { runId: "r", turn: 1, outcome: "completed" })
    await eventBus.emit("phase.ended" as string, { phase: "plan" })
    await eventBus.emit("run:ended", { runId: "r", outcome: "completed" })
    const taken = await list()
    expect(taken.map(({ trigger }) => trigger)).toEqual(["turn.ended", "phase.ended", "run.ended"])
    for (const [i, { entrySeq }] of taken.entries()) {
      expect(await travel.store.state.get({ sessionId: session.id, seq: entrySeq })).toMatchObject({ step: i + 1 })
    }
    await service.stop()
    await eventBus.flush()
    const told = heard.filter(({ type }) => type === "checkpoint:created")
    expect(told.map(({ data }) => (data as { checkpointId: string }).checkpointId)).toEqual(taken.map(({ id }) => id))
    const kept = await travel.store.log.read(session.id, { types: ["checkpoint:created"] })
    expect(told.map(({ entry }) => entry)).toEqual(kept)
  })

  it("in a burst nobody waits for are coalesced, and none is lost", async () => {
    const { eventBus, service } = listen()
    const emits = Array.from({ length: 100 }, (_, turn) =>
      eventBus.emit("turn:ended", { runId: "r", turn, outcome: "completed" }),
    )
    await Promise.all(emits)
    await eventBus.flush()
    await service.stop()
    const taken = await list()
    expect(taken.length).toBeLessThanOrEqual(5)
    await expectNoneLost(["turn:ended"])
    expect(warnings).toEqual([])
  })

  it("that come while the files are captured get a checkpoint with files of after", async () => {
    let release = () => {}
    let captures = 0
    const manager = managerThat(async (request) => {
      if (++captures === 1) await new Promise<void>((resolve) => (release = resolve))
      return await travel.manager.take(request)
    })
    const { eventBus, service } = listen({ manager })
    const first = eventBus.emit("turn:ended", { runId: "r", turn: 1, outcome: "completed" })
    while (captures === 0) await new Promise(setImmediate)
    const second = eventBus.emit("task:completed", { title: "late" })
    await second
    release()
    await first
    await eventBus.flush()
    await service.stop()
    expect((await list()).map(({ trigger }) => trigger)).toEqual(["turn.ended", "task.completed"])
  })

  it("are covered when they were in the log before a checkpoint asked for by hand", async () => {
    const { eventBus, service } = listen()
    const burst = eventBus.emitAll([
      { type: "turn:ended", data: { runId: "r", turn: 1, outcome: "completed" } },
      { type: "task:completed", data: {} },
      { type: "run:ended", data: { runId: "r", outcome: "completed" } },
    ])
    await burst.catch(() => undefined) // run:ended does not fit the phase: none of them is recorded
    await eventBus.emitAll([
      { type: "turn:ended", data: { runId: "r", turn: 1, outcome: "completed" } },
      { type: "task:completed", data: {} },
    ])
    await service.createManualCheckpoint("by hand")
    await service.stop()
    expect((await list()).map(({ trigger }) => trigger)).toEqual(["task.completed", "manual"])
  })

  it("of other agents count too, and what a checkpoint leads to never asks for another", async () => {
    const policy = createCheckpointPolicy(["deploy.finished", "checkpoint.created", "checkpoint.pruned"])
    const { eventBus, service } = listen({ policy })
    await eventBus.emit("deploy:finished" as string, { ok: true })
    await service.take("manual")
    await eventBus.flush()
    await service.stop()
    expect((await list()).map(({ trigger }) => trigger)).toEqual(["phase.ended", "manual"])
  })
})

describe("a checkpoint that fails", () => {
  const full = new KeepupError("UNAVAILABLE", "The disk is full.", { hint: "Free some space." })

  it("is an event, a warning and a line in the session's log, and the next one is taken", async () => {
    let isBroken = true
    const manager = managerThat((request) => (isBroken ? Promise.reject(full) : travel.manager.take(request)))
    const { eventBus, service } = listen({ manager })
    await eventBus.emit("turn:ended", { runId: "r", turn: 1, outcome: "completed" })
    await eventBus.flush()
    const text = "Checkpoint (turn.ended) failed: The disk is full."
    expect(warnings).toEqual([`${text} Free some space.`])
    expect(await travel.store.sessions.listLogs(session.id)).toMatchObject([{ level: "error", message: text }])
    expect(heard.find(({ type }) => type === "checkpoint:failed")).toMatchObject({
      data: { trigger: "turn.ended", error: { code: "UNAVAILABLE", message: "The disk is full." } },
      entry: { type: "checkpoint:failed" },
    })
    expect(await list()).toEqual([])
    isBroken = false
    await eventBus.emit("turn:ended", { runId: "r", turn: 2, outcome: "completed" })
    await service.stop()
    expect(await list()).toHaveLength(1)
    await expectNoneLost(["turn:ended"])
  })

  it("throws to who asked for it by hand", async () => {
    const { service } = listen({ manager: managerThat(() => Promise.reject(full)) })
    await expectCode(service.createManualCheckpoint(), "UNAVAILABLE", /disk is full/)
    await service.stop()
  })

  it("because the agent could not hand its state over, says so", async () => {
    const getState = () => {
      throw new Error("state is busy")
    }
    const { eventBus, service } = listen({ getState })
    await eventBus.emit("turn:ended", { runId: "r", turn: 1, outcome: "completed" })
    await service.stop()
    expect(warnings).toEqual([expect.stringContaining("state is busy")])
    expect(await list()).toEqual([])
  })

  it("is told on the screen even when neither log nor table can be written", async () => {
    const store = {
      ...travel.store,
      sessions: { ...travel.store.sessions, addLog: () => Promise.reject(full) },
    }
    const eventBus = createEventBus({ record: () => Promise.reject(full), onListenerError: () => undefined })
    const { service } = listen({ store, eventBus, manager: managerThat(() => Promise.reject(full)) })
    await expectCode(service.take("interval"), "UNAVAILABLE")
    await eventBus.flush()
    await service.stop()
    expect(warnings).toHaveLength(3)
  })

  it("is not what a failing retention is: the checkpoint stands", async () => {
    const manager = { ...travel.manager, prune: () => Promise.reject(full) }
    const { eventBus, service } = listen({ manager })
    expect(await service.createManualCheckpoint("kept")).toMatchObject({ name: "kept" })
    await eventBus.flush()
    await service.stop()
    expect(heard.some(({ type }) => type === "checkpoint:failed")).toBe(false)
    expect(warnings).toEqual(["Old checkpoints could not be removed: The disk is full."])
  })
})

describe("stopping", () => {
  it("waits for the checkpoint under way, takes what a burst still asks for, and hears nothing more", async () => {
    const { eventBus, service } = listen()
    const burst = Array.from({ length: 20 }, (_, turn) =>
      eventBus.emit("turn:ended", { runId: "r", turn, outcome: "completed" }),
    )
    await burst[10]
    await service.stop()
    const atStop = await list()
    const { seq } = await travel.store.log.head(session.id)
    await expectNoneLost(["turn:ended"])
    await Promise.all(burst)
    await eventBus.emit("task:completed", {})
    await eventBus.flush()
    expect(await list()).toEqual(atStop)
    expect((await travel.store.log.head(session.id)).seq).toBe(seq + 1)
  })

  it("takes one for events nobody had heard yet, the very first included, and none for those before the start", async () => {
    const { eventBus, service } = listen()
    const emitted = eventBus.emit("turn:ended", { runId: "r", turn: 1, outcome: "completed" })
    await service.stop()
    await emitted
    expect((await list()).map(({ trigger }) => trigger)).toEqual(["turn.ended"])
    await expectNoneLost(["turn:ended"])
    await eventBus.emit("task:completed", {})
    const { service: next } = listen()
    await next.stop()
    expect(await list()).toHaveLength(1)
  })

  it("can be done twice, without a start, and started again", async () => {
    const { eventBus, service } = listen()
    await service.stop()
    await service.stop()
    await eventBus.emit("task:completed", {})
    expect(await list()).toEqual([])
    service.start()
    service.start()
    await eventBus.emit("task:completed", {})
    expect(await list()).toHaveLength(1)
    await service.stop()
  })
})

describe("retention", () => {
  it("is applied as checkpoints come and at the stop, told on the bus, and leaves what was taken by hand", async () => {
    const manager = createCheckpointManager({ store: travel.store, retention: { keep: 3 } })
    const { eventBus, service } = listen({ manager })
    await service.createManualCheckpoint("mine")
    for (let turn = 1; turn <= 8; turn++) await eventBus.emit("turn:ended", { runId: "r", turn, outcome: "completed" })
    await eventBus.flush()
    expect((await list()).length).toBeLessThan(9)
    await service.stop()
    await eventBus.flush()
    expect((await list()).map(({ number }) => number)).toEqual([1, 6, 7, 8, 9])
    const pruned = heard.filter(({ type }) => type === "checkpoint:pruned")
    expect(pruned.flatMap(({ data }) => (data as { checkpointIds: string[] }).checkpointIds)).toHaveLength(4)
    expect(await travel.store.log.read(session.id)).toHaveLength((await travel.store.log.head(session.id)).seq)
  })
})
