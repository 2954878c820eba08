/** What a snapshot and a restore do where they may not read or write. Root may do everything, so somebody else does it. */
import { execFileSync } from "node:child_process"
import { chmodSync, readdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { ageIndex, writeMany } from "../../test/snapshot/asked-and-walked.js"
import { commitAll } from "../../test/snapshot/random-trees.js"
import { makeWorkspace, type WorkspaceFixture } from "../../test/snapshot/workspace-fixture.js"
import { loadSqlite } from "../store/load-sqlite.js"

let work: WorkspaceFixture
beforeEach(() => {
  work = makeWorkspace({ git: true })
})
afterEach(async () => {
  execFileSync("chmod", ["-R", "u+rwX", work.folder])
  await work.close()
})

async function asSomebody(act: () => Promise<void>): Promise<void> {
  loadSqlite() // while we may still read it
  const isRoot = process.getuid?.() === 0
  if (isRoot) {
    execFileSync("chown", ["-R", "65534:65534", work.folder])
    process.seteuid?.(65_534)
  }
  try {
    await act()
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
}

const mode = (path: string, bits: number) => chmodSync(join(work.root, path), bits)

it("says what is in a folder whose names may be read and nothing else, and leaves it alone", async () => {
  for (const path of ["half/deep/file", "half/file", "top"]) work.write(path, "1")
  await asSomebody(async () => {
    const store = await work.open()
    const first = await store.capture({ message: "1", checkpointId: "c1" })
    mode("half", 0o444)
    work.write("top", "2")
    const second = await store.capture({ message: "2", checkpointId: "c2" })
    const skipped = ["half/deep", "half/file"].map((path) => ({ path, reason: "unreadable" }))
    expect([...second.skipped].sort((a, b) => (a.path < b.path ? -1 : 1))).toEqual(skipped)
    const outcome = await store.restore(first.commit)
    expect(outcome.failed).toEqual([])
    expect(outcome.plan.write).toEqual(["top"])
    mode("half", 0o755)
    const third = await store.capture({ message: "3", checkpointId: "c3" })
    expect(third.skipped).toEqual([])
    expect((await store.listFiles(third.commit)).length).toBe(3)
    expect((await store.restore(second.commit)).plan.delete).toEqual([])
    for (const path of ["half/deep/file", "half/file"]) expect(work.read(path)).toBe("1")
  })
})

it.each([
  ["first", true],
  ["second", false],
])("says what git may not look at in a large repository: in the %s snapshot", async (_, isFirst) => {
  writeMany(work)
  work.write("half/file", "old")
  commitAll(work)
  await asSomebody(async () => {
    work.git("update-index", "--refresh")
    ageIndex(work)
    const store = await work.open()
    if (!isFirst) await store.capture({ message: "1", checkpointId: "1" })
    work.write("half/file", "saved since")
    mode("half", 0o444)
    const { commit, skipped } = await store.capture({ message: "2", checkpointId: "2", exact: true })
    expect(skipped).toEqual([{ path: "half/file", reason: "unreadable" }])
    expect((await store.listFiles(commit)).map(({ path }) => path)).not.toContain("half/file")
  })
})

it("takes a snapshot of a workspace that may not be read, which says so and deletes nothing", async () => {
  work.write("folder/file", "1")
  await asSomebody(async () => {
    const store = await work.open()
    await store.capture({ message: "1", checkpointId: "c1" })
    mode(".", 0)
    const second = await store.capture({ message: "2", checkpointId: "c2" })
    expect(second.skipped).toEqual([{ path: ".", reason: "unreadable" }])
    mode(".", 0o755)
    work.write("folder/other", "2")
    await store.restore(second.commit)
    for (const path of ["folder/file", "folder/other"]) expect(work.exists(path)).toBe(true)
  })
})

it("takes a restore back that may not change a folder", async () => {
  for (const path of ["a", "locked/b", "z"]) work.write(path, "1")
  await asSomebody(async () => {
    const store = await work.open()
    const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
    for (const path of ["a", "locked/b", "z", "locked/new"]) work.write(path, "2")
    const before = work.picture()
    mode("locked", 0o555)
    await expect(store.restore(commit)).rejects.toMatchObject({ code: "EACCES" })
    for (const journal of store.listUnfinishedRestores()) await store.takeBackRestore(journal)
    expect(work.picture()).toEqual(before)
    expect(readdirSync(work.root).filter((name) => name.startsWith(".keepup"))).toEqual([])
  })
})

it("still reads a store that may not be written, and says what is needed to write it", async () => {
  work.write("a", "1")
  await asSomebody(async () => {
    const store = await work.open()
    const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
    await store.close()
    rmSync(join(store.directory, "user-config.json"), { force: true })
    execFileSync("chmod", ["-R", "a-w", work.state])
    const locked = await work.open()
    expect((await locked.readFile(commit, "a")).toString()).toBe("1")
    work.write("a", "2")
    await expect(locked.capture({ message: "2", checkpointId: "c2" })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      hint: expect.stringContaining("writable"),
    })
    await expect(locked.consolidate()).rejects.toMatchObject({ code: "UNAVAILABLE" })
    execFileSync("chmod", ["-R", "u+w", work.state])
    await locked.capture({ message: "2", checkpointId: "c2" })
    await locked.restore(commit)
    expect(work.read("a")).toBe("1")
  })
})

it("says what lies deeper than the system can reach, and leaves it alone", async () => {
  const name = "d".repeat(200)
  const script = `for i in $(seq 25); do mkdir ${name} && cd ${name} && echo x > file || exit 1; done`
  execFileSync("bash", ["-c", script], { cwd: work.root })
  try {
    const store = await work.open()
    const first = await store.capture({ message: "1", checkpointId: "c1" })
    expect(first.skipped).toEqual([{ path: expect.stringMatching(/^(d{200}\/)+d{200}$/), reason: "unreadable" }])
    work.write("later", "2")
    const outcome = await store.restore(first.commit)
    expect(outcome.failed).toEqual([])
    expect(work.exists("later")).toBe(false)
    const depth = execFileSync("find", [".", "-name", "file", "-printf", "x"], { cwd: work.root }).length
    expect(depth).toBe(25)
  } finally {
    execFileSync("rm", ["-rf", join(work.root, name)]) // Node can't
  }
})
