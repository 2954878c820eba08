/** A restore writes only what differs, deletes only what is held, and says what it would do before. */
import { execFileSync } from "node:child_process"
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { makeWorkspace, type WorkspaceFixture } from "../../test/snapshot/workspace-fixture.js"
import type { SnapshotStore } from "./snapshot-store.js"

let work: WorkspaceFixture
let store: SnapshotStore
beforeEach(async () => {
  work = makeWorkspace()
  for (let i = 0; i < 10; i++) work.write(`src/f${i}.txt`, `file ${i}\n`)
  work.write("docs/a.md", "a")
  store = await work.open()
})
afterEach(() => work.close())

it("leaves inode and times of unchanged files alone", async () => {
  const { commit } = await store.capture({ message: "1", checkpointId: "1" })
  const facts = (path: string) => {
    const { ino, mtimeMs, ctimeMs } = lstatSync(join(work.root, path))
    return { ino, mtimeMs, ctimeMs }
  }
  const before = facts("src/f1.txt")
  work.write("src/f0.txt", "changed")
  await store.capture({ message: "2", checkpointId: "2" })
  const outcome = await store.restore(commit)
  expect(outcome.plan).toMatchObject({ write: ["src/f0.txt"], delete: [], untouched: 10 })
  expect(facts("src/f1.txt")).toEqual(before)
  expect(readdirSync(work.root).sort()).toEqual(["docs", "src"])
})

it("shows a plan and changes nothing", async () => {
  const { commit } = await store.capture({ message: "1", checkpointId: "1" })
  work.write("src/f0.txt", "changed")
  work.write("added.txt", "x")
  work.remove("docs")
  const before = work.picture()
  const plan = await store.planRestore(commit)
  expect(plan).toMatchObject({
    write: ["docs/a.md", "src/f0.txt"],
    delete: ["added.txt"],
    untouched: 9,
    notCaptured: [],
  })
  expect(work.picture()).toEqual(before)
  const next = await store.capture({ message: "2", checkpointId: "2" })
  expect(next.base).toBe(commit)
  expect(next.filesChanged).toBe(3)
})

it("restores chosen paths only", async () => {
  const { commit } = await store.capture({ message: "1", checkpointId: "1" })
  work.write("src/f0.txt", "changed")
  work.write("src/new.txt", "new")
  work.write("docs/a.md", "changed")
  await store.restore(commit, { paths: ["./src/"] })
  expect([work.read("src/f0.txt"), work.exists("src/new.txt"), work.read("docs/a.md")]).toEqual([
    "file 0\n",
    false,
    "changed",
  ])
})

it("of a snapshot that had no time to look around touches only what that is known to hold", async () => {
  const first = await store.capture({ message: "1", checkpointId: "1" })
  work.write("src/f0.txt", "seen")
  const second = await store.capture({ message: "2", checkpointId: "2" })
  const git = (args: string[], input?: string) =>
    execFileSync("git", ["--git-dir", store.directory, ...args], { input, encoding: "utf8" })
  const text = git(["cat-file", "commit", second.commit])
  const stopped = git(["hash-object", "-w", "-t", "commit", "--stdin"], `${text}Keepup-Skipped: time-budget .\n`).trim()
  work.write("src/f0.txt", "now")
  work.write("src/f1.txt", "was there then, and nobody looked")
  work.write("new.txt", "was there then, and nobody looked")
  work.remove("docs/a.md")
  const before = work.picture()
  const { plan } = await store.restore(stopped)
  expect([plan.write, plan.delete]).toEqual([["src/f0.txt"], []])
  expect(plan.notCaptured).toEqual([{ path: ".", reason: "time-budget" }])
  expect(work.picture()).toEqual(new Map([...before, ["src/f0.txt", "file - seen"]]))
  expect(work.read("src/f0.txt")).toBe("seen")
  await store.restore(first.commit)
  expect(work.exists("new.txt")).toBe(false)
  const alone = text.replace(first.commit, "0".repeat(40))
  const lost = git(["hash-object", "-w", "-t", "commit", "--stdin"], `${alone}Keepup-Skipped: time-budget .\n`).trim()
  expect(await store.planRestore(lost)).toMatchObject({ write: [], delete: [] })
})

it("undoes itself: the safety snapshot gives every file back", async () => {
  const { commit } = await store.capture({ message: "1", checkpointId: "1" })
  work.write("src/f0.txt", "work of an hour")
  work.write("never/captured/before.txt", "precious")
  const before = work.picture()
  const { safety } = await store.restore(commit, { safetyCheckpointId: "undo" })
  expect(work.exists("never")).toBe(false)
  expect(store.listCheckpoints().get("undo")).toBe(safety.commit)
  await store.restore(safety.commit)
  expect(work.picture()).toEqual(before)
})

