import { chmodSync } from "node:fs"
import { join } from "node:path"
import { type Checkpoint, KeepupError } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openSnapshotStore } from "../snapshot/snapshot-store.js"
import { expectCode, user } from "../testing/contract/samples.js"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import { createCheckpointManager } from "./checkpoint-manager.js"
import { describeGap } from "./describe-gap.js"
import { readGitFacts, readGitSignature } from "./git-facts.js"
import { pruneCheckpoints } from "./prune-checkpoints.js"

let travel: TimeTravelFixture
beforeEach(async () => {
  travel = await openFixture({ withGit: true })
})
afterEach(() => travel.close())

const brokenSnapshots = async () => {
  throw new KeepupError("UNAVAILABLE", "git could not be started.", { hint: "Install git." })
}

/** Has no time for any snapshot but the first one. */
async function openLate() {
  const warnings: string[] = []
  const { store, workspace: workspacePath, stateDirectory } = travel
  const environment = { PATH: process.env["PATH"] }
  const clock = { now: () => Date.now() }
  const late = await openSnapshotStore({ workspacePath, stateDirectory, environment, clock, timeBudgetMs: 0 })
  const onWarning = (message: string) => void warnings.push(message)
  const manager = createCheckpointManager({ store, snapshots: async () => late, onWarning })
  return { manager, warnings, close: late.close }
}

