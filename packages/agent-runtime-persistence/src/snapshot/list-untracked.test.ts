/** In a large repository git lists what it does not track; nothing it leaves out, and nothing that is odd, is missed. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import {
  ageIndex,
  expectSame,
  expectSameOfRandomTrees,
  makeGit,
  writeMany,
} from "../../test/snapshot/asked-and-walked.js"
import { commitAll } from "../../test/snapshot/random-trees.js"
import { makeWorkspace, type WorkspaceFixture } from "../../test/snapshot/workspace-fixture.js"
import { loadScanState } from "./scan-state.js"

let work: WorkspaceFixture
beforeEach(() => {
  work = makeWorkspace({ git: true })
  writeMany(work)
})
afterEach(() => work.close())

function commit(): void {
  commitAll(work)
  ageIndex(work)
}

const list = async (ref: string) => {
  const store = await work.open()
  return (await store.listFiles(ref)).map(({ path }) => path).filter((path) => !path.startsWith("many/"))
}

it("holds the same as a walk: new and empty folders, ignored files, repositories, links, what is gone", async () => {
  work.write(".gitignore", "*.log\nbuild/\n/top-only\n")
  work.write("in/.gitignore", "!kept.log\n")
  for (const path of ["was/a", "was/b", "deep/er/x", "file-then-folder", "folder-then-file/x", "linked/x"])
    work.write(path, path)
  work.write("forced.log", "tracked all the same")
  work.write("only-forced.log/in/x", "tracked, in an ignored folder")
  work.git("add", "-f", "forced.log", "only-forced.log")
  commit()
  for (const path of ["new/a", "new/deep/b", "in/kept.log", "was/new", "build/out", "x.log", "in/x.log", "top-only"])
    work.write(path, path)
  work.write("new\nline \xff/odd \xfe\n", "odd")
  work.write("new/top-only", "not at the top")
  for (const path of ["empty", "new/empty/inside", "was/empty", "build/empty", "deep/er/empty"]) work.folderAt(path)
  for (const path of [
    "was/a",
    "was/b",
    "deep/er/x",
    "file-then-folder",
    "folder-then-file",
    "linked",
    "only-forced.log",
  ])
    work.remove(path)
  work.folderAt("only-forced.log/in")
  work.write("file-then-folder/x", "1")
  work.write("folder-then-file", "1")
  work.link("linked", "../home")
  work.link("was/link-to-folder", "../new")
  work.write("repository/file", "1")
  work.write("was/repository/file", "1")
  for (const path of ["repository", "was/repository"])
    execFileSync("git", ["init", "-q"], { cwd: join(work.root, path), env: { PATH: process.env.PATH } })
  execFileSync("mkfifo", [join(work.root, "new/pipe")])
  await expectSame(work)
})

it("holds the same as a walk when all files of a folder are gone", async () => {
  for (const path of ["gone/deep/a", "gone/deep/b", "ignored/a", ".keep/out/a"]) work.write(path, path)
  work.write(".keepupignore", "x/\n")
  commit()
  for (const path of ["gone/deep/a", "gone/deep/b", "ignored/a", ".keep/out/a"]) work.remove(path)
  work.write(".gitignore", "ignored/\n")
  await expectSame(work)
  const store = await work.open()
  const { commit: id } = await store.capture({ message: "x" })
  expect((await store.describe(id)).emptyFolders).toEqual([".keep/out", "gone/deep"])
})

it("holds the same as a walk on random trees", () => expectSameOfRandomTrees(2))

it("names a pipe in a folder that git tracks from the second snapshot on: git tells of none", async () => {
  commit()
  execFileSync("mkfifo", [join(work.root, "many/pipe")])
  const store = await work.open()
  expect((await store.capture({ message: "1", checkpointId: "1" })).skipped).toEqual([])
  const { skipped } = await store.capture({ message: "2", exact: true, share: true })
  expect(skipped).toEqual([{ path: "many/pipe", reason: "special" }])
})

it.each([
  ["fails", "exit 1"],
  ["could not open a folder", "echo 'warning: could not open directory' >&2; exit 0"],
])("walks where git %s", async (_, script) => {
  commit()
  work.write("new/file", "1")
  const store = await work.open({ git: makeGit(work, script).program })
  const { commit: id } = await store.capture({ message: "1", checkpointId: "1" })
  expect(await list(id)).toEqual(["new/file"])
})

it("walks where git waits for ever: a pipe has the name of a file of rules", async () => {
  commit()
  execFileSync("mkfifo", [join(work.root, "many/.gitignore")])
  work.write("new/file", "1")
  const store = await work.open()
  const { commit: id, skipped } = await store.capture({ message: "1", checkpointId: "1" })
  expect(await list(id)).toEqual(["new/file"])
  expect(skipped.map(({ path }) => path)).toContain("many")
})

it("reads the folders when nobody waits for it, so that the next snapshot need not", async () => {
  commit()
  work.folderAt("many/empty")
  const store = await work.open()
  const first = await store.capture({ message: "1", checkpointId: "1" })
  expect(loadScanState(store.directory)?.directories.entries.size).toBe(0)
  await store.close()
  expect([...(loadScanState(store.directory)?.directories.entries.keys() ?? [])]).toContain("many/d7")
  const again = await work.open()
  expect(await again.captureIfChanged({ message: "2", exact: true })).toBeNull()
  work.write("many/d7/new", "1")
  const second = await again.capture({ message: "3", exact: true })
  expect(await again.diff(first.commit, second.commit)).toMatchObject([{ path: "many/d7/new", status: "added" }])
})

it.each(["many/d3/new", "new/folder/file", ".gitignore"])("takes what came meanwhile for new: %s", async (path) => {
  work.write("ignored", "1")
  commit()
  const store = await work.open()
  const first = await store.capture({ message: "1", checkpointId: "1" })
  work.write(path, "ignored\n")
  await store.close()
  const again = await work.open()
  const second = await again.capture({ message: "2", exact: true })
  expect((await again.diff(first.commit, second.commit)).map((change) => change.path)).toContain(path)
  expect(await again.diff(second.commit, "workspace")).toEqual([])
})

it("keeps empty folders when the second snapshot runs out of time", async () => {
  commit()
  work.folderAt("many/empty")
  const store = await work.open()
  await store.capture({ message: "1", checkpointId: "1" })
  const { commit: id, scan } = await store.capture({ message: "2", exact: true, timeBudgetMs: 0 })
  expect(scan).toBe("stopped")
  expect((await store.describe(id)).emptyFolders).toEqual(["many/empty"])
})

it("borrows nothing from an index that turns out to be of no use", async () => {
  commit()
  const store = await work.open()
  mkdirSync(join(work.root, "plain"))
  for (let i = 0; i < 1_600; i++) rmSync(join(work.root, `many/d${i % 8}/f${i}`))
  work.git("add", "-A")
  const index = readFileSync(join(work.root, ".git/index"))
  expect(index.readUInt32BE(8)).toBe(0)
  await store.capture({ message: "1", checkpointId: "1" })
  expect(existsSync(join(store.directory, "objects/info/alternates"))).toBe(false)
})
