/** In a large repository git lists what it does not track; nothing it leaves out, and nothing that is odd, is missed. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { ageIndex, expectSame, makeGit, writeMany } from "../../test/snapshot/asked-and-walked.js"
import { commitAll } from "../../test/snapshot/random-trees.js"
import { makeWorkspace, type WorkspaceFixture } from "../../test/snapshot/workspace-fixture.js"
import { loadScanState } from "./scan-state.js"
import type { SnapshotStore } from "./snapshot-store.js"

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
  const files = (await store.listFiles(ref)).map(({ path }) => path)
  return files.filter((path) => !path.startsWith("many/")).sort()
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

it("holds the same as a walk where the user chose other rules than those in git's usual place", async () => {
  mkdirSync(join(work.home, ".config/git"), { recursive: true })
  writeFileSync(join(work.home, ".config/git/ignore"), "notes.txt\n")
  writeFileSync(join(work.home, "chosen"), "*.log\n")
  writeFileSync(join(work.home, ".gitconfig"), `[core]\n\texcludesFile = ${work.home}/chosen\n`)
  commit()
  for (const path of ["notes.txt", "many/notes.txt", "many/a.log", "new/notes.txt"]) work.write(path, "1")
  await expectSame(work)
  const store = await work.open({ environment: { PATH: process.env.PATH, HOME: work.home } })
  const { commit: id } = await store.capture({ message: "x" })
  expect(await list(id)).toEqual(["new/notes.txt", "notes.txt"])
  expect((await store.listFiles(id)).length).toBe(1_603)
})

it.each([
  ["before the next snapshot", false, ""],
  ["after the folders were read", true, ""],
  ["before the next snapshot, and git could not tell of it", false, "exit 128"],
  ["after the folders were read, and git could not tell of it", true, "exit 128"],
])("lets go of what only an ignored file of rules took in, when that goes %s", async (_, isLater, script) => {
  work.write(".gitignore", "*.secret\n.gitignore\n")
  work.git("add", "-f", ".gitignore")
  commit()
  work.write("many/.gitignore", "!x.secret\n")
  work.write("many/x.secret", "1")
  work.write("many/deep/new/x.secret", "1")
  const store = await work.open({ git: makeGit(work, script, "--verbose").program })
  const first = await store.capture({ message: "1", checkpointId: "1" })
  const listSecrets = async (snapshots: SnapshotStore, ref: string) =>
    (await snapshots.listFiles(ref)).map(({ path }) => path).filter((path) => path.endsWith(".secret"))
  expect((await listSecrets(store, first.commit)).sort()).toEqual(["many/deep/new/x.secret", "many/x.secret"])
  if (isLater) await store.close()
  work.remove("many/.gitignore")
  work.write("many/x.secret", "now secret")
  const again = await work.open()
  const second = await again.capture({ message: "2", exact: true })
  expect(await listSecrets(again, second.commit)).toEqual([])
})

it("lets go of a folder that only an ignored file of rules took in, when that goes", async () => {
  work.write(".gitignore", "*secret*\n.gitignore\n")
  work.git("add", "-f", ".gitignore")
  commit()
  work.write("many/.gitignore", "!mysecrets/\n")
  work.write("many/mysecrets/deep/x", "1")
  const store = await work.open()
  const first = await store.capture({ message: "1", checkpointId: "1" })
  const holds = async (ref: string) => (await store.listFiles(ref)).some(({ path }) => path === "many/mysecrets/deep/x")
  expect(await holds(first.commit)).toBe(true)
  work.remove("many/.gitignore")
  work.write("many/mysecrets/deep/x", "now secret")
  const second = await store.capture({ message: "2", exact: true })
  expect(await holds(second.commit)).toBe(false)
})

it("does not hold a tracked file that is too large, and says so", async () => {
  work.write("large", "x".repeat(5_000))
  commit()
  await expectSame(work)
  const store = await work.open({ stateDirectory: join(work.folder, "other"), capture: { maxFileSize: 4_096 } })
  const { commit: id, skipped } = await store.capture({ message: "1", checkpointId: "1" })
  expect(skipped).toEqual([{ path: "large", reason: "too-large" }])
  expect((await store.listFiles(id)).map(({ path }) => path)).not.toContain("large")
})

it("does not keep what it read of the folders while git had other rules", async () => {
  work.write(".gitignore", "/other/x\n")
  work.write("x/old", "1")
  commit()
  const { program, asked } = makeGit(work, "sleep 1", "check-ignore")
  const store = await work.open({ git: program })
  await store.capture({ message: "1", checkpointId: "1" })
  await vi.waitUntil(() => asked().some((line) => line.includes("check-ignore"))) // the folders are being read
  const exclude = join(work.root, ".git/info/exclude")
  const before = existsSync(exclude) ? readFileSync(exclude, "utf8") : ""
  writeFileSync(exclude, `${before}\nx/\n`)
  const onStep = (step: string) => {
    if (step === "capture:scan") throw new Error("stopped")
  }
  await expect((await work.open({ onStep })).capture({ message: "stopped" })).rejects.toThrow("stopped")
  await store.close()
  writeFileSync(exclude, before)
  work.write("x/new", "1")
  const { commit: id } = await (await work.open()).capture({ message: "2", exact: true })
  expect(await list(id)).toEqual([".gitignore", "x/new", "x/old"])
})

it("holds what the user's git begins to track while git lists what it does not", async () => {
  commit()
  work.write("new/file", "1")
  const { program, asked } = makeGit(work, "sleep 1.2")
  const store = await work.open({ git: program })
  const taking = store.capture({ message: "1", checkpointId: "1" })
  await vi.waitUntil(() => asked().some((line) => line.includes("ls-files --others")))
  await wait(600) // all else was asked and answered
  work.git("add", "new/file")
  expect(await list((await taking).commit)).toEqual(["new/file"])
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