describe("taking a checkpoint", () => {
  it("makes one record of history position, state, snapshot, git facts and trigger", async () => {
    const session = await travel.createSession()
    travel.write({ "a.txt": "one\ntwo\n" })
    const checkpoint = (await travel.manager.take({
      sessionId: session.id,
      trigger: "manual",
      name: "before lunch",
      note: "a note",
      entries: [user("hello")],
      state: { plan: ["eat"] },
      metadata: { mine: 1 },
    })) as Checkpoint
    expect(checkpoint).toMatchObject({
      number: 1,
      name: "before lunch",
      note: "a note",
      trigger: "manual",
      messageIndex: 1,
      pinned: false,
      git: { branch: "main", head: null, uncommitted: 0, untracked: 1, operation: null },
      snapshot: { commit: expect.stringMatching(/^[0-9a-f]{40}$/), skipped: [] },
    })
    const { commit } = checkpoint.snapshot as { commit: string }
    expect(checkpoint.metadata).toMatchObject({
      mine: 1,
      shadowCheckpoint: { commit, base: null, message: "manual: before lunch", createdAt: expect.any(Number) },
    })
    const at = { sessionId: session.id, seq: checkpoint.entrySeq }
    expect(await travel.store.state.get(at)).toMatchObject({ plan: ["eat"] })
    expect((await travel.store.log.fold(at)).messages).toHaveLength(1)
    expect((await travel.snapshots(travel.workspace)).listCheckpoints().get(checkpoint.id)).toBe(commit)
    expect(await travel.store.checkpoints.get(checkpoint.id)).toEqual(checkpoint)
  })

  it("refuses a name that already means a checkpoint, before any file is read", async () => {
    const session = await travel.createSession()
    travel.write({ "a.txt": "a" })
    const { take } = travel.manager
    const id = "01a1e298-0c75-766a-b4cd-eb8adcc9b84b"
    for (const name of ["3", "007", id, id.toUpperCase()]) {
      await expectCode(take({ sessionId: session.id, trigger: "manual", name }), "INVALID_INPUT", /means (the|an)/)
    }
    for (const name of ["latest", "#3", " "]) {
      await expectCode(take({ sessionId: session.id, trigger: "manual", name }), "INVALID_INPUT", /Not a name/)
    }
    expect((await travel.snapshots(travel.workspace)).listCheckpoints().size).toBe(0)
    const named = (await take({ sessionId: session.id, trigger: "manual", name: "cafe1234" })) as Checkpoint
    expect(await travel.store.checkpoints.resolve(session.id, "cafe1234")).toEqual(named)
  })

  it("reads git's facts again when a file came, the index, a commit or the branch changed, and not for nothing", async () => {
    const session = await travel.createSession()
    let reads = 0
    const manager = createCheckpointManager({
      store: travel.store,
      snapshots: travel.snapshots,
      gitSignature: readGitSignature,
      gitFacts: async (workspacePath) => {
        reads++
        return await readGitFacts({ workspacePath, environment: { PATH: process.env["PATH"] } })
      },
    })
    const take = async () => {
      const before = reads
      const { git } = (await manager.take({ sessionId: session.id, trigger: "manual" })) as Checkpoint
      return { ...git, isRead: reads > before }
    }
    travel.write({ "a.txt": "a" })
    expect(await take()).toMatchObject({ isRead: true, untracked: 1 })
    expect(await take()).toMatchObject({ isRead: false, untracked: 1 })
    travel.git("add", "a.txt")
    expect(await take()).toMatchObject({ isRead: true, untracked: 0, uncommitted: 1 })
    travel.git("commit", "-qm", "one")
    expect(await take()).toMatchObject({ isRead: true, uncommitted: 0 })
    travel.git("checkout", "-qb", "side")
    expect(await take()).toMatchObject({ isRead: true, branch: "side" })
    travel.write({ "a.txt": "b" })
    expect(await take()).toMatchObject({ isRead: false, uncommitted: 1 }) // what an edit means is known without git
    expect(await take()).toMatchObject({ isRead: false, branch: "side", uncommitted: 1 })
    travel.write({ "b.txt": "b" })
    expect(await take()).toMatchObject({ isRead: true, untracked: 1, uncommitted: 1 })
  })

  it("shares everything with the one before when nothing changed", async () => {
    const session = await travel.createSession()
    travel.write({ "a.txt": "a", "b/c.txt": "c" })
    const state = { plan: ["x".repeat(5_000)] }
    const one = (await travel.manager.take({ sessionId: session.id, trigger: "manual", state })) as Checkpoint
    const rows = () => travel.store.context.driver.all("SELECT hash FROM blobs")
    const before = await rows()
    const two = (await travel.manager.take({ sessionId: session.id, trigger: "manual", state })) as Checkpoint
    const tree = async ({ snapshot }: Checkpoint) =>
      (await travel.snapshots(travel.workspace)).listFiles(snapshot?.commit as string)
    expect(await tree(two)).toEqual(await tree(one))
    expect(two.snapshot).toMatchObject({ filesChanged: 0, insertions: 0, deletions: 0 })
    expect(await rows()).toEqual(before)
    expect(two.entrySeq).toBe(one.entrySeq + 1)
    expect(two.number).toBe(2)
  })

  it("is kept without its files when they can't be captured, and everyone is told", async () => {
    const session = await travel.createSession()
    const warnings: string[] = []
    const manager = createCheckpointManager({
      store: travel.store,
      snapshots: brokenSnapshots,
      onWarning: (message) => warnings.push(message),
    })
    const request = {
      sessionId: session.id,
      trigger: "run.ended" as const,
      entries: [user("precious")],
      state: { a: 1 },
    }
    const checkpoint = (await manager.take(request)) as Checkpoint
    expect(checkpoint).toMatchObject({
      snapshot: null,
      messageIndex: 1,
      metadata: { snapshotError: { code: "UNAVAILABLE", message: "git could not be started." } },
    })
    const told = "Checkpoint #1 is not complete: git could not be started."
    expect(warnings).toEqual([told])
    expect(await travel.store.sessions.listLogs(session.id)).toMatchObject([{ level: "warn", message: told }])
    const { messages } = await travel.store.log.fold({ sessionId: session.id, seq: checkpoint.entrySeq })
    expect(messages).toHaveLength(1)
  })

  it("is kept when time runs out, says what it does not hold, and the user is told", async () => {
    const session = await travel.createSession()
    const { manager, warnings, close } = await openLate()
    const files = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`d${i}/f.txt`, "old"]))
    travel.write(files)
    await manager.take({ sessionId: session.id, trigger: "turn.ended" })
    expect(warnings).toEqual([]) // the first one may take as long as it takes
    travel.write(Object.fromEntries(Object.keys(files).map((path) => [path, "new"])))
    const request = { sessionId: session.id, trigger: "turn.ended" as const, entries: [user("precious")] }
    const checkpoint = (await manager.take(request)) as Checkpoint
    expect(checkpoint).toMatchObject({ number: 2, messageIndex: 1 })
    expect(new Set(checkpoint.snapshot?.skipped.map(({ reason }) => reason))).toEqual(new Set(["time-budget"]))
    const told = expect.stringMatching(/^Checkpoint #2 is not complete: .* not looked at in time/)
    expect(warnings).toEqual([told])
    expect(await travel.store.sessions.listLogs(session.id)).toMatchObject([{ level: "warn", message: told }])
    await close()
  })

  it("tells once of what nobody may read, and of what time ran out for each time", () => {
    const told = new Set<string>()
    const skipped = [
      { path: "locked", reason: "unreadable" as const },
      { path: "big.bin", reason: "too-large" as const },
    ]
    const after = "A restore leaves what it does not hold alone."
    expect(describeGap({ skipped }, told)).toBe(`locked was not readable. ${after}`)
    expect(describeGap({ skipped }, told)).toBeUndefined()
    const late = ["a", "b"].map((path) => ({ path, reason: "time-budget" as const }))
    for (let i = 0; i < 2; i++) {
      const all = { skipped: [...skipped, ...late] }
      expect(describeGap(all, told)).toBe(`2 paths were not looked at in time, such as a. ${after}`)
    }
    const stopped = { skipped: [{ path: ".", reason: "time-budget" as const }] }
    expect(describeGap(stopped, told)).toBe(`some folders were not looked at in time. ${after}`)
  })

  it("is kept without git facts when git can't say them", async () => {
    const session = await travel.createSession()
    const gitFacts = brokenSnapshots as () => Promise<never>
    const manager = createCheckpointManager({ store: travel.store, snapshots: travel.snapshots, gitFacts })
    const checkpoint = (await manager.take({ sessionId: session.id, trigger: "manual" })) as Checkpoint
    expect(checkpoint).toMatchObject({ git: null, metadata: { gitError: { code: "UNAVAILABLE" } } })
    expect(checkpoint.snapshot).not.toBeNull()
    expect(await travel.store.sessions.listLogs(session.id)).toHaveLength(1)
  })

  it("holds no files where there is no workspace to look at, and says nothing more", async () => {
    const session = await travel.store.sessions.create({ workspacePath: "/gone" })
    const manager = createCheckpointManager({ store: travel.store })
    const checkpoint = (await manager.take({ sessionId: session.id, trigger: "manual" })) as Checkpoint
    expect(checkpoint).toMatchObject({ snapshot: null, git: null, metadata: {} })
    const missing = (await travel.manager.take({ sessionId: session.id, trigger: "manual" })) as Checkpoint
    expect(missing).toMatchObject({ snapshot: null, metadata: { snapshotError: { code: "NOT_FOUND" } } })
  })

  it("says which files it does not hold", async () => {
    const session = await travel.createSession()
    travel.write({ "locked.txt": "secret", "open.txt": "open" })
    chmodSync(join(travel.workspace, "locked.txt"), 0)
    const checkpoint = (await travel.manager.take({ sessionId: session.id, trigger: "manual" })) as Checkpoint
    const skipped = process.getuid?.() === 0 ? [] : [{ path: "locked.txt", reason: "unreadable" }]
    expect(checkpoint.snapshot?.skipped).toEqual(skipped)
  })

  it("refuses a name that is taken in the session, and leaves no record of the attempt", async () => {
    const session = await travel.createSession()
    const named = { sessionId: session.id, trigger: "manual" as const, name: "mine" }
    await travel.manager.take(named)
    const before = (await travel.store.log.head(session.id)).seq
    await expectCode(travel.manager.take({ ...named, entries: [user("lost?")] }) as Promise<unknown>, "CONFLICT")
    expect((await travel.store.log.head(session.id)).seq).toBe(before)
    const other = await travel.createSession()
    expect(await travel.manager.take({ ...named, sessionId: other.id })).toMatchObject({ name: "mine", number: 1 })
  })
})