it("refuses when a file changes between the safety snapshot and the write, and changes nothing", async () => {
  const { commit } = await store.capture({ message: "1", checkpointId: "1" })
  work.write("src/f0.txt", "second")
  const meddling = await work.open({
    onStep: (name) => name === "restore:stage" && work.write("src/f0.txt", "written meanwhile"),
  })
  await expect(meddling.restore(commit)).rejects.toMatchObject({ code: "CONFLICT" })
  expect(work.read("src/f0.txt")).toBe("written meanwhile")
  expect(meddling.listUnfinishedRestores()).toEqual([])
  expect(readdirSync(work.root).sort()).toEqual(["docs", "src"])
})

it.each([
  ["a file to delete", "restore:delete", "new.txt"],
  ["a file to write", "restore:rename", "src/f0.txt"],
  ["a file that was not there", "restore:rename", "src/f1.txt"],
])("overwrites nothing of %s that someone saves while the names already change", async (_, step, path) => {
  const { commit } = await store.capture({ message: "1", checkpointId: "1" })
  work.write("new.txt", "new")
  work.write("src/f0.txt", "second")
  work.remove("src/f1.txt")
  const before = work.picture()
  const meddling = await work.open({ onStep: (name) => name === step && work.write(path, "the work of an hour") })
  await expect(meddling.restore(commit)).rejects.toMatchObject({ code: "CONFLICT", details: { path } })
  expect(work.read(path)).toBe("the work of an hour")
  const [journal] = store.listUnfinishedRestores()
  const { plan } = await store.takeBackRestore(journal as never)
  expect(plan.changedMeanwhile).toEqual([path])
  expect(work.picture()).toEqual(new Map(before).set(path, "file - the work of an hour"))
})

it("restores files that share their content on disk", async () => {
  work.write("src/twin.txt", "one")
  linkSync(join(work.root, "src/twin.txt"), join(work.root, "src/twin2.txt"))
  const { commit } = await store.capture({ message: "1", checkpointId: "1" })
  const before = work.picture()
  work.write("src/twin.txt", "two")
  expect(work.read("src/twin2.txt")).toBe("two")
  await store.restore(commit)
  expect(work.picture()).toEqual(before)
})

it("reports what stands in the way and leaves it there", async () => {
  work.write(".gitignore", "*.log\n")
  work.write("out", "a file")
  const { commit } = await store.capture({ message: "1", checkpointId: "1" })
  work.remove("out")
  work.write("out/kept.log", "ignored, in a folder where the file was")
  const outcome = await store.restore(commit)
  expect(outcome.failed).toEqual([{ path: "out", reason: "blocked" }])
  expect(work.read("out/kept.log")).toContain("ignored")
})

it("ends its plan with itself when the safety snapshot fails", async () => {
  const store = await work.open()
  work.write(".gitignore", "*.log\n")
  const { commit } = await store.capture({ message: "1", checkpointId: "1" })
  await store.close()
  work.write(".gitignore", "")
  work.write("kept.log", "ignored then")
  const slowGit = join(work.folder, "slow-git")
  const script = '#!/bin/sh\ncase "$*" in *check-ignore*) sleep 0.3;; esac\nexec git "$@"\n'
  writeFileSync(slowGit, script, { mode: 0o755 })
  const failing = await work.open({
    git: slowGit,
    onStep(name) {
      if (name === "capture:refs") throw new Error("no more room")
    },
  })
  await expect(failing.restore(commit)).rejects.toThrow("no more room")
  expect(readdirSync(join(failing.directory, "restores"))).toEqual([])
  expect(readdirSync(work.root).filter((name) => name.includes("keepup-restore"))).toEqual([])
  // Planning asks git about the rules of then, in a folder of its own, and git takes its time.
  expect(existsSync(join(failing.directory, "rules-then"))).toBe(false)
  expect(readFileSync(join(work.root, "kept.log"), "utf8")).toBe("ignored then")
})

