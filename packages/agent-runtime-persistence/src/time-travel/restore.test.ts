import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { type Checkpoint, KeepupError, type Message, visibleMessages } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { checkStore } from "../recovery/check-store.js"
import { recoverAll } from "../recovery/recover-session.js"
import { expectCode, user } from "../testing/contract/samples.js"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import { takePicture } from "../testing/workspace-picture.js"
import { planRestore } from "./plan-restore.js"
import { restoreCheckpoint } from "./restore.js"
import { rewindToCheckpoint } from "./rewind.js"
import { undoRestore } from "./undo-restore.js"

let travel: TimeTravelFixture
beforeEach(async () => {
  travel = await openFixture()
})
afterEach(() => travel.close())

const read = (path: string) => readFileSync(join(travel.workspace, path), "utf8")

/** A session with two checkpoints: #1 with a.txt and b.txt, #2 with both changed. */
async function twoCheckpoints() {
  const session = await travel.createSession()
  travel.write({ "a.txt": "a1", "b.txt": "b1", "same.txt": "same" })
  await travel.store.log.append(session.id, [user("first")])
  const one = (await travel.manager.take({
    sessionId: session.id,
    trigger: "manual",
    state: { step: 1 },
  })) as Checkpoint
  travel.write({ "a.txt": "a2", "b.txt": null, "new/c.txt": "c2" })
  await travel.store.log.append(session.id, [user("second")])
  const two = (await travel.manager.take({
    sessionId: session.id,
    trigger: "manual",
    state: { step: 2 },
  })) as Checkpoint
  return { session, one, two }
}

async function messagesOf(sessionId: Checkpoint["sessionId"]) {
  const { messages } = await travel.store.log.fold(await travel.store.log.head(sessionId))
  return messages.map(({ content }) => content)
}

