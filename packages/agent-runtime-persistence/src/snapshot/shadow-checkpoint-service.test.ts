import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { makeWorkspace, type WorkspaceFixture } from "../../test/snapshot/workspace-fixture.js"
import { ShadowCheckpointService } from "./shadow-checkpoint-service.js"

let work: WorkspaceFixture
let services: ShadowCheckpointService[]
beforeEach(() => {
  work = makeWorkspace()
  services = []
})
afterEach(async () => {
  for (const service of services) await service.close()
  await work.close()
})

function serve(taskId = "task", workspacePath = work.root): ShadowCheckpointService {
  const service = new ShadowCheckpointService({ taskId, workspacePath, storagePath: work.state })
  services.push(service)
  return service
}

it("saves, compares and restores by commit", async () => {
  work.write("a.txt", "one")
  const service = serve()
  const { created, baseHash } = await service.init()
  expect(created).toBe(true)
  expect(await service.init()).toEqual({ created: true, baseHash })
  expect(await service.saveCheckpoint("nothing changed")).toBeNull()
  expect(await service.saveCheckpoint("empty", { allowEmpty: true })).toMatchObject({
    base: baseHash,
    message: "empty",
  })
  work.write("a.txt", "two")
  work.write("\xc3\xa9.txt", "new")
  const saved = await service.saveCheckpoint("changed")
  expect(saved).toMatchObject({ base: baseHash, message: "changed" })
  const diff = await service.getDiff({ from: baseHash, ...(saved ? { to: saved.commit } : {}) })
  expect(diff).toEqual([
    {
      path: { relative: "a.txt", absolute: `${work.root}/a.txt` },
      content: { before: "one", after: "two" },
      commit: baseHash,
    },
    {
      path: { relative: "é.txt", absolute: `${work.root}/é.txt` },
      content: { before: "", after: "new" },
      commit: baseHash,
    },
  ])
  work.write("later.txt", "made after the checkpoint")
  const before = work.picture()
  await service.restoreCheckpoint(diff[0]?.commit ?? "")
  expect([...work.picture()]).toEqual([["a.txt", "file - one"]])
  await service.restoreCheckpoint(saved?.commit ?? "")
  expect(work.read("a.txt")).toBe("two")
  expect(before.has("later.txt")).toBe(true)
})

it("keeps base and checkpoints across a restart, apart from other tasks", async () => {
  work.write("a.txt", "one")
  const first = serve("one")
  const { baseHash } = await first.init()
  work.write("a.txt", "two")
  const saved = await first.saveCheckpoint("two")
  await first.close()
  const other = serve("one-more")
  expect((await other.init()).baseHash).not.toBe(baseHash)
  const again = serve("one")
  expect(await again.init()).toEqual({ created: false, baseHash })
  expect(again.getBaseHash()).toBe(baseHash)
  expect(again.getCheckpoints().map(({ commit, message }) => ({ commit, message }))).toEqual([
    { commit: baseHash, message: "initial checkpoint" },
    { commit: saved?.commit, message: "two" },
  ])
  expect(await again.saveCheckpoint("same as my last one")).toBeNull()
})

it("keeps every checkpoint of those saved at once, by one service or by several of the same task", async () => {
  work.write("a.txt", "one")
  const [first, second] = [serve("one"), serve("one")]
  await first.init()
  await second.init()
  const saved = await Promise.all([
    first.saveCheckpoint("a", { allowEmpty: true }),
    first.saveCheckpoint("b", { allowEmpty: true }),
    second.saveCheckpoint("c", { allowEmpty: true }),
  ])
  work.write("a.txt", "two")
  const changed = await second.saveCheckpoint("d")
  expect(await first.saveCheckpoint("nothing changed since the other one's")).toBeNull()
  const again = serve("one")
  await again.init()
  expect(again.getCheckpoints().map(({ message }) => message)).toHaveLength(5)
  expect(new Set(again.getCheckpoints().map(({ message }) => message))).toEqual(
    new Set(["initial checkpoint", "a", "b", "c", "d"]),
  )
  await again.restoreCheckpoint(saved[0]?.commit as string)
  expect(work.read("a.txt")).toBe("one")
  await again.restoreCheckpoint(changed?.commit as string)
  expect(work.read("a.txt")).toBe("two")
})

