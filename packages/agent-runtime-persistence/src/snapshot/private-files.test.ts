/** A file that only its owner may read stays one, whoever took it away and however it comes back. */
import { execFileSync } from "node:child_process"
import { chmodSync, lstatSync, readdirSync, symlinkSync, utimesSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { makeWorkspace, type WorkspaceFixture } from "../../test/snapshot/workspace-fixture.js"
import type { SnapshotStore } from "./snapshot-store.js"

let work: WorkspaceFixture
let umask: number
beforeEach(() => {
  umask = process.umask(0o022)
  work = makeWorkspace({ git: true })
})
afterEach(async () => {
  process.umask(umask)
  await work.close()
})

const modeOf = (path: string) => (lstatSync(Buffer.from(`${work.root}/${path}`, "latin1")).mode & 0o777).toString(8)
const change = (path: string, mode: number) => chmodSync(join(work.root, path), mode)
const take = (store: SnapshotStore, id: string) => store.capture({ message: id, checkpointId: id })

function linesOf({ directory }: SnapshotStore, commit: string): string[] {
  const text = execFileSync("git", ["--git-dir", directory, "cat-file", "commit", commit], { encoding: "utf8" })
  return text.match(/^Keepup-(Private|Open): .*$/gm) ?? []
}

/** A commit whose index is so much younger than the files that none of them need be read. */
function commitAll(): void {
  work.git("add", "-A")
  work.git("commit", "-qm", "x")
  const later = new Date(Date.now() + 60_000)
  utimesSync(join(work.root, ".git/index"), later, later)
}

it.each([
  ["600", "600"],
  ["400", "600"],
  ["700", "700"],
  ["500", "700"],
])("comes back after it was deleted, and after a restore deleted it and was undone: mode %s", async (mode, then) => {
  const store = await work.open()
  work.write("deep/open", "1")
  const without = await take(store, "0")
  work.write("deep/secret \xff", "mine", Number.parseInt(mode, 8))
  const { commit } = await take(store, "1")
  work.remove("deep")
  await store.restore(commit)
  expect([modeOf("deep/open"), modeOf("deep/secret \xff")]).toEqual(["644", then])
  const { safety } = await store.restore(without.commit)
  expect(work.exists("deep/secret \xff")).toBe(false)
  await store.restore(safety.commit)
  expect([work.read("deep/secret \xff"), modeOf("deep/secret \xff")]).toEqual(["mine", then])
})

it.each(["640", "604", "711", "654", "400", "755"])(
  "keeps the permissions of a file that it rewrites: %s",
  async (mode) => {
    work.write("file", "1", Number.parseInt(mode, 8))
    const store = await work.open()
    const { commit } = await take(store, "1")
    change("file", 0o600)
    work.write("file", "2", Number.parseInt(mode, 8))
    const { safety } = await store.restore(commit)
    expect([work.read("file"), modeOf("file")]).toEqual(["1", mode])
    await store.restore(safety.commit)
    expect([work.read("file"), modeOf("file")]).toEqual(["2", mode])
  },
)

it("changes no more than who may run a file when only that differs", async () => {
  work.write("file", "1", 0o750)
  const store = await work.open()
  const { commit } = await take(store, "1")
  change("file", 0o600)
  const { safety } = await store.restore(commit)
  expect(modeOf("file")).toBe("700")
  await store.restore(safety.commit)
  expect(modeOf("file")).toBe("600")
})

it("leaves the permissions of a file alone that has the right content", async () => {
  work.write("file", "1", 0o600)
  const store = await work.open()
  const { commit } = await take(store, "1")
  change("file", 0o644)
  const outcome = await store.restore(commit)
  expect([outcome.written, modeOf("file")]).toEqual([0, "644"])
})

it("gives no temporary file more permissions than the file has in the end, whatever the umask", async () => {
  const large = (text: string) => Buffer.alloc(300_000, text)
  for (let i = 0; i < 24; i++) work.write(`secret-${i}`, large(`${i}`), 0o600)
  for (let i = 0; i < 24; i++) work.write(`group-${i}`, large(`${i}`), 0o640)
  const seen = new Set<string>()
  const lookAround = () => {
    for (const folder of readdirSync(work.root).filter((name) => name.startsWith(".keepup-restore-"))) {
      seen.add(`folder ${modeOf(folder)}`)
      for (const name of readdirSync(join(work.root, folder))) seen.add(modeOf(`${folder}/${name}`))
    }
  }
  process.umask(0)
  const store = await work.open({ onStep: lookAround, onProgress: lookAround })
  const { commit } = await take(store, "1")
  for (let i = 0; i < 24; i++) work.remove(`secret-${i}`)
  for (let i = 0; i < 24; i++) work.write(`group-${i}`, "changed")
  await store.restore(commit)
  expect([...seen].sort()).toEqual(["600", "640", "folder 700"])
  expect([modeOf("secret-0"), modeOf("group-0")]).toEqual(["600", "640"])
})

it.each(["stage", "rename"])("refuses when permissions change between the look and the write: %s", async (step) => {
  work.write("file", "1")
  const store = await work.open({ onStep: (name) => name === `restore:${step}` && change("file", 0o600) })
  const { commit } = await take(store, "1")
  work.write("file", "2")
  await expect(store.restore(commit)).rejects.toMatchObject({ code: "CONFLICT" })
  expect([work.read("file"), modeOf("file")]).toEqual(["2", "600"])
})

it("makes another snapshot when a file became private or open, of which no file counts as changed", async () => {
  work.write("file", "1")
  const store = await work.open()
  const first = await take(store, "1")
  change("file", 0o600)
  expect(await store.diff(first.commit, "workspace")).toEqual([])
  const second = await store.captureIfChanged({ message: "2", checkpointId: "2", share: true })
  expect(second).toMatchObject({ filesChanged: 0, tree: first.tree, base: first.commit })
  expect(await store.captureIfChanged({ message: "3", checkpointId: "3" })).toBeNull()
  expect((await store.capture({ message: "4", checkpointId: "4", share: true })).commit).toBe(second?.commit)
  work.remove("file")
  await store.restore(first.commit)
  expect(modeOf("file")).toBe("644")
  work.remove("file")
  await store.restore(second?.commit as string)
  expect(modeOf("file")).toBe("600")
})

it("is kept over a restore that broke off and is finished or taken back", async () => {
  work.write("old", "1", 0o600)
  const store = await work.open()
  const { commit } = await take(store, "1")
  const onApplied = () => Promise.reject(new Error("the head could not move"))
  for (const settle of ["takeBackRestore", "finishRestore"] as const) {
    work.remove("old")
    work.write("new", "2", 0o600)
    await expect(store.restore(commit, { id: settle, onApplied })).rejects.toThrow("the head could not move")
    expect([work.exists("new"), modeOf("old")]).toEqual([false, "600"])
    if (settle === "finishRestore") work.remove("old")
    const [journal] = store.listUnfinishedRestores()
    await store[settle](journal as never)
    const [path, gone] = settle === "finishRestore" ? ["old", "new"] : ["new", "old"]
    expect([modeOf(path as string), work.exists(gone as string)]).toEqual(["600", false])
  }
})

it("is kept where a link, a folder or a rule took the file's place", async () => {
  for (const name of ["to-link", "to-folder", "to-ignored"]) work.write(name, name, 0o600)
  const store = await work.open()
  const first = await take(store, "1")
  for (const name of ["to-link", "to-folder"]) work.remove(name)
  symlinkSync("elsewhere", join(work.root, "to-link"))
  work.write("to-folder/x", "x")
  work.write(".gitignore", "to-ignored\n")
  const second = await take(store, "2")
  expect(linesOf(store, second.commit)).toEqual([])
  const { safety } = await store.restore(first.commit)
  work.remove("to-ignored")
  await store.restore(safety.commit)
  await store.restore(first.commit)
  expect(["to-link", "to-folder", "to-ignored"].map(modeOf)).toEqual(["600", "600", "600"])
})

it("is written into an empty folder as private, also by a store that got the snapshot from another", async () => {
  work.write("secret", "1", 0o600)
  work.write("run", "1", 0o700)
  work.write("open", "1")
  const store = await work.open()
  const { commit } = await take(store, "1")
  const other = await work.open({ storeDirectory: join(work.folder, "other") })
  const objects = []
  for await (const object of store.exportObjects([commit])) objects.push(object)
  await other.importObjects(objects, new Map([["c", commit]]))
  for (const [i, one] of [store, other].entries()) {
    await one.writeAllTo(commit, join(work.folder, `copy-${i}`))
    const modes = ["secret", "run", "open"].map((name) => modeOf(`../copy-${i}/${name}`))
    expect(modes).toEqual(["600", "700", "644"])
  }
})

it("is known of files of which the user's index says everything else", async () => {
  work.write("folder/secret", "1", 0o600)
  work.write("folder/open", "1")
  work.write("left/out", "1", 0o600)
  work.write(".keepupignore", "left\n")
  commitAll()
  const store = await work.open()
  const { commit } = await take(store, "1")
  expect(linesOf(store, commit)).toEqual(["Keepup-Private: folder/secret"])
  work.remove("folder")
  await store.restore(commit)
  expect([modeOf("folder/secret"), modeOf("folder/open")]).toEqual(["600", "644"])
})

it("is known of a large index too, from the second snapshot on", async () => {
  for (let i = 0; i < 1600; i++) work.write(`d${i % 8}/f${i}`, "1", i % 800 === 0 ? 0o600 : 0o644)
  commitAll()
  const store = await work.open()
  const first = await take(store, "1")
  expect(linesOf(store, first.commit)).toEqual([])
  await store.consolidate() // awaits what is done in the background
  // The many files of a large index are compared by git, and git compares whole seconds.
  const written = Math.floor(lstatSync(join(work.root, "d0/f0")).ctimeMs / 1000)
  while (Math.floor(Date.now() / 1000) <= written) await new Promise((next) => setTimeout(next, 10))
  change("d0/f0", 0o644)
  const second = await take(store, "2")
  expect(linesOf(store, second.commit)).toEqual(["Keepup-Private: d0/f800"])
})

it("is known to a restore of every file that it takes away, though nobody said that it changed", async () => {
  const names = ["to-link", "to-nothing"]
  for (const name of names) work.write(name, "1")
  const store = await work.open()
  const first = await take(store, "1")
  for (const name of names) work.remove(name)
  symlinkSync("elsewhere", join(work.root, "to-link"))
  const { commit } = await take(store, "2")
  await store.restore(first.commit)
  await take(store, "3")
  for (const name of names) change(name, 0o600)
  const { safety, plan } = await store.restore(commit, { exact: false })
  expect([plan.write, plan.delete]).toEqual([["to-link"], ["to-nothing"]])
  await store.restore(safety.commit)
  expect(names.map(modeOf)).toEqual(["600", "600"])
})

it("costs one line where every file is private, and one more for each that is not", async () => {
  for (let i = 0; i < 300; i++) work.write(`d${i % 7}/f${i}`, `${i}`, 0o600)
  const store = await work.open()
  const first = await take(store, "1")
  expect(linesOf(store, first.commit)).toEqual(["Keepup-Private: /"])
  work.write("d1/open", "x", 0o644)
  work.write("d1/new", "x", 0o600)
  const second = await take(store, "2")
  expect(linesOf(store, second.commit)).toEqual(["Keepup-Private: /", "Keepup-Open: d1/open"])
  for (const name of ["d1", "d2"]) work.remove(name)
  await store.restore(second.commit)
  expect([modeOf("d1/open"), modeOf("d1/new"), modeOf("d2/f2")]).toEqual(["644", "600", "600"])
})