describe("restore", () => {
  it("of a checkpoint that was just removed changes nothing, and leaves nothing to settle", async () => {
    const { one } = await twoCheckpoints()
    const before = takePicture(travel.workspace)
    await travel.store.checkpoints.delete([one.id])
    await expectCode(restoreCheckpoint(travel, { checkpoint: one }), "NOT_FOUND")
    expect(takePicture(travel.workspace)).toEqual(before)
    expect(await recoverAll(travel)).toMatchObject({ restores: [] })
  })

  it("brings files, conversation and state back, and undo gives all of it back", async () => {
    const { session, one, two } = await twoCheckpoints()
    const untouched = statSync(join(travel.workspace, "same.txt"))
    const { restore, plan, safety } = await restoreCheckpoint(travel, { checkpoint: one })
    expect(plan.write.toSorted()).toEqual(["a.txt", "b.txt"])
    expect(plan.delete).toEqual(["new/c.txt"])
    expect([read("a.txt"), read("b.txt"), existsSync(join(travel.workspace, "new"))]).toEqual(["a1", "b1", false])
    expect(await messagesOf(session.id)).toEqual(["first"])
    expect(await travel.store.state.get(await travel.store.log.head(session.id))).toMatchObject({ step: 1 })
    expect(statSync(join(travel.workspace, "same.txt")).mtimeMs).toBe(untouched.mtimeMs)
    expect(statSync(join(travel.workspace, "same.txt")).ino).toBe(untouched.ino)
    expect(safety).toMatchObject({ trigger: "before-restore", number: 3, sessionId: session.id })
    expect(restore).toMatchObject({ status: "applied", mode: "both", safetyCheckpointId: safety.id })

    await undoRestore(travel, { workspacePath: travel.workspace })
    expect([read("a.txt"), existsSync(join(travel.workspace, "b.txt")), read("new/c.txt")]).toEqual(["a2", false, "c2"])
    expect(await messagesOf(session.id)).toEqual(["first", "second"])
    expect(await travel.store.state.get(await travel.store.log.head(session.id))).toMatchObject({ step: 2 })
    expect((await travel.store.sessions.get(session.id)).status).toBe("active")
    await expectCode(undoRestore(travel, { workspacePath: travel.workspace }), "NOT_FOUND")
    await restoreCheckpoint(travel, { checkpoint: two })
    expect(read("a.txt")).toBe("a2")
  })

  it("keeps the files before it under the safety checkpoint, writing nothing where a checkpoint holds them", async () => {
    const { one, two } = await twoCheckpoints()
    const shared = await restoreCheckpoint(travel, { checkpoint: one })
    expect(shared.safety.snapshot?.commit).toBe(two.snapshot?.commit)
    expect(shared.safety.sizeBytes).toBe(0)
    travel.write({ "a.txt": "mine" })
    const fresh = await restoreCheckpoint(travel, { checkpoint: two })
    expect([one, two].map(({ snapshot }) => snapshot?.commit)).not.toContain(fresh.safety.snapshot?.commit)
    const kept = (await travel.snapshots(travel.workspace)).listCheckpoints()
    for (const { safety } of [shared, fresh]) expect(kept.get(safety.id)).toBe(safety.snapshot?.commit)
    await undoRestore(travel, { workspacePath: travel.workspace })
    expect(read("a.txt")).toBe("mine")
  })

  it("restores only the files, only the conversation, or only some paths", async () => {
    const { session, one } = await twoCheckpoints()
    await restoreCheckpoint(travel, { checkpoint: one, mode: "conversation" })
    expect(read("a.txt")).toBe("a2")
    expect(await messagesOf(session.id)).toEqual(["first"])
    await undoRestore(travel, { workspacePath: travel.workspace })
    await restoreCheckpoint(travel, { checkpoint: one, mode: "files", paths: ["a.txt"] })
    expect([read("a.txt"), existsSync(join(travel.workspace, "b.txt")), read("new/c.txt")]).toEqual(["a1", false, "c2"])
    expect(await messagesOf(session.id)).toEqual(["first", "second"])
    await undoRestore(travel, { workspacePath: travel.workspace })
    expect(read("a.txt")).toBe("a2")
  })

  it("refuses paths that are nowhere, and takes those that are on one side only, written in any way", async () => {
    const { session, one } = await twoCheckpoints()
    travel.write({ "mine.txt": "only here" })
    const before = takePicture(travel.workspace)
    const { seq } = await travel.store.log.head(session.id)
    for (const path of ["typo.txt", "a.txt/inner", "../a.txt", "/", "/etc", "A.TXT", join(travel.workspace, "a.txt")]) {
      const options = { checkpoint: one, mode: "files" as const, paths: ["a.txt", path] }
      await expectCode(planRestore(travel, options), "NOT_FOUND", /^Neither the checkpoint nor the workspace has /)
      await expectCode(restoreCheckpoint(travel, options), "NOT_FOUND")
    }
    expect(takePicture(travel.workspace)).toEqual(before)
    expect((await travel.store.log.head(session.id)).seq).toBe(seq)
    const paths = ["new//c.txt", "./new/../b.txt", "mine.txt/", "same.txt"]
    const { plan } = await restoreCheckpoint(travel, { checkpoint: one, mode: "files", paths })
    expect([plan.write, plan.delete]).toEqual([["b.txt"], ["mine.txt", "new/c.txt"]])
    rmSync(join(travel.workspace, "b.txt"))
    travel.write({ "mine.txt": "only here", "new/c.txt": "c2" })
    await undoRestore(travel, { workspacePath: travel.workspace }) // what it gives back is there already
    expect(takePicture(travel.workspace)).toEqual(before)
  })

  it("keeps what was never in a checkpoint, and undo brings edits made in between back", async () => {
    const { one } = await twoCheckpoints()
    travel.write({ "a.txt": "edited by hand", "mine.txt": "never captured before" })
    const plan = await planRestore(travel, { checkpoint: one })
    expect(plan.changedSince.toSorted()).toEqual(["a.txt", "mine.txt"])
    expect(plan.messagesHidden).toBe(1)
    expect(read("a.txt")).toBe("edited by hand")
    const done = await restoreCheckpoint(travel, { checkpoint: one })
    expect([...done.plan.write, ...done.plan.delete].toSorted()).toEqual([...plan.write, ...plan.delete].toSorted())
    expect(existsSync(join(travel.workspace, "mine.txt"))).toBe(false)
    await undoRestore(travel, { restoreId: done.restore.id })
    expect([read("a.txt"), read("mine.txt")]).toEqual(["edited by hand", "never captured before"])
  })

  it("carries out the plan that was agreed to, or none: whoever changed a file meanwhile is not overwritten", async () => {
    const { session, one } = await twoCheckpoints()
    const agreed = await planRestore(travel, { checkpoint: one })
    for (const [path, content] of [
      ["same.txt", "someone else's"],
      ["another.txt", "new"],
      ["b.txt", "b1"],
    ] as const) {
      const before = await planRestore(travel, { checkpoint: one })
      travel.write({ [path]: content })
      const files = takePicture(travel.workspace)
      const words = `${path} changed after the plan was shown.`
      const options = { checkpoint: one, agreed: before }
      await expect(restoreCheckpoint(travel, options)).rejects.toMatchObject({ code: "CONFLICT", message: words })
      await expect(rewindToCheckpoint(travel, options)).rejects.toMatchObject({ code: "CONFLICT" })
      expect(takePicture(travel.workspace)).toEqual(files)
    }
    expect(await travel.store.sessions.list()).toHaveLength(1)
    expect((await travel.store.sessions.get(session.id)).phase).toBe("idle")
    travel.write({ "same.txt": "same", "another.txt": null, "b.txt": null, "a.txt": "edited once more" })
    const { plan } = await restoreCheckpoint(travel, { checkpoint: one, agreed })
    expect([plan.write, plan.delete]).toEqual([agreed.write, agreed.delete])
    await undoRestore(travel, { workspacePath: travel.workspace })
    expect(read("a.txt")).toBe("edited once more")
  })

  it("is refused while someone holds the session or the workspace, in the contract's words", async () => {
    const { session, one } = await twoCheckpoints()
    for (const resource of [`session:${session.id}`, `workspace:${travel.workspace}`]) {
      const lease = await travel.store.leases.take(resource, { purpose: "run" })
      const words = /^Cannot restore checkpoint while a task is running\. Held by run/
      await expectCode(restoreCheckpoint(travel, { checkpoint: one }), "SESSION_RUNNING", words)
      await lease.release()
    }
    expect(read("a.txt")).toBe("a2")
    await restoreCheckpoint(travel, { checkpoint: one })
  })

  it("brings tool calls, their results, summaries and truncations back as they were, and undo those of after", async () => {
    const session = await travel.createSession()
    const add = (message: Message) => ({ type: "message:added", data: { message } })
    const call = (id: string): Message => ({
      role: "assistant",
      content: "",
      toolCalls: [{ id, name: "edit", arguments: { path: "a.txt" } }],
    })
    const result = (callId: string): Message => ({ role: "tool", callId, name: "edit", content: "done" })
    const hider = { content: "earlier", hides: { from: 1, to: 2 } }
    await travel.store.log.append(session.id, [
      add({ role: "user", content: "go" }),
      add(call("one")),
      add(result("one")),
      add({ role: "truncation", truncationId: "t", ...hider, hides: { from: 1, to: 1 } }),
    ])
    const early = (await travel.manager.take({ sessionId: session.id, trigger: "turn.ended" })) as Checkpoint
    const look = async () => {
      const { messages } = await travel.store.log.fold(await travel.store.log.head(session.id))
      return { messages, visible: visibleMessages(messages) }
    }
    const then = await look()
    expect(then.messages).toHaveLength(4)
    await travel.store.log.append(session.id, [add(call("two")), add({ role: "summary", summaryId: "s", ...hider })])
    const late = await look()
    await restoreCheckpoint(travel, { checkpoint: early, mode: "conversation" })
    expect(await look()).toEqual(then)
    const rewound = (await travel.store.log.read(session.id)).find(({ type }) => type === "history:rewind")
    expect(rewound?.data).toMatchObject({ removedSummaries: 1, removedTruncationMarkers: 0, messageCount: 4 })
    await undoRestore(travel, { workspacePath: travel.workspace })
    expect(await look()).toEqual(late)
  })

  it("works for a session that has ended", async () => {
    const { session, one } = await twoCheckpoints()
    await travel.store.log.append(session.id, [{ type: "session:ended", data: { outcome: "completed" } }])
    await restoreCheckpoint(travel, { checkpoint: one })
    expect((await travel.store.sessions.get(session.id)).status).toBe("active")
  })

  it("says so when a checkpoint holds no files, or holds them elsewhere", async () => {
    const { session, one } = await twoCheckpoints()
    const bare = await travel.store.checkpoints.create({ sessionId: session.id, trigger: "manual" })
    await expectCode(restoreCheckpoint(travel, { checkpoint: bare }), "UNAVAILABLE", /holds no files/)
    await expectCode(
      restoreCheckpoint(travel, { checkpoint: { ...one, id: bare.id, host: "elsewhere" } }),
      "UNAVAILABLE",
      /on elsewhere/,
    )
    await restoreCheckpoint(travel, { checkpoint: bare, mode: "conversation" })
  })

  it("undoes restore after restore, newest first", async () => {
    const { one, two } = await twoCheckpoints()
    travel.write({ "a.txt": "a3" })
    await restoreCheckpoint(travel, { checkpoint: one })
    await restoreCheckpoint(travel, { checkpoint: two })
    await undoRestore(travel, { workspacePath: travel.workspace })
    expect(read("a.txt")).toBe("a1")
    await undoRestore(travel, { workspacePath: travel.workspace })
    expect(read("a.txt")).toBe("a3")
  })

  it("takes everything back when a file can't be restored", async () => {
    const { session, one } = await twoCheckpoints()
    rmSync(join(travel.workspace, "a.txt"))
    mkdirSync(join(travel.workspace, "a.txt/.git"), { recursive: true })
    travel.write({ "a.txt/.git/HEAD": "not ours" })
    const before = await messagesOf(session.id)
    await restoreCheckpoint(travel, { checkpoint: one }).catch((error) =>
      expect(error).toMatchObject({ code: "CONFLICT" }),
    )
    expect(read("a.txt/.git/HEAD")).toBe("not ours")
    expect(await messagesOf(session.id)).toEqual(before)
    expect((await travel.store.sessions.get(session.id)).phase).toBe("idle")
  })
})

