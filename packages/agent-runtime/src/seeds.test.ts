/** Every library name that stays, used as the documents that asked for it show it. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  ArtifactPipeline,
  ArtifactRegistry,
  AutoSaveMiddleware,
  type Checkpoint,
  type CheckpointManager,
  CheckpointRepository,
  CheckpointService,
  createCheckpointManager,
  createEventBus,
  createFileContextTracker,
  createSession,
  type EventBus,
  guardEdit,
  listCheckpoints,
  loadCheckpoint,
  type Message,
  MessageRewindManager,
  openRuntime,
  type Runtime,
  resumeSession,
  type Session,
  ShadowCheckpointService,
  SQLiteExecutionStateStore,
  saveCheckpoint,
  TimeTravelNavigator,
} from "@ku0/agent-runtime"
import { afterEach, beforeEach, describe, expect, it } from "vitest"

let root: string
let workspacePath: string
let runtime: Runtime
let session: Session
let eventBus: EventBus
const logger = { info: () => undefined }

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "keepup-seeds-")))
  workspacePath = join(root, "workspace")
  mkdirSync(workspacePath)
  runtime = await openRuntime({
    workspacePath,
    stateDirectory: join(root, "state"),
    environment: { PATH: process.env["PATH"] },
  })
  session = await createSession(runtime, { agentType: "implementer", taskDescription: "a task" })
  const { log } = runtime.store
  eventBus = createEventBus({
    record: (events, state) => log.append(session.id, events, state === undefined ? {} : { state }),
    onListenerError: (error) => {
      throw error
    },
  })
})
afterEach(async () => {
  await runtime.close()
  rmSync(root, { recursive: true, force: true })
})

const write = (path: string, text: string) => writeFileSync(join(workspacePath, path), text)
const read = (path: string) => readFileSync(join(workspacePath, path), "utf8")
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)
const say = (content: string) =>
  runtime.store.log.append(session.id, [{ type: "message:added", data: { message: { role: "user", content } } }])

describe("shadow checkpoints (001)", () => {
  it("a checkpoint of the files is saved, compared and restored as the snippet does it", async () => {
    write("a.txt", "before")
    const service = new ShadowCheckpointService({
      taskId: "task-1",
      workspacePath,
      storagePath: join(root, ".agent-runtime/shadow"),
      logger,
    })

    await service.init()
    await service.saveCheckpoint("checkpoint message")
    write("a.txt", "after")
    write("b.txt", "new")
    const diff = await service.getDiff()
    await service.restoreCheckpoint(diff[0]?.commit ?? "")

    expect(diff[0]).toEqual({
      path: { relative: "a.txt", absolute: join(workspacePath, "a.txt") },
      content: { before: "before", after: "after" },
      commit: service.getBaseHash(),
    })
    expect([read("a.txt"), existsSync(join(workspacePath, "b.txt"))]).toEqual(["before", false])
    await service.close()
  })

  it("an empty or unknown commit is refused, and a checkpoint of nothing new is none", async () => {
    const service = new ShadowCheckpointService({ taskId: "t", workspacePath, storagePath: join(root, "shadow") })
    await service.init()
    expect(await service.saveCheckpoint("nothing changed")).toBeNull()
    const empty = await service.saveCheckpoint("all the same", { allowEmpty: true })
    expect(empty).toEqual({
      commit: expect.stringMatching(/^[0-9a-f]{40}$/),
      base: service.getBaseHash(),
      message: "all the same",
      createdAt: expect.any(Number),
    })
    const diff = await service.getDiff()
    await expect(service.restoreCheckpoint(diff[0]?.commit ?? "")).rejects.toMatchObject({ code: "INVALID_INPUT" })
    await expect(service.restoreCheckpoint("1".repeat(40))).rejects.toMatchObject({ code: "NOT_FOUND" })
    await service.close()
  })

  it("a checkpoint says in its metadata which shadow checkpoint holds its files", async () => {
    write("a.txt", "x")
    const checkpoint = (await runtime.manager.take({ sessionId: session.id, trigger: "manual" })) as Checkpoint
    expect(checkpoint.metadata["shadowCheckpoint"]).toEqual({
      commit: checkpoint.snapshot?.commit,
      base: null,
      message: "manual",
      createdAt: expect.any(Number),
    })
  })
})

describe("message rewind (001)", () => {
  it("a rewind to an index takes what is behind it, and summaries that lost their ground", () => {
    const messages: Message[] = Array.from({ length: 12 }, (_, n) => ({ role: "user", content: `${n}` }))
    messages.push({ role: "summary", content: "all", summaryId: "s", hides: { from: 1, to: 12 } })
    const manager = new MessageRewindManager()
    const result = manager.rewindToIndex(messages, 10)
    expect(result).toEqual({
      messages: messages.slice(0, 10),
      removedCount: 3,
      removedSummaries: 1,
      removedTruncationMarkers: 0,
    })
    expect(manager.rewindToIndex(messages, 10, { includeTarget: true }).messages).toHaveLength(11)
  })
})

describe("file context tracking (001)", () => {
  it("a file that was edited outside is stale, tells so once, and blocks the edit until it is read again", async () => {
    mkdirSync(join(workspacePath, "docs"))
    write("docs/README.md", "one")
    const heard: unknown[] = []
    eventBus.on("context:file-stale", (event) => {
      heard.push(event.data)
    })
    const tracker = createFileContextTracker({ workspacePath, eventBus })
    const handle = tracker.getHandle("ctx-1")
    handle.markRead("docs/README.md")
    expect(handle.isStale("docs/README.md")).toBe(false)

    write("docs/README.md", "two")
    expect(handle.isStale("docs/README.md")).toBe(true)
    expect(handle.listStale().map(({ path }) => path)).toEqual(["docs/README.md"])
    expect(() => guardEdit(handle, ["docs/README.md"])).toThrow(
      expect.objectContaining({
        code: "CONFLICT",
        message: "Stale file context detected. Reload before editing:\n- docs/README.md",
      }),
    )
    handle.markRead("docs/README.md")
    handle.markMentioned("docs/README.md")
    expect(handle.getEntry("docs/README.md")).toMatchObject({ status: "active" })
    handle.markWrite("docs/README.md")
    await tracker.dispose()
    expect(heard).toMatchObject([{ contextId: "ctx-1", path: "docs/README.md", status: "stale" }])
  })
})

describe("automatic checkpoints (002)", () => {
  it("a checkpoint is taken after a run, at a phase and when a negotiation is resolved, and retention keeps ten", async () => {
    const service = new CheckpointService({
      eventBus,
      manager: runtime.manager,
      store: runtime.store,
      sessionId: session.id,
      getState: () => ({ round: 1 }),
    })
    service.start()
    await eventBus.emit("run:started", { runId: "r" })
    await eventBus.emit("run:ended", { runId: "r", outcome: "done" })
    await eventBus.emit("phase:ended", { phase: "plan" })
    await eventBus.emit("negotiation:resolved", { section: "header", winner: "b" })
    await service.createManualCheckpoint()
    await service.stop()
    const repository = new CheckpointRepository({ store: runtime.store, manager: runtime.manager })
    const taken = await repository.listForSession(session.id)
    expect(taken.map(({ trigger }) => trigger)).toEqual(["run.ended", "phase.ended", "negotiation.resolved", "manual"])
    const [first] = taken as [Checkpoint, ...Checkpoint[]]
    expect((await loadCheckpoint(runtime, session.id, `#${first.number}`)).state).toEqual({ round: 1 })
    for (let n = 0; n < 15; n++) {
      service.start()
      await eventBus.emit("run:started", { runId: `${n}` })
      await eventBus.emit("run:ended", { runId: `${n}`, outcome: "done" })
      await service.stop() // waits, so that each run has a checkpoint of its own
    }
    const left = (await repository.listForSession(session.id)).map(({ number }) => number)
    expect(left, "the first, the one by hand, ten automatic ones, and the newest").toEqual([1, 4, ...range(9, 18), 19])
  })

  it("a checkpoint repository creates, lists, gets and prunes the oldest automatic checkpoints", async () => {
    const repository = new CheckpointRepository({ store: runtime.store, manager: runtime.manager })
    const first = await repository.create({ sessionId: session.id, trigger: "manual", state: { n: 0 } })
    for (let n = 1; n <= 4; n++) await repository.create({ sessionId: session.id, trigger: "run.ended" })
    expect(await repository.get(first.id)).toEqual(first)
    expect(await repository.pruneOldest(session.id, 1)).toBe(2)
    const left = (await repository.listForSession(session.id)).map(({ number }) => number)
    expect(left, "the first by hand, one automatic, and the newest, which never goes").toEqual([1, 4, 5])
  })

  it("a rewind is a branch: the original and its messages stay", async () => {
    await say("first")
    const checkpoint = await saveCheckpoint(runtime, session.id, "here")
    await say("second")
    const navigator = new TimeTravelNavigator(runtime)
    const branch = await navigator.branch(checkpoint.id)
    expect(branch).toMatchObject({
      parentSessionId: session.id,
      forkedFromCheckpointId: checkpoint.id,
      messageCount: 1,
    })
    expect((await runtime.store.sessions.get(session.id)).messageCount).toBe(2)
    const { availableActions, state } = await navigator.navigateTo(checkpoint.id)
    expect([availableActions.map(({ type }) => type), state]).toEqual([["branch"], {}])
  })
})

describe("artifacts (003)", () => {
  it("an artifact is checked, kept and told of, and one of an unknown kind is put aside", async () => {
    const registry = new ArtifactRegistry({ store: runtime.store.artifacts })
    const pipeline = new ArtifactPipeline({ registry, eventBus, sessionId: session.id })
    const envelope = { schemaVersion: "1.0.0", title: "Plan", taskNodeId: "t", createdAt: new Date().toISOString() }
    const steps = [{ id: "1", title: "Read the parser" }]
    const plan = await pipeline.emit({ ...envelope, id: "p", type: "PlanCard", payload: { steps } })
    expect(plan).toMatchObject({ stored: true, valid: true })
    expect(await registry.get("p")).toMatchObject({ id: "p", type: "PlanCard", payload: { steps } })
    expect((await registry.list()).map(({ id }) => id)).toEqual(["p"])
    const [told] = await runtime.store.log.read(session.id, { direction: "backward", limit: 1 })
    expect(told).toMatchObject({ type: "artifact:emitted", data: { artifactId: "p", type: "PlanCard" } })
    const kept = await pipeline.emit({ ...envelope, id: "u", type: "Unknown", payload: {} })
    expect(kept).toMatchObject({ stored: true, valid: false })
    expect(await registry.listQuarantined()).toHaveLength(1)
    const [entry] = await runtime.store.log.read(session.id, { direction: "backward", limit: 1 })
    expect(entry?.type).toBe("artifact:quarantined")
  })
})

describe("checkpoint managers and execution state (000)", () => {
  it("a checkpoint manager is made for a store, takes and finds checkpoints", async () => {
    const manager: CheckpointManager = createCheckpointManager({ store: runtime.store })
    const taken = (await manager.take({ sessionId: session.id, trigger: "manual", name: "by hand" })) as Checkpoint
    expect(await manager.resolve(session.id, "by hand")).toEqual(taken)
    expect(taken.snapshot).toBeNull()
  })

  it("leases and task snapshots survive beside the checkpoints", async () => {
    const state = new SQLiteExecutionStateStore({ store: runtime.store })
    const times = { acquiredAt: 1, expiresAt: 2, lastHeartbeatAt: 1 }
    await state.saveLease({ leaseId: "l", taskId: "t", workerId: "w", status: "running", ...times, attempt: 1 })
    const task = { taskId: "t", type: "run", queueClass: "normal", status: "running" } as const
    await state.saveTaskSnapshot({ ...task, attempt: 1, sequence: 1, timestamp: 1, payload: {} })
    expect(await state.loadLease("l")).toMatchObject({ taskId: "t" })
    expect(await state.listLeases({ status: "running" })).toHaveLength(1)
    expect(await state.listTaskSnapshots({ taskId: "t" })).toHaveLength(1)
    expect(await state.getLatestTaskSnapshots()).toMatchObject([{ ...task, sequence: 1 }])
    await state.deleteLease("l")
    expect(await state.loadLease("l")).toBeNull()
  })
})

describe("sessions with pause and resume (004)", () => {
  it("a checkpoint by name holds task state, progress and git facts, and the session resumes from it", async () => {
    expect(session).toMatchObject({ agentType: "implementer", taskDescription: "a task", status: "active" })
    expect(session.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/)
    expect(typeof session.createdAt).toBe("number")
    await saveCheckpoint(runtime, session.id, "before-refactor", { taskState: { step: 1 }, progress: 0.5 })
    const loaded = await loadCheckpoint(runtime, session.id, "before-refactor")
    expect(loaded).toMatchObject({ taskState: { step: 1 }, progress: 0.5, gitBranch: null, hasUncommitted: false })
    expect((await listCheckpoints(runtime, session.id)).map(({ name }) => name)).toEqual(["before-refactor"])
    expect(await resumeSession(runtime, session.id)).toMatchObject({ session: { status: "active" } })
    const resumed = await resumeSession(runtime, session.id, "before-refactor")
    expect(resumed).toMatchObject({ state: { progress: 0.5 }, checkpoint: { name: "before-refactor" } })
  })

  it("a checkpoint has the branch and whether there is uncommitted work, memory references, open files and cursors", async () => {
    const git = (...args: string[]) => execFileSync("git", ["-C", workspacePath, ...args], { stdio: "ignore" })
    git("init", "-q", "-b", "feature/174")
    write("a.txt", "not committed")
    const state = {
      memoryReferences: ["memory/parser.md"],
      openFiles: [{ path: "a.txt", line: 3, column: 7 }],
      history: [{ agent: "analyst", output: "x".repeat(1_200_000) }],
    }
    const saved = await saveCheckpoint(runtime, session.id, "with work", state)
    expect(saved.git).toMatchObject({ branch: "feature/174", untracked: 1 })
    const loaded = await loadCheckpoint(runtime, session.id, "with work")
    const { memoryReferences, openFiles } = state
    expect(loaded).toMatchObject({ gitBranch: "feature/174", hasUncommitted: true, memoryReferences, openFiles })
    expect({ ...loaded.state }).toEqual(state)
    await expect(saveCheckpoint(runtime, session.id, "with work")).rejects.toMatchObject({ code: "CONFLICT" })
  })

  it("auto-save makes a checkpoint when something changed, stops cleanly and tells failures", async () => {
    const service = new CheckpointService({
      eventBus,
      manager: runtime.manager,
      store: runtime.store,
      sessionId: session.id,
    })
    const autoSave = new AutoSaveMiddleware({ service, eventBus, intervalMs: 30_000 })
    autoSave.start()
    expect(autoSave.isActive).toBe(true)
    autoSave.trackChange()
    await autoSave.forceSave()
    expect(autoSave.pendingChanges).toBe(0)
    await autoSave.stop()
    expect(autoSave.isActive).toBe(false)
    expect((await listCheckpoints(runtime, session.id)).map(({ trigger }) => trigger)).toEqual(["interval"])
  })
})