it("keeps what a restore takes away in a safety snapshot of its own, and compares files of any size as a whole", async () => {
  const large = "a line of a large file\n".repeat(60_000)
  work.write("large.txt", large)
  const service = serve()
  const { baseHash } = await service.init()
  work.write("large.txt", `${large}more`)
  work.write("later.txt", "in no checkpoint")
  const [entry] = await service.getDiff()
  expect(entry?.content.before === large && entry.content.after === `${large}more`).toBe(true)
  await service.restoreCheckpoint(baseHash)
  expect(work.picture().has("later.txt")).toBe(false)
  await service.close()
  const store = await work.open()
  const safety = [...store.listCheckpoints()].find(([id]) => id.startsWith("before-task-task-"))
  expect((await store.readFile(safety?.[1] as string, "later.txt")).toString()).toBe("in no checkpoint")
  await store.close()
})

it("refuses an empty or unknown commit, another workspace, and unusable ids", async () => {
  work.write("a.txt", "one")
  const service = serve()
  expect(() => service.getBaseHash()).toThrow(/not open/)
  await service.init()
  await expect(service.restoreCheckpoint("")).rejects.toMatchObject({ code: "INVALID_INPUT" })
  await expect(service.restoreCheckpoint("f".repeat(40))).rejects.toMatchObject({ code: "NOT_FOUND" })
  const elsewhere = serve("task", work.home)
  await expect(elsewhere.init()).rejects.toThrow(/is bound to .*, expected/)
  expect(() => serve("../evil")).toThrow(/task id/)
})

it("knows its workspace again however the path is written: with a slash, relative, through a link", async () => {
  work.write("a.txt", "one")
  symlinkSync(work.root, join(work.folder, "link"))
  symlinkSync(work.folder, join(work.folder, "around"))
  const { baseHash } = await serve("task", join(work.folder, "link")).init()
  const ways = [
    ...[work.root, `${work.root}/`, relative(process.cwd(), work.root), `${work.root}/../work/.`],
    ...[join(work.folder, "link"), `${join(work.folder, "link")}/`, join(work.folder, "around/work")],
  ]
  for (const way of ways) expect(await serve("task", way).init(), way).toEqual({ created: false, baseHash })
  work.write("a.txt", "two")
  const [entry] = await serve("task", relative(process.cwd(), work.root)).getDiff()
  expect(entry?.path.absolute).toBe(join(work.root, "a.txt"))
  const other = join(work.folder, "other")
  symlinkSync(work.home, other)
  await expect(serve("task", other).init()).rejects.toThrow(/is bound to .*, expected/)
})

it("knows a workspace that an older version bound through a link, and one that is gone", async () => {
  work.write("a.txt", "one")
  const first = serve()
  const { baseHash } = await first.init()
  await first.close()
  const file = join(work.state, "tasks/task.json")
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ workspacePath: work.root })
  symlinkSync(work.folder, join(work.folder, "around"))
  writeFileSync(file, JSON.stringify({ workspacePath: `${work.folder}/around/work/` }))
  expect(await serve().init()).toEqual({ created: false, baseHash })
  renameSync(work.root, `${work.root}-away`)
  for (const way of [work.root, `${work.root}/`, join(work.folder, "around/work")]) {
    const service = serve("task", way)
    expect(await service.init(), way).toEqual({ created: false, baseHash })
    await expect(service.saveCheckpoint("nothing is there")).rejects.toMatchObject({ code: "NOT_FOUND" })
  }
  renameSync(`${work.root}-away`, work.root)
})

it.each(["", "{", "null", "7", "[]", '{"workspacePath":7}', '{"workspacePath":""}'])(
  "says that the binding of a task is damaged, and goes on when it is removed: %j",
  async (text) => {
    work.write("a.txt", "one")
    const { baseHash } = await serve().init()
    const file = join(work.state, "tasks/task.json")
    writeFileSync(file, text)
    const hint = expect.stringContaining("Remove it")
    await expect(serve().init()).rejects.toMatchObject({
      code: "CORRUPT",
      message: expect.stringContaining(file),
      hint,
    })
    rmSync(file)
    expect(await serve().init()).toEqual({ created: false, baseHash })
  },
)
