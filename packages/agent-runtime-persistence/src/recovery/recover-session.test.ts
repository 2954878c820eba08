import { type Checkpoint, event, type Session } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { user } from "../testing/contract/samples.js"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import { rewindToCheckpoint } from "../time-travel/rewind.js"
import { recoverAll, recoverSession } from "./recover-session.js"

let travel: TimeTravelFixture
let session: Session
beforeEach(async () => {
  travel = await openFixture()
  session = await travel.createSession()
})
afterEach(() => travel.close())

const nothing = { restores: [], sessions: [], branches: [], imports: [] }
const started = (callId: string) => event("tool:started", { callId, name: "edit", arguments: { path: callId } })
const ended = (callId: string) => event("tool:ended", { callId, name: "edit", outcome: "ok" })

/** The holder of the session's lease is a process that is not there. */
async function loseHolder(id: Session["id"]): Promise<void> {
  await travel.store.context.driver.run("UPDATE leases SET pid = 4194305 WHERE resource = ?", [`session:${id}`])
}

describe("recovery", () => {
  it("does nothing where nothing died", async () => {
    await travel.store.log.append(session.id, [user("hello")])
    const paused = await travel.createSession("paused")
    await travel.store.log.append(paused.id, [event("session:paused", {})])
    const before = await travel.store.log.head(session.id)
    expect(await recoverAll(travel)).toEqual(nothing)
    expect(await travel.store.log.head(session.id)).toEqual(before)
    expect((await travel.store.sessions.get(paused.id)).status).toBe("paused")
  })

  it("marks calls in flight as in doubt, those that ended stay as they are, and the session waits", async () => {
    await travel.store.log.append(session.id, [
      event("run:started", { runId: "r" }),
      ...[started("done"), ended("done"), started("one"), started("two")],
    ])
    const { sessions } = await recoverAll(travel)
    expect(sessions).toMatchObject([{ session: { id: session.id, status: "paused" } }])
    expect(sessions[0]?.inDoubt.map(({ id }) => id)).toEqual(["one", "two"])
    const { openToolCalls, inDoubtToolCalls, phase } = await travel.store.log.fold(
      await travel.store.log.head(session.id),
    )
    expect(openToolCalls).toEqual([])
    expect(inDoubtToolCalls).toEqual([
      { id: "one", name: "edit", arguments: { path: "one" } },
      { id: "two", name: "edit", arguments: { path: "two" } },
    ])
    expect(phase).toBe("paused")
    expect(await recoverAll(travel)).toEqual(nothing)
  })

  it("leaves a session alone whose holder lives, and finds one that died while idle", async () => {
    const lease = await travel.store.leases.take(`session:${session.id}`, { purpose: "run" })
    await travel.store.log.append(session.id, [event("run:started", { runId: "r" })], { lease })
    expect(await recoverAll(travel)).toEqual(nothing)
    const idle = await travel.createSession("idle")
    await travel.store.leases.take(`session:${idle.id}`, { purpose: "chat" })
    await loseHolder(idle.id)
    expect((await recoverAll(travel)).sessions).toMatchObject([{ session: { id: idle.id }, inDoubt: [] }])
    expect((await travel.store.sessions.get(session.id)).status).toBe("active")
  })

  it("takes a call that was in flight where a branch began for in doubt, in the parent and in the branch", async () => {
    await travel.store.log.append(session.id, [event("run:started", { runId: "r" }), started("in flight")])
    const middle = await travel.store.checkpoints.create({ sessionId: session.id, trigger: "tool.ended" })
    const { session: branch } = await rewindToCheckpoint(travel, { checkpoint: middle, mode: "conversation" })
    expect((await travel.store.sessions.get(branch.id)).phase).toBe("idle")
    const { sessions } = await recoverAll(travel)
    expect(sessions).toMatchObject([{ session: { id: session.id }, inDoubt: [{ id: "in flight" }] }])
    await travel.store.log.append(branch.id, [event("run:started", { runId: "b" })])
    const again = await recoverAll(travel)
    expect(again.sessions).toMatchObject([{ session: { id: branch.id }, inDoubt: [{ id: "in flight" }] }])
    expect((await travel.store.sessions.get(branch.id)).status).toBe("paused")
  })

  it("takes a branch away again whose files never came, keeps one whose files did, and waits for the living", async () => {
    travel.write({ "a.txt": "a" })
    const one = (await travel.manager.take({ sessionId: session.id, trigger: "manual" })) as Checkpoint
    const half = async (holder: object) =>
      await travel.store.sessions.create({
        workspacePath: travel.workspace,
        forkedFromCheckpointId: one.id,
        parent: { sessionId: session.id, seq: one.entrySeq },
        metadata: { rewinding: holder },
      })
    const { host } = travel.store.context
    const dead = await half({ host, pid: 4194305, start: "x" })
    const live = await half({ host, pid: process.pid, start: "unknown" })
    const { session: whole } = await rewindToCheckpoint(travel, { checkpoint: one })
    await travel.store.sessions.updateMetadata(whole.id, { rewinding: { host, pid: 4194305, start: "x" } })
    const { branches } = await recoverAll(travel)
    expect(branches.map(({ id }) => id)).toEqual([dead.id])
    expect(await travel.store.sessions.find(dead.id)).toBeUndefined()
    expect(await travel.store.sessions.find(live.id)).toBeDefined()
    expect((await travel.store.sessions.get(whole.id)).metadata).toEqual({})
  })

  it("goes on with the others when one can't be read, which stays interrupted and says why", async () => {
    const { driver } = travel.store.context
    const start = async (id: Session["id"]) =>
      await travel.store.log.append(id, [event("run:started", { runId: "r" }), started("one")])
    const [damaged, unreadable] = [await travel.createSession("damaged"), await travel.createSession("unreadable")]
    const last = await travel.createSession("last")
    for (const { id } of [session, damaged, unreadable, last]) await start(id)
    await driver.run("UPDATE entries SET data = '{' WHERE session_id = ? AND seq = 2", [damaged.id])
    await driver.run("UPDATE sessions SET metadata = '{' WHERE id = ?", [unreadable.id])
    const { sessions } = await recoverAll(travel)
    expect(sessions.map((one) => one.session.id).toSorted()).toEqual([session.id, last.id].toSorted())
    expect((await travel.store.sessions.get(damaged.id)).status).toBe("interrupted")
    expect(await travel.store.sessions.listLogs(damaged.id)).toMatchObject([
      { level: "error", message: expect.stringMatching(/^It could not be recovered: .*is not JSON/) },
    ])
    expect(await recoverAll(travel)).toEqual(nothing)
  })

  it("goes on with the others when one was changed at a time beyond all counting", async () => {
    const damaged = await travel.createSession("damaged")
    for (const { id } of [session, damaged]) await travel.store.log.append(id, [event("run:started", { runId: "r" })])
    const far = "UPDATE sessions SET updated_at = 9223372036854775000 WHERE id = ?"
    await travel.store.context.driver.run(far, [damaged.id])
    const { sessions } = await recoverAll(travel)
    expect(sessions.map((one) => one.session.id)).toEqual([session.id])
    expect(await recoverAll(travel)).toEqual(nothing)
  })

  it("can be asked for one session", async () => {
    await travel.store.log.append(session.id, [event("run:started", { runId: "r" }), started("one")])
    await travel.store.log.append(session.id, [event("session:interrupted", { reason: "test" })])
    const { inDoubt } = await recoverSession(travel, session.id)
    expect(inDoubt).toHaveLength(1)
    expect((await travel.store.sessions.get(session.id)).status).toBe("paused")
  })
})
