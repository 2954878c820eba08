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
