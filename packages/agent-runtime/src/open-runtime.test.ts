import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ArtifactId, Checkpoint, CheckpointId } from "@ku0/agent-runtime-core"
import {
  readCheckpointFile,
  repairStore,
  restoreCheckpoint,
  ShadowCheckpointService,
} from "@ku0/agent-runtime-persistence"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { resolveConfig } from "./config.js"
import { type OpenRuntimeOptions, openRuntime, type Runtime } from "./open-runtime.js"

let root: string
const opened: Runtime[] = []
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "keepup-runtime-")))
  mkdirSync(join(root, "workspace"))
})
afterEach(async () => {
  for (const runtime of opened.splice(0)) await runtime.close().catch(() => undefined)
  rmSync(root, { recursive: true, force: true })
})

async function open(options: Partial<OpenRuntimeOptions> = {}): Promise<Runtime> {
  const runtime = await openRuntime({
    workspacePath: join(root, "workspace"),
    stateDirectory: join(root, "state"),
    environment: { PATH: process.env["PATH"] },
    ...options,
  })
  opened.push(runtime)
  return runtime
}

const write = (path: string, text: string | Buffer) => writeFileSync(join(root, "workspace", path), text)
const take = async (runtime: Runtime, sessionId: string, trigger: "manual" | "run.ended" = "manual") =>
  (await runtime.manager.take({ sessionId: sessionId as never, trigger })) as Checkpoint
const create = (runtime: Runtime, name: string, metadata = {}) =>
  runtime.store.sessions.create({ workspacePath: runtime.workspacePath, name, metadata })

function safetyOf(checkpoints: ReadonlyMap<string, string>): string {
  return [...checkpoints].find(([id]) => id.startsWith("before-task-"))?.[1] as string
}

