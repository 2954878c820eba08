import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { type Checkpoint, KeepupError, type Session } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { recoverAll } from "../recovery/recover-session.js"
import { createClock, expectCode, user } from "../testing/contract/samples.js"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import { takePicture } from "../testing/workspace-picture.js"
import { refOf } from "./look.js"
import { rewindName, rewindToCheckpoint } from "./rewind.js"
import { undoRestore } from "./undo-restore.js"

let travel: TimeTravelFixture
let session: Session
let one: Checkpoint
const clock = createClock()
beforeEach(async () => {
  travel = await openFixture({ withGit: true, clock })
  session = await travel.store.sessions.create({
    workspacePath: travel.workspace,
    name: "work",
    agentType: "planner",
    taskDescription: "a task",
    metadata: { color: "blue" },
  })
  travel.write({ "a.txt": "a1", "gone.txt": "g" })
  await travel.store.log.append(session.id, [user("first")])
  one = (await travel.manager.take({ sessionId: session.id, trigger: "turn.ended", state: { step: 1 } })) as Checkpoint
  clock.add(60_000)
  travel.write({ "a.txt": "a2", "gone.txt": null, "new.txt": "n" })
  await travel.store.log.append(session.id, [user("second")])
  await travel.manager.take({ sessionId: session.id, trigger: "turn.ended", state: { step: 2 } })
})
afterEach(() => travel.close())

const read = (path: string) => readFileSync(join(travel.workspace, path), "utf8")

async function describeOriginal() {
  const found = await travel.store.sessions.get(session.id)
  const checkpoints = await travel.store.checkpoints.list(session.id)
  const entries = await travel.store.log.read(session.id)
  const state = await travel.store.state.get(await travel.store.log.head(session.id))
  return { found, checkpoints, entries, state: { ...state } }
}