describe("a restore whose store fails", () => {
  it.each(["lease", "checkpoint", "restore-head"])(
    "at its step %s leaves files and session as they were, and works when the store does",
    async (step) => {
      const { session, one } = await twoCheckpoints()
      const before = takePicture(travel.workspace)
      const mend = breakStore(step)
      await expectCode(restoreCheckpoint(travel, { checkpoint: one }), "UNAVAILABLE", /^The disk is full\.$/)
      mend()
      expect(takePicture(travel.workspace)).toEqual(before)
      expect((await travel.store.sessions.get(session.id)).phase).toBe("idle")
      expect((await recoverAll(travel)).restores).toEqual([])
      expect(await checkStore(travel)).toEqual([])
      await restoreCheckpoint(travel, { checkpoint: one })
      expect(read("a.txt")).toBe("a1")
    },
  )

  it("when it gives back its leases has been done all the same", async () => {
    const { session, one } = await twoCheckpoints()
    const mend = breakStore("release")
    await restoreCheckpoint(travel, { checkpoint: one })
    mend()
    expect([read("a.txt"), await messagesOf(session.id)]).toEqual(["a1", ["first"]])
  })

  /** The store can't do this kind of step until it is mended. */
  function breakStore(step: string): () => void {
    const driver = travel.store.context.driver as { transaction: typeof travel.store.context.driver.transaction }
    const whole = driver.transaction
    driver.transaction = (name, work) =>
      name === step ? Promise.reject(new KeepupError("UNAVAILABLE", "The disk is full.")) : whole(name, work)
    return () => {
      driver.transaction = whole
    }
  }
})