describe("taking a checkpoint only if something changed", () => {
  const auto = { trigger: "interval" as const, allowEmpty: false }

  it("takes none when neither log nor files changed, and one when either did", async () => {
    const session = await travel.createSession()
    travel.write({ "a.txt": "a" })
    const request = { ...auto, sessionId: session.id }
    expect(await travel.manager.take(request)).toMatchObject({ number: 1 })
    expect(await travel.manager.take(request)).toBeUndefined()
    await travel.store.log.append(session.id, [user("said")])
    expect(await travel.manager.take(request)).toMatchObject({ number: 2 })
    expect(await travel.manager.take(request)).toBeUndefined()
    travel.write({ "a.txt": "b" })
    expect(await travel.manager.take(request)).toMatchObject({ number: 3, snapshot: { filesChanged: 1 } })
    expect(await travel.manager.take(request)).toBeUndefined()
  })

  it("takes one when only the state that comes with it changed, or an entry does, and none for the same state", async () => {
    const session = await travel.createSession()
    const request = { ...auto, sessionId: session.id }
    expect(await travel.manager.take({ ...request, state: { plan: ["a"], done: 1 } })).toMatchObject({ number: 1 })
    expect(await travel.manager.take({ ...request, state: { done: 1, plan: ["a"] } })).toBeUndefined()
    expect(await travel.manager.take({ ...request, state: { never: undefined } })).toBeUndefined()
    expect(await travel.manager.take({ ...request, state: { plan: ["a", "b"] } })).toMatchObject({ number: 2 })
    expect(await travel.manager.take({ ...request, state: { done: undefined } })).toMatchObject({ number: 3 })
    expect(await travel.manager.take({ ...request, entries: [user("said")] })).toMatchObject({ number: 4 })
    const state = await travel.store.state.get(await travel.store.log.head(session.id))
    expect({ ...state }).toEqual({ plan: ["a", "b"] })
  })

  it("takes what retention or a failure wrote into the log for no change", async () => {
    const session = await travel.createSession()
    travel.write({ "a.txt": "a" })
    for (let i = 0; i < 6; i++) await travel.manager.take({ sessionId: session.id, trigger: "turn.ended" })
    const pruned = await travel.manager.prune(session.id, { keep: 1 })
    expect(pruned.removed).toHaveLength(3)
    await travel.store.log.append(session.id, [
      { type: "checkpoint:failed", data: { trigger: "interval", error: { code: "INTERNAL", message: "x" } } },
    ])
    expect(await travel.manager.take({ ...auto, sessionId: session.id })).toBeUndefined()
  })

  it("compares with the session's own newest checkpoint, not with what another session saw", async () => {
    const session = await travel.createSession()
    const other = await travel.createSession("other")
    travel.write({ "a.txt": "a" })
    await travel.manager.take({ ...auto, sessionId: session.id })
    travel.write({ "a.txt": "b" })
    await travel.manager.take({ ...auto, sessionId: other.id })
    expect(await travel.manager.take({ ...auto, sessionId: session.id })).toMatchObject({ number: 2 })
  })

  it("takes one and tells when time ran out before it was known, and does not pile them up", async () => {
    const session = await travel.createSession()
    const { manager, warnings, close } = await openLate()
    travel.write({ "a.txt": "a" })
    const request = { ...auto, sessionId: session.id }
    expect(await manager.take(request)).toMatchObject({ number: 1 })
    travel.write({ "a.txt": "b" })
    expect(await manager.take(request)).toMatchObject({ number: 2 })
    expect(await manager.take(request)).toBeUndefined()
    expect(warnings).toHaveLength(1)
    expect(await travel.manager.take(request)).toMatchObject({ number: 3, snapshot: { filesChanged: 1, skipped: [] } })
    await close()
  })

  it("does not pile up empty records while the files can't be captured", async () => {
    const session = await travel.createSession()
    const manager = createCheckpointManager({ store: travel.store, snapshots: brokenSnapshots })
    const request = { ...auto, sessionId: session.id }
    expect(await manager.take(request)).toMatchObject({ number: 1, snapshot: null })
    expect(await manager.take(request)).toBeUndefined()
    await travel.store.log.append(session.id, [user("said")])
    expect(await manager.take(request)).toMatchObject({ number: 2, snapshot: null })
  })
})

