/** A watcher makes snapshots cheap; when it lies, nothing is lost. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { makeWorkspace, takePicture, type WorkspaceFixture } from "../../test/snapshot/workspace-fixture.js"
import type { SnapshotStore } from "./snapshot-store.js"

let work: WorkspaceFixture
let store: SnapshotStore
beforeEach(async () => {
  work = makeWorkspace({ git: false })
  for (let i = 0; i < 30; i++) work.write(`d${i % 3}/e${i % 2}/f${i}.txt`, `file ${i}\n`)
  store = await work.open()
})
afterEach(() => work.close())

async function expectExactly(): Promise<string> {
  const snapshot = await store.capture({ message: "x" })
  const other = await work.open()
  expect(await other.diff(snapshot.commit, "workspace")).toEqual([])
  return snapshot.scan
}

describe("watched", () => {
  beforeEach(async () => {
    expect(await store.watch()).toBe(true)
    expect((await store.capture({ message: "first" })).scan).toBe("exact")
  })

  it("sees edits, new files, new folders, moves and deletions", async () => {
    work.write("d0/e0/f0.txt", "edited")
    const one = await store.capture({ message: "1" })
    expect(one).toMatchObject({ scan: "hinted", filesChanged: 1 })
    const rounds = [
      () => work.write("new/deep/er/x.txt", "x"),
      () => work.write("new/deep/er/y.txt", "y"),
      () => renameSync(join(work.root, "d0"), join(work.root, "moved")),
      () => work.write("moved/e0/f0.txt", "inside the moved folder"),
      () => work.remove("moved"),
      () => work.folderAt("empty/one"),
      () => work.remove("empty"),
      () => {
        renameSync(join(work.root, "d1"), join(work.root, "d9"))
        mkdirSync(join(work.root, "d1/e0"), { recursive: true })
        writeFileSync(join(work.root, "d1/e0/f4.txt"), "another file in another folder of that name")
      },
      () => work.write("d9/e1/f1.txt", "in the folder that was moved"),
      () => {
        work.remove("d2")
        work.write("d2", "a file now")
      },
    ]
    let previous = one.commit
    for (const round of rounds) {
      round()
      const snapshot = await store.capture({ message: "r" })
      expect(snapshot.scan).toBe("hinted")
      const exact = await store.capture({ message: "e", exact: true })
      expect(await store.diff(snapshot.commit, exact.commit)).toEqual([])
      expect((await store.describe(snapshot.commit)).emptyFolders).toEqual(
        (await store.describe(exact.commit)).emptyFolders,
      )
      expect(snapshot.base).toBe(previous)
      previous = exact.commit
    }
  })

  it("sees what is in a folder that was removed and made again, now and later, even with the same inode", async () => {
    for (let round = 0; round < 12; round++) {
      work.remove("d0")
      work.write("d0/e0/f0.txt", `made again ${round}`)
      if (round % 2 === 0) work.write("d0/e1/other.txt", `made again ${round}`)
      const made = await store.capture({ message: "made" })
      work.write("d0/e0/f0.txt", `edited ${round}`)
      work.write(`d0/e0/new${round}`, "new")
      const edited = await store.capture({ message: "edited" })
      expect((await store.readFile(made.commit, "d0/e0/f0.txt")).toString()).toBe(`made again ${round}`)
      expect((await store.readFile(edited.commit, "d0/e0/f0.txt")).toString()).toBe(`edited ${round}`)
      const copy = join(work.folder, `copy-${round}`)
      await store.writeAllTo(edited.commit, copy)
      expect(takePicture(copy, false)).toEqual(work.picture())
    }
  })

  it("sees that the workspace itself was removed and made again", async () => {
    rmSync(work.root, { recursive: true })
    for (const text of ["made again", "changed", "and once more"]) {
      work.write("d0/e0/f0.txt", text)
      const { commit } = await store.capture({ message: text })
      expect((await store.listFiles(commit)).map(({ path }) => path)).toEqual(["d0/e0/f0.txt"])
      expect((await store.readFile(commit, "d0/e0/f0.txt")).toString()).toBe(text)
    }
  })

  it("leaves no file of its own behind, not even while it watches", async () => {
    for (let i = 0; i < 3; i++) {
      work.write("d0/e0/f0.txt", `edit ${i}`)
      expect((await store.capture({ message: "x" })).scan).toBe("hinted")
      expect(readdirSync(join(store.directory, "cookies"))).toEqual([])
    }
  })

  it("asks the rules anew when they change", async () => {
    work.write(".gitignore", "*.log\n")
    work.write("x.log", "x")
    expect(await store.capture({ message: "1" })).toMatchObject({ scan: "exact", filesChanged: 1 })
    work.write("y.log", "y")
    work.write("z.txt", "z")
    expect(await store.capture({ message: "2" })).toMatchObject({ scan: "hinted", filesChanged: 1 })
  })

  it("looks at everything after more events than the system's queue may hold", async () => {
    const limit = Number(readFileSync("/proc/sys/fs/inotify/max_queued_events", "latin1"))
    for (let i = 0; i < limit / 4 + 100; i++) appendFileSync(join(work.root, "d0", i % 2 === 0 ? "one" : "two"), "x")
    expect(await expectExactly()).toBe("exact")
  })

  it("looks at everything when another process took a snapshot in between", async () => {
    const other = await work.open()
    work.write("d0/e0/f0.txt", "1")
    await other.capture({ message: "other" })
    work.write("d0/e0/f6.txt", "2")
    expect(await expectExactly()).toBe("exact")
  })

  it("restores with hints, and still never overwrites what it does not hold", async () => {
    const { commit } = await store.capture({ message: "1", checkpointId: "1" })
    work.write("d0/e0/f0.txt", "changed")
    const outcome = await store.restore(commit, { exact: false })
    expect(outcome).toMatchObject({ written: 1, failed: [] })
    expect(outcome.safety.scan).toBe("hinted")
    expect(work.read("d0/e0/f0.txt")).toBe("file 0\n")
  })
})

it("is not enough after a snapshot that ran out of time: that one went back to what was saved", async () => {
  work.write("stays.txt", "1")
  work.write("goes.txt", "1")
  for (let i = 0; i < 1_600; i++) work.write(`many/f${i}`, "") // so many that git compares them, which takes time
  const store = await work.open()
  await store.watch()
  await store.capture({ message: "1", exact: true })
  work.remove("goes.txt")
  expect((await store.capture({ message: "2" })).scan).toBe("hinted")
  expect((await store.capture({ message: "3", exact: true, timeBudgetMs: 0 })).scan).toBe("stopped")
  work.write("stays.txt", "22")
  const { commit } = await store.capture({ message: "4" })
  expect((await store.listFiles(commit)).map(({ path }) => path)).not.toContain("goes.txt")
})

describe("a watcher that lies", () => {
  it("loses nothing: the next exact look finds it all", async () => {
    await store.capture({ message: "first" })
    work.write("d0/e0/f0.txt", "hinted")
    work.write("d1/e1/f1.txt", "never hinted")
    work.write("fresh/x", "never hinted")
    work.remove("d2")
    const lied = await store.capture({ message: "1", checkpointId: "1", hints: ["d0/e0/f0.txt"] })
    expect(lied).toMatchObject({ scan: "hinted", filesChanged: 1 })
    const exact = await store.capture({ message: "2", checkpointId: "2", exact: true })
    const copy = join(work.folder, "copy")
    await store.writeAllTo(exact.commit, copy)
    expect(takePicture(copy, false)).toEqual(work.picture())
  })

  it("can't make a restore overwrite or delete what the safety snapshot does not hold", async () => {
    work.write("target.txt", "old")
    const { commit } = await store.capture({ message: "1", checkpointId: "1" })
    work.write("target.txt", "new")
    await store.capture({ message: "2", checkpointId: "2" })
    work.write("target.txt", "newer, and nobody said so")
    await expect(store.restore(commit, { exact: false })).rejects.toMatchObject({ code: "CONFLICT" })
    expect(work.read("target.txt")).toBe("newer, and nobody said so")
    await store.restore(commit)
    expect(work.read("target.txt")).toBe("old")
  })
})