describe("a rewind", () => {
  it("is a new session with the history, state and times up to the checkpoint; the original is not touched", async () => {
    const before = await describeOriginal()
    const { session: branch, restore, plan } = await rewindToCheckpoint(travel, { checkpoint: one })
    expect(await describeOriginal()).toEqual(before)
    expect(branch).toMatchObject({
      name: "work (rewind from #1)",
      agentType: "planner",
      taskDescription: "a task",
      status: "active",
      workspacePath: travel.workspace,
      parentSessionId: session.id,
      forkedFromCheckpointId: one.id,
      messageCount: 1,
      metadata: { color: "blue" },
    })
    expect(restore).toMatchObject({ mode: "files", sessionId: branch.id, status: "applied" })
    expect(plan.write.toSorted()).toEqual(["a.txt", "gone.txt"])
    expect([read("a.txt"), read("gone.txt"), existsSync(join(travel.workspace, "new.txt"))]).toEqual(["a1", "g", false])
    const head = await travel.store.log.head(branch.id)
    expect(await travel.store.state.get(head)).toMatchObject({ step: 1 })
    const shared: [string, number][] = []
    for await (const entry of travel.store.log.history(head)) {
      if (entry.sessionId === session.id) shared.push([entry.type, entry.createdAt])
    }
    const original = (await travel.store.log.read(session.id)).filter(({ seq }) => seq <= one.entrySeq)
    expect(shared).toEqual(original.map(({ type, createdAt }) => [type, createdAt]))
    expect(one.git).toMatchObject({ branch: "main", untracked: 2 })
    expect(await travel.store.checkpoints.get(branch.forkedFromCheckpointId as Checkpoint["id"])).toEqual(one)
    const [started] = await travel.store.log.read(branch.id)
    expect(started).toMatchObject({ type: "session:started", parent: refOf(one), data: { checkpointId: one.id } })
  })

  it("costs the same few entries however long the history is", async () => {
    await travel.store.log.append(
      session.id,
      Array.from({ length: 2_000 }, (_, i) => user(`${i}`)),
    )
    const late = (await travel.manager.take({ sessionId: session.id, trigger: "manual" })) as Checkpoint
    const { session: branch } = await rewindToCheckpoint(travel, { checkpoint: late, mode: "conversation" })
    expect(await travel.store.log.read(branch.id)).toHaveLength(1)
    expect(branch.messageCount).toBe(2_002)
  })

  it("of a rewind does not pile up suffixes, and a name of one's own is taken as it is", async () => {
    const first = await rewindToCheckpoint(travel, { checkpoint: one })
    const again = (await travel.manager.take({ sessionId: first.session.id, trigger: "manual" })) as Checkpoint
    const second = await rewindToCheckpoint(travel, { checkpoint: again })
    expect(second.session.name).toBe(`work (rewind from #${again.number})`)
    expect(second.session.parentSessionId).toBe(first.session.id)
    const named = await rewindToCheckpoint(travel, { checkpoint: one, name: "mine", mode: "conversation" })
    expect(named.session.name).toBe("mine")
    expect(rewindName("a (rewind from #1) (rewind from #22)", 3)).toBe("a (rewind from #3)")
    expect(rewindName("why (rewind from #1) matters", 3)).toBe("why (rewind from #1) matters (rewind from #3)")
    expect(rewindName("n".repeat(500), 3)).toBe(`${"n".repeat(483)} (rewind from #3)`)
  })

  it("can leave the files alone, and then works beside a running session", async () => {
    const before = takePicture(travel.workspace, { withTimes: true })
    const lease = await travel.store.leases.take(`session:${session.id}`, { purpose: "run" })
    const { restore } = await rewindToCheckpoint(travel, { checkpoint: one, mode: "conversation" })
    expect(restore).toBeNull()
    expect(takePicture(travel.workspace, { withTimes: true })).toEqual(before)
    await lease.release()
  })

  it("with files is refused while the session or the workspace is in use, and leaves no branch", async () => {
    for (const resource of [`session:${session.id}`, `workspace:${travel.workspace}`]) {
      const lease = await travel.store.leases.take(resource, { purpose: "run" })
      const words = /^Cannot restore checkpoint while a task is running\. Held by run \(pid \d+ on .+\) since \d{4}-/
      await expectCode(rewindToCheckpoint(travel, { checkpoint: one }), "SESSION_RUNNING", words)
      await lease.release()
    }
    expect(await travel.store.sessions.list()).toHaveLength(1)
    expect(read("a.txt")).toBe("a2")
  })

  it("whose files can't be brought back leaves no branch, and files as they were", async () => {
    const before = takePicture(travel.workspace, { without: [".git"] })
    const broken = { ...one, snapshot: { ...one.snapshot, commit: "0".repeat(40) } } as Checkpoint
    await expectCode(rewindToCheckpoint(travel, { checkpoint: broken }), "NOT_FOUND")
    const bare = await travel.store.checkpoints.create({ sessionId: session.id, trigger: "manual" })
    await expectCode(rewindToCheckpoint(travel, { checkpoint: bare }), "UNAVAILABLE", /holds no files/)
    expect(await travel.store.sessions.list()).toHaveLength(1)
    expect(takePicture(travel.workspace, { without: [".git"] })).toEqual(before)
  })

  it("that could neither be done nor taken back is settled by the next start, and nothing of before is lost", async () => {
    const before = takePicture(travel.workspace, { without: [".git"] })
    const full = (message: string) => Promise.reject(new KeepupError("UNAVAILABLE", message))
    const snapshots = await travel.snapshots(travel.workspace)
    const failing: TimeTravelFixture = {
      ...travel,
      snapshots: async () => ({
        ...snapshots,
        restore: (commit, more = {}) =>
          snapshots.restore(commit, { ...more, onApplied: () => full("The disk is full.") }),
        takeBackRestore: () => full("Still full."),
      }),
    }
    const both = /^The disk is full\. It could not be taken back yet: Still full\.$/
    await expectCode(rewindToCheckpoint(failing, { checkpoint: one }), "UNAVAILABLE", both)
    const [branch] = await travel.store.sessions.list()
    for (const { id } of [branch as Session, session]) {
      await expectCode(travel.store.sessions.delete(id), "CONFLICT", /restore that is not over/)
    }
    const { restores } = await recoverAll(travel)
    expect(restores).toMatchObject([{ outcome: "finished", restore: { sessionId: branch?.id } }])
    expect([read("a.txt"), read("gone.txt")]).toEqual(["a1", "g"])
    await undoRestore(travel, { workspacePath: travel.workspace })
    expect(takePicture(travel.workspace, { without: [".git"] })).toEqual(before)
  })

  it("keeps its branch and what can be undone when only its last note could not be written", async () => {
    const before = takePicture(travel.workspace, { without: [".git"] })
    const { sessions } = travel.store
    const updateMetadata = () => Promise.reject(new KeepupError("UNAVAILABLE", "The disk is full."))
    const failing = { ...travel, store: { ...travel.store, sessions: { ...sessions, updateMetadata } } }
    await expectCode(rewindToCheckpoint(failing, { checkpoint: one }), "UNAVAILABLE")
    expect(await travel.store.sessions.list()).toHaveLength(2)
    await undoRestore(travel, { workspacePath: travel.workspace })
    expect(takePicture(travel.workspace, { without: [".git"] })).toEqual(before)
  })

  it("can be undone: the files are as before, and both sessions stay", async () => {
    const before = takePicture(travel.workspace, { without: [".git"] })
    await rewindToCheckpoint(travel, { checkpoint: one })
    await undoRestore(travel, { workspacePath: travel.workspace })
    expect(takePicture(travel.workspace, { without: [".git"] })).toEqual(before)
    expect(await travel.store.sessions.list()).toHaveLength(2)
  })

  it("brings only some paths back if told", async () => {
    await rewindToCheckpoint(travel, { checkpoint: one, paths: ["gone.txt"] })
    expect([read("a.txt"), read("gone.txt"), read("new.txt")]).toEqual(["a2", "g", "n"])
  })

  it("keeps the checkpoint it came from for good", async () => {
    for (let i = 0; i < 5; i++) await travel.manager.take({ sessionId: session.id, trigger: "turn.ended" })
    const [, second] = (await travel.store.checkpoints.list(session.id)).reverse() as [Checkpoint, Checkpoint]
    await rewindToCheckpoint(travel, { checkpoint: second, mode: "conversation" })
    await travel.manager.prune(session.id, { keep: 0 })
    expect(await travel.store.checkpoints.find(second.id)).toEqual(second)
  })

  it("of an imported session is a session of its own, not a finished import when it ends", async () => {
    await travel.store.sessions.updateMetadata(session.id, { imported: true, tag: "x" })
    const { session: branch } = await rewindToCheckpoint(travel, { checkpoint: one })
    expect(branch.metadata).toEqual({ color: "blue", tag: "x" })
    expect((await travel.store.sessions.get(session.id)).metadata).toMatchObject({ imported: true, tag: "x" })
  })
})