describe("a runtime", () => {
  it("keeps everything under the state directory, closed to others, and finds it again", async () => {
    const first = await open()
    const session = await create(first, "one")
    write("a.txt", "x")
    const checkpoint = await take(first, session.id)
    await first.close()
    const stateDirectory = join(root, "state")
    expect(statSync(stateDirectory).mode & 0o077).toBe(0)
    expect(statSync(join(stateDirectory, "keepup.db")).mode & 0o777).toBe(0o600)
    expect(readdirSync(stateDirectory)).toEqual(expect.arrayContaining(["keepup.db", "snapshots"]))
    expect(readdirSync(join(root, "workspace"))).toEqual(["a.txt"])
    const second = await open()
    expect(await second.store.checkpoints.get(checkpoint.id)).toEqual(checkpoint)
    expect((await second.snapshots(second.workspacePath)).listCheckpoints().get(checkpoint.id)).toBe(
      checkpoint.snapshot?.commit,
    )
  })

  it("has the database in the workspace in project mode, and never in a snapshot", async () => {
    const runtime = await open({ config: resolveConfig({ flags: { storage: "project" } }).config })
    const session = await create(runtime, "one")
    write("a.txt", "x")
    const checkpoint = await take(runtime, session.id)
    expect(existsSync(join(root, "workspace/.agents/sessions.db"))).toBe(true)
    expect(existsSync(join(root, "state/keepup.db"))).toBe(false)
    const snapshots = await runtime.snapshots(runtime.workspacePath)
    const files = await snapshots.listFiles(checkpoint.snapshot?.commit as string)
    expect(files.map(({ path }) => path)).toEqual(["a.txt"])
  })

  it("opens the database it is told to, and says why when it can't", async () => {
    const runtime = await open({ db: "memory:" })
    expect(runtime.store.kind).toBe("memory")
    expect(existsSync(join(root, "state/keepup.db"))).toBe(false)
    await expect(open({ db: "mysql://x" })).rejects.toMatchObject({ code: "INVALID_INPUT" })
    mkdirSync(join(root, "state"), { recursive: true })
    writeFileSync(join(root, "state/keepup.db"), "this is no database, and never was one".repeat(50))
    await expect(open()).rejects.toMatchObject({ code: "CORRUPT" })
  })

  it("captures by its configuration and keeps what retention says", async () => {
    const config = resolveConfig({
      flags: { "capture.maxFileSize": 3, "capture.include": ["kept.log"], "checkpoint.retention": 1 },
    }).config
    const runtime = await open({ config })
    const session = await create(runtime, "one")
    write(".gitignore", "*.log\n")
    write("kept.log", "k")
    write("lost.log", "l")
    write("large.txt", "large")
    const checkpoint = await take(runtime, session.id)
    const files = await (await runtime.snapshots(runtime.workspacePath)).listFiles(
      checkpoint.snapshot?.commit as string,
    )
    expect(files.map(({ path }) => path)).toEqual(["kept.log"])
    expect(checkpoint.snapshot?.skipped.map(({ path, reason }) => [path, reason])).toEqual(
      expect.arrayContaining([["large.txt", "too-large"]]),
    )
    for (let n = 0; n < 4; n++) await take(runtime, session.id, "run.ended")
    const { removed } = await runtime.manager.prune(session.id)
    expect(removed.map(({ number }) => number)).toEqual([2, 3])
  })

  it("warns when the files can't be captured, and keeps the checkpoint", async () => {
    const warnings: string[] = []
    const runtime = await open({
      onWarning: (message) => warnings.push(message),
      homeDirectory: join(root, "workspace"),
    })
    const session = await create(runtime, "one")
    expect((await take(runtime, session.id)).snapshot).toBeNull()
    expect(warnings).toEqual([expect.stringContaining("is not complete")])
  })

  it("takes the workspace's newest session for the current one, unless it is a finished import", async () => {
    const runtime = await open()
    expect(await runtime.findCurrentSession()).toBeUndefined()
    const own = await create(runtime, "own")
    const paused = await create(runtime, "imported", { imported: true })
    expect((await runtime.findCurrentSession())?.id).toBe(paused.id)
    await runtime.store.log.append(paused.id, [{ type: "session:ended", data: { outcome: "completed" } }])
    await runtime.store.sessions.create({ workspacePath: "/elsewhere", name: "other" })
    expect((await runtime.findCurrentSession())?.id).toBe(own.id)
  })

  it("closes what died when it opens, and leaves it alone if told to", async () => {
    const first = await open()
    const { id } = await create(first, "dies")
    await first.store.log.append(id, [{ type: "run:started", data: { runId: "r" } }])
    await first.close()
    const looking = await open({ recover: false })
    expect(looking.recovered.sessions).toEqual([])
    expect((await looking.store.sessions.get(id)).status).toBe("active")
    await looking.close()
    const second = await open()
    expect(second.recovered.sessions.map(({ session }) => session.id)).toEqual([id])
    expect((await second.store.sessions.get(id)).status).toBe("paused")
  })

  it("frees what nothing reaches, in the database, the artifacts and the snapshots, or says what it would", async () => {
    let now = Date.now()
    const runtime = await open({ clock: { now: () => now } })
    const [kept, gone] = [await create(runtime, "kept"), await create(runtime, "gone")]
    write("a.txt", "1")
    const here = await take(runtime, kept.id)
    const lost = await take(runtime, gone.id)
    const facts = { type: "t", schemaVersion: "1", title: "", taskNodeId: null, mediaType: "text/plain", createdAt: 1 }
    const none = { quarantine: null, renderHints: null, idempotencyKey: null }
    await runtime.store.artifacts.put(
      { id: "x" as ArtifactId, sessionId: gone.id, ...facts, ...none },
      Buffer.from("x"),
    )
    await runtime.store.state.put(gone.id, { big: "value" })
    await runtime.store.sessions.delete(gone.id)
    now += 2 * 3_600_000
    const idsOf = async () => [...(await runtime.snapshots(runtime.workspacePath)).listCheckpoints().keys()].sort()
    expect((await runtime.collectGarbage({ dryRun: true })).values).toBe(1)
    expect(await idsOf()).toEqual([here.id, lost.id].sort() as CheckpointId[])
    const report = await runtime.collectGarbage()
    expect(report).toMatchObject({ values: 1, workspaces: [runtime.workspacePath] })
    expect(report).toMatchObject({ bytes: '"value"'.length, artifacts: 1, artifactBytes: 1, snapshots: { dropped: 1 } })
    expect(await idsOf()).toEqual([here.id])
  })

  it("says of garbage what really went from the disk, whatever the checkpoints that went had once added", async () => {
    let now = Date.now() - 86_400_000
    const runtime = await open({ clock: { now: () => now } })
    const { id } = await create(runtime, "grows")
    for (let n = 0; n < 14; n++) {
      write(`kept-${n}.bin`, randomBytes(100_000))
      await take(runtime, id, "run.ended")
    }
    const pruned = await runtime.manager.prune(id, { keep: 2 })
    expect(pruned).toEqual({ removed: expect.any(Array) })
    expect(pruned.removed.reduce((total, { sizeBytes }) => total + sizeBytes, 0)).toBeGreaterThan(900_000)
    now += 2 * 3_600_000
    const store = await runtime.snapshots(runtime.workspacePath)
    await store.consolidate() // else packs that wait to be merged would be, just before
    const folder = join(store.directory, "objects/pack")
    const onDisk = () => readdirSync(folder).reduce((total, name) => total + statSync(join(folder, name)).size, 0)
    expect((await runtime.collectGarbage({ dryRun: true })).snapshots, "a dry run measures nothing").toBeUndefined()
    const before = onDisk()
    const { snapshots } = await runtime.collectGarbage()
    expect(snapshots).toEqual({ dropped: pruned.removed.length, bytesBefore: before, bytesAfter: onDisk() })
    expect(before - onDisk(), "later checkpoints keep nearly all of it").toBeLessThan(100_000)
    write("kept-0.bin", randomBytes(500_000))
    await take(runtime, id, "run.ended")
    write("kept-0.bin", "small")
    await take(runtime, id, "run.ended")
    await runtime.manager.prune(id, { keep: 0 })
    now += 2 * 3_600_000
    const second = await runtime.collectGarbage()
    expect((second.snapshots?.bytesBefore ?? 0) - (second.snapshots?.bytesAfter ?? 0)).toBeGreaterThan(400_000)
  })

  it("takes old ended sessions away when asked", async () => {
    let now = 1_000_000
    const runtime = await open({ clock: { now: () => now } })
    const { id } = await create(runtime, "old")
    await runtime.store.log.append(id, [{ type: "session:ended", data: { outcome: "completed" } }])
    now += 10_000
    const plan = await runtime.cleanupSessions({ olderThanMs: 5_000, dryRun: true })
    expect(plan.removed.map((session) => session.id)).toEqual([id])
    await runtime.cleanupSessions({ olderThanMs: 5_000 })
    expect(await runtime.store.sessions.find(id)).toBeUndefined()
  })

  it("reads git facts of its workspace, and of others", async () => {
    const runtime = await open()
    expect(await runtime.readGit()).toBeNull()
    expect(await runtime.readGit(root)).toBeNull()
  })

  it("writes a handoff at each checkpoint if a file is named for it, and none otherwise", async () => {
    const handoff = join(root, "workspace/HANDOFF.md")
    const plain = await open()
    await take(plain, (await create(plain, "plain")).id)
    expect(existsSync(handoff)).toBe(false)
    await plain.close()
    const { config } = resolveConfig({ flags: { "handoff.path": "HANDOFF.md" } })
    const runtime = await open({ config })
    const { number } = await take(runtime, (await create(runtime, "handed over")).id)
    expect(readFileSync(handoff, "utf8")).toContain(`--from '#${number}'`)
  })

  it("knows the rules of a workspace again that was gone when it was first asked for", async () => {
    const moved = join(root, "moved")
    const { workspacePath } = await open()
    execFileSync("git", ["init", "-q", workspacePath])
    mkdirSync(join(workspacePath, ".git/info"), { recursive: true })
    writeFileSync(join(workspacePath, ".git/info/exclude"), "secret.env\n")
    write("a.txt", "one")
    write("secret.env", "key")
    const first = await open()
    const checkpoint = await take(first, (await create(first, "here")).id)
    await first.close()
    renameSync(workspacePath, moved)
    const runtime = await open()
    expect((await runtime.snapshots(workspacePath)).isGone).toBe(true)
    renameSync(moved, workspacePath)
    write("a.txt", "two")
    const { plan } = await restoreCheckpoint(runtime, { checkpoint })
    expect(plan).toMatchObject({ write: ["a.txt"], delete: [] })
    expect(readFileSync(join(workspacePath, "secret.env"), "utf8")).toBe("key")
  })

  it("frees what it can, also where a workspace is gone, and says what it left", async () => {
    const runtime = await open()
    const gone = join(root, "gone")
    const newer = join(root, "newer")
    const kept: Checkpoint[] = []
    for (const workspacePath of [gone, newer]) {
      mkdirSync(workspacePath)
      const session = await runtime.store.sessions.create({ workspacePath, name: "lost" })
      kept.push(await take(runtime, session.id))
    }
    await take(runtime, (await create(runtime, "here")).id)
    const { directory } = await runtime.snapshots(newer)
    await runtime.close()
    rmSync(gone, { recursive: true })
    writeFileSync(join(directory, "keepup.json"), JSON.stringify({ version: 99, workspace: newer }))
    const again = await open()
    const { workspaces, left } = await again.collectGarbage()
    expect(workspaces.toSorted()).toEqual([gone, again.workspacePath].toSorted())
    expect(left).toEqual([{ path: newer, reason: expect.stringContaining("newer keepup") }])
    expect((await again.snapshots(gone)).listCheckpoints().has(kept[0]?.id as string)).toBe(true)
  })

  it("takes no snapshot away that a task keeps without a database", async () => {
    let now = Date.now() - 30 * 86_400_000
    const clock = { now: () => now }
    const runtime = await open({ clock })
    write("a.txt", "first")
    await take(runtime, (await create(runtime, "session")).id)
    const { workspacePath } = runtime
    const environment = { PATH: process.env["PATH"] }
    const serve = () =>
      new ShadowCheckpointService({ taskId: "t", workspacePath, storagePath: join(root, "state"), environment, clock })
    const service = serve()
    const { baseHash } = await service.init()
    write("a.txt", "second")
    await service.saveCheckpoint("second")
    write("a.txt", "in no checkpoint")
    await service.restoreCheckpoint(baseHash)
    await service.close()
    now += 20 * 86_400_000
    expect((await runtime.collectGarbage()).left).toEqual([])
    const again = serve()
    await again.init()
    const texts: string[] = []
    const snapshots = await runtime.snapshots(workspacePath)
    for (const commit of [...again.getCheckpoints().map((one) => one.commit), safetyOf(snapshots.listCheckpoints())])
      texts.push((await snapshots.readFile(commit, "a.txt")).toString())
    expect(texts).toEqual(["first", "second", "in no checkpoint"])
    await again.close()
  })

  it("goes on with the newest session whose row can be read", async () => {
    const runtime = await open()
    const good = await create(runtime, "good")
    const bad = await create(runtime, "bad")
    expect((await runtime.findCurrentSession())?.id).toBe(bad.id)
    await runtime.store.context.driver.run("UPDATE sessions SET metadata = '{' WHERE id = ?", [bad.id])
    expect((await runtime.findCurrentSession())?.id).toBe(good.id)
    expect((await runtime.cleanupSessions({ olderThanMs: -1 })).left).toEqual([])
  })

  it("takes no snapshot away that has only lost its ref", async () => {
    let now = Date.now() - 30 * 86_400_000
    const runtime = await open({ clock: { now: () => now } })
    const session = await create(runtime, "session")
    const commits: string[] = []
    for (const text of ["first", "second"]) {
      write("a.txt", text)
      commits.push((await take(runtime, session.id)).snapshot?.commit as string)
    }
    now += 20 * 86_400_000
    const snapshots = await runtime.snapshots(runtime.workspacePath)
    await snapshots.consolidate()
    writeFileSync(join(snapshots.directory, "packed-refs"), "")
    const { left } = await runtime.collectGarbage()
    expect(left).toEqual([{ path: runtime.workspacePath, reason: expect.stringContaining("doctor --repair") }])
    await repairStore(runtime)
    expect((await runtime.collectGarbage()).left).toEqual([])
    expect((await snapshots.readFile(commits[0] as string, "a.txt")).toString()).toBe("first")
  })

  it("takes no snapshot away that was taken when the machine had another name", async () => {
    let now = Date.now() - 30 * 86_400_000
    const runtime = await open({ clock: { now: () => now } })
    const session = await create(runtime, "session")
    write("a.txt", "first")
    const { id } = await take(runtime, session.id)
    await runtime.store.context.driver.run("UPDATE session_checkpoints SET host = 'old-name'")
    write("a.txt", "second")
    await take(runtime, session.id)
    now += 20 * 86_400_000
    expect((await runtime.collectGarbage()).left).toEqual([])
    const old = await runtime.store.checkpoints.get(id)
    expect(old.host).toBe("old-name")
    expect((await readCheckpointFile(runtime, old, "a.txt")).toString()).toBe("first")
  })

  it("takes no snapshot away that a checkpoint in another database needs", async () => {
    let now = Date.now() - 30 * 86_400_000
    const clock = { now: () => now }
    write("a.txt", "first")
    const one = await open({ clock })
    const kept = await take(one, (await create(one, "one")).id)
    now += 20 * 86_400_000
    write("a.txt", "second")
    const db = `sqlite:${join(root, "other.db")}`
    const two = await open({ clock, db })
    const session = await create(two, "two")
    await take(two, session.id)
    now += 10 * 86_400_000
    const { left } = await two.collectGarbage()
    expect(left).toEqual([{ path: two.workspacePath, reason: expect.stringContaining("keepup.db") }])
    await repairStore(two)
    const files = (runtime: Runtime) => readCheckpointFile(runtime, kept, "a.txt")
    expect((await files(one)).toString()).toBe("first")
    // when the other one is gone for good, what it needed may go
    await one.close()
    for (const end of ["", "-wal", "-shm"]) rmSync(join(root, "state", `keepup.db${end}`), { force: true })
    expect((await two.collectGarbage()).left).toEqual([])
    expect((await two.snapshots(two.workspacePath)).listCheckpoints().has(kept.id)).toBe(false)
  })
})
