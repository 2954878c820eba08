/** What can go wrong while files are read never fails a snapshot; it is on the record. */
import { execFileSync, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { makeWorkspace, type WorkspaceFixture } from "../../test/snapshot/workspace-fixture.js"

let work: WorkspaceFixture
beforeEach(() => {
  work = makeWorkspace()
})
afterEach(() => work.close())

it("ends in a record when the time is over, and makes up for it later", async () => {
  for (let i = 0; i < 400; i++) work.write(`d${i % 7}/f${i}`, `${i}`)
  const store = await work.open()
  const first = await store.capture({ message: "1", checkpointId: "c1", timeBudgetMs: 0 })
  expect(first).toMatchObject({ scan: "exact", skipped: [] })
  work.write("d1/f1", "changed")
  work.write("unseen/file", "there, but nobody looked")
  work.folderAt("unseen/empty")
  const late = await store.capture({ message: "2", checkpointId: "c2", timeBudgetMs: 0 })
  expect(late.scan === "stopped" || late.skipped.length > 0).toBe(true)
  expect(late.skipped.every(({ reason }) => reason === "time-budget")).toBe(true)
  const third = await store.capture({ message: "3", checkpointId: "c3" })
  expect(third).toMatchObject({ scan: "exact", skipped: [] })
  expect((await store.readFile(third.commit, "d1/f1")).toString()).toBe("changed")
  expect((await store.listFiles(third.commit)).length).toBe(401)
  // What may have been there when the time was over is not taken away.
  expect((await store.planRestore(late.commit)).delete).toEqual([])
  await store.restore(late.commit)
  expect(work.read("unseen/file")).toBe("there, but nobody looked")
  expect(work.exists("unseen/empty")).toBe(true)
})

it("looks again at files that were touched just before, but not for ever", async () => {
  for (let i = 0; i < 300; i++) work.write(`f${i}`, `${i}`)
  const store = await work.open()
  const lookedAt = () => {
    const text = readFileSync(join(store.directory, "scan-state"), "latin1")
    return JSON.parse(text.slice(text.indexOf("\n"))).overlay.length
  }
  for (let turn = 0; ; turn++) {
    await store.capture({ message: `${turn}`, checkpointId: `c${turn}`, exact: true })
    if (lookedAt() === 0) break
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  work.write("f1", "changed")
  const { commit } = await store.capture({ message: "last", checkpointId: "last", exact: true })
  expect((await store.readFile(commit, "f1")).toString()).toBe("changed")
})

it("says how far it is, while folders are looked at and while files are read", async () => {
  for (let i = 0; i < 60; i++) work.write(`d${i % 5}/e${i % 2}/f${i}`, `${i}`)
  const reports: [string, number, number][] = []
  const store = await work.open({
    onProgress: (done, total, what = "Reading files") => void reports.push([what, done, total]),
  })
  await store.capture({ message: "1", checkpointId: "c1" })
  const levels = [
    [1, 6],
    [6, 16],
    [16, 16],
  ]
  const folders = reports.filter(([what]) => what === "Looking at folders").map(([, done, total]) => [done, total])
  expect(folders).toEqual(expect.arrayContaining(levels))
  expect(reports.at(-1)).toEqual(["Reading files", 60, 60])
})

it("never holds keepup's own temporary files, and sweeps those whose owner is surely gone", async () => {
  const gone = spawn(process.execPath, ["-e", ""], { stdio: "ignore" })
  await once(gone, "exit")
  const dead = gone.pid
  const old = new Date(Date.now() - 2 * 60 * 60_000)
  const put = (path: string, age?: Date) => {
    work.write(path, "half")
    if (age !== undefined) utimesSync(join(work.root, path), age, age)
  }
  put(`sub/.a.txt.${dead}-0123abcd.keepup-tmp`, old)
  put(`sub/.b.txt.${dead}-0123abcd.keepup-tmp`) // too young
  put(`sub/.c.txt.${process.pid}-0123abcd.keepup-tmp`, old) // its owner lives
  put("sub/mine.keepup-tmp", old) // not one of ours
  const store = await work.open()
  const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
  expect((await store.listFiles(commit)).map(({ path }) => path)).toEqual(["sub/mine.keepup-tmp"])
  const left = [`.b.txt.${dead}-0123abcd.keepup-tmp`, `.c.txt.${process.pid}-0123abcd.keepup-tmp`, "mine.keepup-tmp"]
  expect(readdirSync(join(work.root, "sub")).sort()).toEqual(left)
})

it("survives files that change all the time", async () => {
  work.write("quiet.txt", "q")
  work.write("busy.log", "")
  const writer = spawn("sh", ["-c", "while :; do echo line >> busy.log; rm -f flicker; echo x > flicker; done"], {
    cwd: work.root,
  })
  try {
    const store = await work.open()
    for (let i = 0; i < 6; i++) {
      const { commit, skipped } = await store.capture({ message: `${i}`, checkpointId: `c${i}` })
      expect((await store.readFile(commit, "quiet.txt")).toString()).toBe("q")
      for (const { path, reason } of skipped) {
        expect(["busy.log", "flicker"]).toContain(path)
        expect(["changing", "vanished"]).toContain(reason)
      }
    }
  } finally {
    writer.kill("SIGKILL")
    await once(writer, "close")
  }
})

it("skips what it may not read, and never deletes or overwrites it", async () => {
  work.write("a.txt", "a")
  work.write("locked.txt", "secret")
  work.write("closed/inside.txt", "secret")
  await import("@photostructure/sqlite") // while we may still read it
  chmodSync(join(work.root, "locked.txt"), 0)
  chmodSync(join(work.root, "closed"), 0)
  const isRoot = process.getuid?.() === 0
  if (isRoot) {
    // Root may read everything, so somebody else takes the snapshot.
    execFileSync("chown", ["-R", "65534:65534", work.folder])
    process.seteuid?.(65_534)
  }
  try {
    const store = await work.open()
    const first = await store.capture({ message: "1", checkpointId: "c1" })
    const skipped = [
      { path: "locked.txt", reason: "unreadable" },
      { path: "closed", reason: "unreadable" },
    ]
    expect(first.skipped).toEqual(skipped)
    work.write("a.txt", "b")
    const outcome = await store.restore(first.commit)
    expect(outcome.plan.notCaptured).toEqual(skipped)
    expect(outcome.failed).toEqual([])
    chmodSync(join(work.root, "closed"), 0o755)
    chmodSync(join(work.root, "locked.txt"), 0o644)
    const second = await store.capture({ message: "2", checkpointId: "c2" })
    expect(second.skipped).toEqual([])
    expect((await store.readFile(second.commit, "closed/inside.txt")).toString()).toBe("secret")
    await store.restore(first.commit)
    expect(work.read("closed/inside.txt")).toBe("secret")
    await store.close()
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
})

it("says nothing changed when nothing did, empty folders included", async () => {
  work.write("a.txt", "a")
  const store = await work.open()
  const first = await store.captureIfChanged({ message: "1", checkpointId: "c1" })
  expect(first).not.toBeNull()
  expect(await store.captureIfChanged({ message: "2", checkpointId: "c2" })).toBeNull()
  work.folderAt("empty")
  const second = await store.captureIfChanged({ message: "3", checkpointId: "c3" })
  expect(second).toMatchObject({ filesChanged: 0, base: first?.commit })
  expect((await store.describe(second?.commit as string)).emptyFolders).toEqual(["empty"])
  expect([...store.listCheckpoints().keys()].sort()).toEqual(["c1", "c3"])
})

it("never holds its own files, wherever the state directory is", async () => {
  const stateDirectory = join(work.root, ".agents")
  work.write("a.txt", "a")
  work.write(".agents/sessions.db", "database")
  work.write(".agents/sessions.db-wal", "log")
  const store = await work.open({ storeDirectory: join(stateDirectory, "store") })
  const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
  expect((await store.listFiles(commit)).map(({ path }) => path)).toEqual(["a.txt"])
})

it("never holds a database of keepup, nor another workspace's inside this one, and never writes over one", async () => {
  work.write("a.txt", "a")
  work.write("mine.db", "old")
  const unaware = await work.open()
  const old = await unaware.capture({ message: "0", checkpointId: "c0" })
  expect((await unaware.listFiles(old.commit)).map(({ path }) => path)).toEqual(["a.txt", "mine.db"])
  for (const name of ["mine.db", "mine.db-wal", "mine.db-shm", "mine.db.v1.bak", "mine.db.md", "mine.dbx"])
    work.write(name, "now")
  for (const name of ["sessions.db", "sessions.db-wal", "sessions.db.v1.bak", "notes.md"])
    work.write(`inner/.agents/${name}`, "now")
  work.write("inner/.keepup-restore-1/0", "staged")
  const store = await work.open({ databases: [join(work.root, "mine.db")] })
  const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
  const names = (await store.listFiles(commit)).map(({ path }) => path).sort()
  expect(names).toEqual(["a.txt", "inner/.agents/notes.md", "mine.db.md", "mine.dbx"])
  await store.restore(old.commit)
  for (const path of ["mine.db", "mine.db-wal", "inner/.agents/sessions.db", "inner/.keepup-restore-1/0"])
    expect(work.exists(path)).toBe(true)
  expect(work.read("mine.db")).toBe("now")
  expect(work.exists("mine.dbx")).toBe(false)
})

it("follows a workspace that is reached through a link", async () => {
  work.write("a.txt", "a")
  const link = join(work.folder, "link")
  symlinkSync(work.root, link)
  const store = await work.open({ workspacePath: link })
  const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
  const direct = await work.open()
  expect(direct.directory).toBe(store.directory)
  expect((await direct.readFile(commit, "a.txt")).toString()).toBe("a")
})

it("counts lines and renames, and stays cheap for binary and huge files", async () => {
  work.write("text.txt", "1\n2\n3\n4\n5\n")
  work.write("bin.dat", Buffer.from([0, 1, 2]))
  work.write("huge.txt", "line\n".repeat(600_000))
  const store = await work.open()
  const first = await store.capture({ message: "1", checkpointId: "c1" })
  work.write("text.txt", "1\nzwei\n3\n5\nsix\n")
  work.write("bin.dat", Buffer.from([0, 9, 9]))
  work.write("huge.txt", "other\n".repeat(600_000))
  const second = await store.capture({ message: "2", checkpointId: "c2" })
  expect(second).toMatchObject({ filesChanged: 3, insertions: 2, deletions: 2 })
  const changes = await store.diff(first.commit, second.commit)
  expect(changes.map(({ path, binary, insertions, deletions }) => [path, binary, insertions, deletions])).toEqual([
    ["bin.dat", true, 0, 0],
    ["huge.txt", true, 0, 0],
    ["text.txt", false, 2, 2],
  ])
})

it("refuses checkpoint ids git could not keep", async () => {
  work.write("a", "a")
  mkdirSync(join(work.root, "x"))
  writeFileSync(join(work.root, "x/y"), "")
  const store = await work.open()
  for (const checkpointId of ["", "a..b", "../x", "a/b", "x.lock", "-x", "a b", "x\n"]) {
    await expect(store.capture({ message: "m", checkpointId })).rejects.toMatchObject({ code: "INVALID_INPUT" })
  }
})

it("counts what changed in more folders than are kept in memory", async () => {
  const folders = 8
  for (let i = 0; i < folders * 2_000; i++) work.write(`d${i % folders}/f${i}`, "")
  const store = await work.open()
  await store.capture({ message: "1", checkpointId: "c1" })
  for (let i = 0; i < folders; i++) work.write(`d${i}/f${i}`, "changed\n")
  expect(await store.capture({ message: "2", checkpointId: "c2" })).toMatchObject({
    filesChanged: folders,
    insertions: folders,
  })
})

it("keeps the content of a large file once when it comes back", async () => {
  const large = randomBytes(100_000).toString("hex")
  work.write("large", large)
  const store = await work.open()
  await store.capture({ message: "1", checkpointId: "c1" })
  work.write("large", "small")
  await store.capture({ message: "2", checkpointId: "c2" })
  work.write("large", large)
  const back = await store.capture({ message: "3", checkpointId: "c3" })
  expect(back).toMatchObject({ filesChanged: 1, sizeBytes: expect.any(Number) })
  expect(back.sizeBytes).toBeLessThan(10_000)
  expect((await store.readFile(back.commit, "large")).toString()).toBe(large)
})