describe("a restore that fails half way", () => {
  it("puts every file back, also those it had restored already, and says what could not be done", async () => {
    const { session, one } = await twoCheckpoints()
    const before = takePicture(travel.workspace)
    const failing: TimeTravelFixture = {
      ...travel,
      snapshots: async (path) => {
        const snapshots = await travel.snapshots(path)
        return {
          ...snapshots,
          restore: (commit, options = {}) =>
            snapshots.restore(commit, {
              ...options,
              onApplied: async (outcome) =>
                await options.onApplied?.({ ...outcome, failed: [{ path: "b.txt", reason: "blocked" }] }),
            }),
        }
      },
    }
    await expectCode(restoreCheckpoint(failing, { checkpoint: one }), "CONFLICT", /b\.txt \(blocked\)/)
    expect(takePicture(travel.workspace)).toEqual(before)
    expect(await messagesOf(session.id)).toEqual(["first", "second"])
    expect((await travel.store.sessions.get(session.id)).phase).toBe("idle")
    expect((await travel.snapshots(travel.workspace)).listUnfinishedRestores()).toEqual([])
    await restoreCheckpoint(travel, { checkpoint: one })
    expect(read("a.txt")).toBe("a1")
  })

  it("says so when it can't be taken back now, and the next start settles it", async () => {
    const { session, one } = await twoCheckpoints()
    const failing: TimeTravelFixture = {
      ...travel,
      snapshots: async (path) => ({
        ...(await travel.snapshots(path)),
        restore: async (commit, options = {}) =>
          await (await travel.snapshots(path)).restore(commit, {
            ...options,
            onApplied: async () => {
              throw new KeepupError("UNAVAILABLE", "The disk is full.")
            },
          }),
        takeBackRestore: async () => {
          throw new KeepupError("UNAVAILABLE", "Still full.")
        },
      }),
    }
    const both = /^The disk is full\. It could not be taken back yet: Still full\.$/
    await expectCode(restoreCheckpoint(failing, { checkpoint: one }), "UNAVAILABLE", both)
    expect((await travel.store.sessions.get(session.id)).phase).toBe("restoring")
    const { restores } = await recoverAll(travel)
    expect(restores).toMatchObject([{ outcome: "finished" }])
    expect([read("a.txt"), await messagesOf(session.id)]).toEqual(["a1", ["first"]])
  })

  it("is not called taken back while something stands in the way, and the next start goes on", async () => {
    const { session, one } = await twoCheckpoints()
    const inTheWay = join(travel.workspace, "new/c.txt")
    const snapshots = await travel.snapshots(travel.workspace)
    const failing: TimeTravelFixture = {
      ...travel,
      snapshots: async () => ({
        ...snapshots,
        restore: (commit, options = {}) =>
          snapshots.restore(commit, {
            ...options,
            onApplied: async () => {
              mkdirSync(join(inTheWay, ".git"), { recursive: true }) // a repository of its own is never touched
              throw new KeepupError("UNAVAILABLE", "The disk is full.")
            },
          }),
      }),
    }
    const words = /^The disk is full\. It could not be taken back yet: 1 path.* new\/c\.txt \(blocked\)\.$/
    await expectCode(restoreCheckpoint(failing, { checkpoint: one }), "UNAVAILABLE", words)
    expect((await travel.store.sessions.get(session.id)).phase).toBe("restoring")
    expect(existsSync(join(inTheWay, ".git"))).toBe(true)
    rmSync(inTheWay, { recursive: true })
    expect((await recoverAll(travel)).restores).toMatchObject([{ outcome: "finished" }])
    expect([read("a.txt"), await messagesOf(session.id)]).toEqual(["a1", ["first"]])
    await undoRestore(travel, { workspacePath: travel.workspace })
    expect([read("a.txt"), read("new/c.txt")]).toEqual(["a2", "c2"])
  })
})