describe("pruning", () => {
  it("keeps ten automatic ones, says what went in the log, and never uses a number again", async () => {
    const session = await travel.createSession()
    const take = (more = {}) => travel.manager.take({ sessionId: session.id, trigger: "turn.ended", ...more })
    await take({ trigger: "manual" })
    for (let i = 0; i < 14; i++) await take({ state: { step: i } })
    const planned = await travel.manager.planPrune(session.id)
    const { removed, ...claims } = await travel.manager.prune(session.id)
    expect(removed.map(({ number }) => number)).toEqual([2, 3, 4])
    expect(claims, "bytes that it did not free").toEqual({})
    expect(planned).toEqual(removed)
    const [last] = await travel.store.log.read(session.id, { direction: "backward", limit: 1 })
    expect(last?.type).toBe("checkpoint:pruned")
    expect(last?.data).toEqual({ checkpointIds: removed.map(({ id }) => id) })
    const { checkpointCount } = await travel.store.sessions.get(session.id)
    expect(checkpointCount).toBe(12)
    expect(await take()).toMatchObject({ number: 16 })
    expect((await travel.manager.prune(session.id, { keep: 99 })).removed).toEqual([])
  })

  it("leaves a checkpoint alone that was pinned, branched from or restored to after the plan was made", async () => {
    const session = await travel.createSession()
    const taken: Checkpoint[] = []
    for (let i = 0; i < 6; i++) {
      taken.push((await travel.manager.take({ sessionId: session.id, trigger: "turn.ended" })) as Checkpoint)
    }
    const [, second, third, fourth] = taken as [Checkpoint, Checkpoint, Checkpoint, Checkpoint]
    const plan = await travel.manager.planPrune(session.id, { keep: 0 })
    expect(plan.map(({ number }) => number)).toEqual([2, 3, 4, 5])
    await travel.store.checkpoints.setPinned(second.id, true)
    await travel.store.sessions.create({ workspacePath: travel.workspace, forkedFromCheckpointId: third.id })
    await travel.store.context.driver.run(
      `INSERT INTO restores (id, session_id, workspace_path, checkpoint_id, safety_checkpoint_id, mode, status, host, created_at)
       VALUES ('r', ?, '/w', ?, 'none', 'files', 'started', 'h', 0)`,
      [session.id, fourth.id],
    )
    const { removed } = await pruneCheckpoints(travel.store, session, plan, undefined)
    expect(removed.map(({ number }) => number)).toEqual([5])
  })

  it("leaves a checkpoint alone that became the session's first or newest after the plan was made", async () => {
    const session = await travel.createSession()
    const taken: Checkpoint[] = []
    for (let i = 0; i < 5; i++) {
      taken.push((await travel.manager.take({ sessionId: session.id, trigger: "turn.ended" })) as Checkpoint)
    }
    const plan = await travel.manager.planPrune(session.id, { keep: 0 })
    expect(plan.map(({ number }) => number)).toEqual([2, 3, 4])
    const [first, , , , newest] = taken as [Checkpoint, Checkpoint, Checkpoint, Checkpoint, Checkpoint]
    await travel.store.checkpoints.delete([first.id, newest.id])
    const { removed } = await pruneCheckpoints(travel.store, session, plan, undefined)
    expect(removed.map(({ number }) => number)).toEqual([3])
    expect((await travel.store.checkpoints.list(session.id)).map(({ number }) => number)).toEqual([4, 2])
  })
})
