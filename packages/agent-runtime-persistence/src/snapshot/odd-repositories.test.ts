/** Repositories of unusual kinds: around the workspace, in it, or in pieces. None is changed, and everything is held. */
import { existsSync, linkSync, readFileSync, renameSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import {
  fsck,
  makeWorkspace,
  runUserGit,
  takePicture,
  type WorkspaceFixture,
} from "../../test/snapshot/workspace-fixture.js"
import type { SnapshotStore } from "./snapshot-store.js"

let work: WorkspaceFixture
beforeEach(() => {
  work = makeWorkspace({ git: true })
})
afterEach(() => work.close())

/** So that no file is too young for the index to be believed. */
function age(root: string): void {
  const later = new Date(Date.now() + 5000)
  utimesSync(join(root, ".git/index"), later, later)
}

const list = async (store: SnapshotStore, commit: string) =>
  (await store.listFiles(commit)).map(({ path }) => path).sort()

it.each(["--depth=1", "--filter=blob:none", "--filter=tree:0", "--filter=blob:none --sparse"])(
  "holds a clone made with %s whole, and fetches nothing into it",
  async (how) => {
    work.write("a.txt", "1")
    work.write("d/b.txt", "2")
    work.git("add", "-A")
    work.git("commit", "-qm", "first")
    work.write("a.txt", "3")
    work.git("commit", "-qam", "second")
    work.git("config", "uploadpack.allowFilter", "true")
    const clone = join(work.folder, "clone")
    runUserGit(work.folder, work.home, ["clone", "-q", ...how.split(" "), `file://${work.root}`, clone])
    age(clone)
    const git = takePicture(join(clone, ".git"), true)
    const before = takePicture(clone, false)
    const store = await work.open({ workspacePath: clone })
    const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
    writeFileSync(join(clone, "a.txt"), "changed")
    await store.consolidate()
    expect(takePicture(join(clone, ".git"), true)).toEqual(git)
    renameSync(join(clone, ".git"), join(work.folder, "gone"))
    await store.restore(commit)
    expect(takePicture(clone, false)).toEqual(before)
    expect(fsck(store.directory)).toBe("")
  },
)

it("owns what the user's repository itself borrows from another", async () => {
  work.write("a.txt", "1")
  work.git("add", "-A")
  work.git("commit", "-qm", "first")
  const borrower = join(work.folder, "borrower")
  runUserGit(work.folder, work.home, ["clone", "-q", "--shared", work.root, borrower])
  expect(existsSync(join(borrower, ".git/objects/info/alternates"))).toBe(true)
  age(borrower)
  const store = await work.open({ workspacePath: borrower })
  const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
  await store.consolidate()
  work.remove(".git")
  writeFileSync(join(borrower, "a.txt"), "2")
  await store.restore(commit)
  expect(readFileSync(join(borrower, "a.txt"), "utf8")).toBe("1")
  expect(fsck(store.directory)).toBe("")
})

it("holds a bare repository in the workspace as files, and one that is the workspace", async () => {
  work.write("a.txt", "1")
  for (const bare of ["bare.git", "../other"]) {
    const at = join(work.root, bare)
    runUserGit(work.folder, work.home, ["init", "-q", "--bare", at])
    const before = takePicture(at, false)
    const store = await work.open(bare.startsWith(".") ? { workspacePath: at } : {})
    const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
    writeFileSync(join(at, "HEAD"), "elsewhere")
    writeFileSync(join(at, "config"), "")
    await store.restore(commit)
    expect(takePicture(at, false)).toEqual(before)
  }
})

it.each(["gitdir: /nowhere\n", "no link at all", ""])("leaves a .git that is %j alone and goes on", async (content) => {
  work.remove(".git")
  work.write(".git", content)
  work.write("a.txt", "1")
  const store = await work.open()
  const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
  expect(await list(store, commit)).toEqual(["a.txt"])
  work.write("a.txt", "2")
  await store.restore(commit)
  expect([work.read("a.txt"), work.read(".git")]).toEqual(["1", content])
})

it("keeps the files of a workspace inside another apart from it", async () => {
  work.write("a.txt", "1")
  work.write("inner/b.txt", "1")
  const outer = await work.open()
  const inner = await work.open({ workspacePath: join(work.root, "inner") })
  const both = await outer.capture({ message: "1", checkpointId: "c1" })
  const one = await inner.capture({ message: "1", checkpointId: "c1" })
  expect(await list(inner, one.commit)).toEqual(["b.txt"])
  for (const path of ["a.txt", "inner/b.txt"]) work.write(path, "2")
  await inner.restore(one.commit)
  expect([work.read("a.txt"), work.read("inner/b.txt")]).toEqual(["2", "1"])
  work.write("inner/b.txt", "3")
  await outer.restore(both.commit)
  expect([work.read("a.txt"), work.read("inner/b.txt")]).toEqual(["1", "1"])
})

it("keeps names that differ in case only, times far off, and what a hard link leads to", async () => {
  const outside = join(work.folder, "outside")
  writeFileSync(outside, "1")
  linkSync(outside, join(work.root, "linked"))
  work.write("Readme", "1")
  work.write("Folder/x", "1")
  for (const [name, time] of Object.entries({ future: 7e9, past: -3e8, wrapped: 2 ** 32 + 5 })) {
    work.write(name, "1")
    utimesSync(join(work.root, name), time, time)
  }
  const before = work.picture()
  const store = await work.open()
  const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
  renameSync(join(work.root, "Readme"), join(work.root, "README"))
  renameSync(join(work.root, "Folder"), join(work.root, "folder"))
  for (const [name, time] of Object.entries({ future: 7e9, past: -3e8, wrapped: 2 ** 32 + 5 })) {
    work.write(name, "2")
    utimesSync(join(work.root, name), time, time)
  }
  writeFileSync(outside, "2")
  const changed = await store.capture({ message: "2", checkpointId: "c2" })
  expect((await store.readFile(changed.commit, "past")).toString()).toBe("2")
  await store.restore(commit)
  expect(work.picture()).toEqual(before)
  expect(readFileSync(outside, "utf8")).toBe("2")
})