it("leaves nothing behind and changes nothing when it is refused on record, and writes no more than it has begun", async () => {
  for (let i = 0; i < 200; i++) work.write(`many/${i}`, "x".repeat(20_000))
  const { commit } = await store.capture({ message: "1", checkpointId: "1" })
  for (let i = 0; i < 200; i++) work.write(`many/${i}`, "changed")
  await store.capture({ message: "2", checkpointId: "2" }) // so that going back begins at once
  const before = work.picture()
  const isLeft = (folder: string) => readdirSync(folder).some((name) => /keepup-restore|\.staged$|\.json$/.test(name))
  for (const refuse of [
    () => Promise.reject(new Error("not on record")),
    () => {
      throw new Error("not on record")
    },
  ]) {
    let staged = 0
    const watching = await work.open({
      onProgress: (_done, _total, what) => void (what === "Writing files" && staged++),
    })
    await expect(watching.restore(commit, { onPrepared: refuse })).rejects.toThrow("not on record")
    expect(staged).toBeLessThan(200)
    expect(work.picture()).toEqual(before)
    expect([isLeft(work.root), isLeft(join(watching.directory, "restores"))]).toEqual([false, false])
  }
})

it("sweeps what a killed one staged only when the workspace is there", async () => {
  const note = join(store.directory, "restores/killed.staged")
  writeFileSync(note, "")
  work.folderAt(".keepup-restore-killed")
  renameSync(work.root, `${work.root}-away`)
  await store.sweepRestores()
  expect(existsSync(note)).toBe(true)
  renameSync(`${work.root}-away`, work.root)
  await store.sweepRestores()
  expect([existsSync(note), work.exists(".keepup-restore-killed")]).toEqual([false, false])
})

it("keeps the note of a restore whose last step failed, so that it can be taken back", async () => {
  const { commit } = await store.capture({ message: "1", checkpointId: "1" })
  work.write("src/f0.txt", "second")
  const before = work.picture()
  const onApplied = () => Promise.reject(new Error("the head could not move"))
  await expect(store.restore(commit, { id: "r1", onApplied })).rejects.toThrow("the head could not move")
  const [journal] = store.listUnfinishedRestores()
  expect(journal?.id).toBe("r1")
  await store.takeBackRestore(journal as never)
  expect(work.picture()).toEqual(before)
  expect(store.listUnfinishedRestores()).toEqual([])
})

it("begins anew after a power cut that left no more than the name of its note", async () => {
  const { commit } = await store.capture({ message: "1", checkpointId: "1" })
  for (const torn of ["", '{"id":"x","tar'])
    writeFileSync(join(store.directory, `restores/torn-${torn.length}.json`), torn)
  expect(store.listUnfinishedRestores()).toEqual([])
  work.write("src/f0.txt", "changed")
  await store.restore(commit)
  expect(work.read("src/f0.txt")).toBe("file 0\n")
})

it("refuses unknown snapshots and a snapshot that lost content, before it touches anything", async () => {
  await expect(store.restore("")).rejects.toMatchObject({ code: "INVALID_INPUT" })
  await expect(store.restore("0".repeat(40))).rejects.toMatchObject({ code: "NOT_FOUND" })
  await expect(store.readFile("HEAD", "x")).rejects.toMatchObject({ code: "INVALID_INPUT" })
})

it("goes back to content the store had lost, once the safety snapshot has brought it again", async () => {
  const bytes = Buffer.alloc(2 << 20, "some content ")
  work.write("a.bin", bytes)
  const { commit } = await store.capture({ message: "1", checkpointId: "1" })
  await store.close()
  const objects = join(store.directory, "objects")
  const git = (args: string[], input?: Buffer) =>
    execFileSync("git", ["--git-dir", store.directory, ...args], { input, encoding: "utf8" }).trim()
  for (const name of readdirSync(join(objects, "pack"))) {
    const pack = readFileSync(join(objects, "pack", name))
    rmSync(join(objects, "pack", name))
    if (name.endsWith(".pack")) git(["unpack-objects", "-q"], pack)
  }
  const blob = git(["rev-parse", `${commit}:a.bin`])
  rmSync(join(objects, blob.slice(0, 2), blob.slice(2)))
  renameSync(join(work.root, "a.bin"), join(work.root, "b.bin"))
  store = await work.open()
  await store.restore(commit)
  expect([work.read("a.bin") === bytes.toString(), work.exists("b.bin")]).toEqual([true, false])
})

it("writes a whole snapshot into an empty folder, and only there", async () => {
  work.folderAt("empty")
  const { commit } = await store.capture({ message: "1", checkpointId: "1" })
  const copy = join(work.folder, "copy")
  expect(await store.writeAllTo(commit, copy)).toBe(11)
  const full = join(work.folder, "full")
  mkdirSync(full)
  writeFileSync(join(full, "x"), "")
  await expect(store.writeAllTo(commit, full)).rejects.toMatchObject({ code: "INVALID_INPUT" })
})
