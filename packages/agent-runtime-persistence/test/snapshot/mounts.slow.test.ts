/** A folder of the workspace that is a file system of its own, as in a container. Needs the right to mount one. */
import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { makeWorkspace, type WorkspaceFixture } from "./workspace-fixture.js"

let work: WorkspaceFixture
let mounted: string
beforeEach(() => {
  work = makeWorkspace({ git: true })
  work.folderAt("mounted")
  mounted = join(work.root, "mounted")
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=3m", "tmpfs", mounted], { stdio: "pipe" })
  } catch (cause) {
    throw new Error("This test needs the right to mount a tmpfs; run it as root.", { cause })
  }
})
afterEach(async () => {
  await work.close().catch(() => {})
  execFileSync("umount", ["-l", mounted])
  rmSync(work.folder, { recursive: true, force: true })
})

it("is captured, restored and given back like any other", async () => {
  const longest = "n".repeat(255)
  work.write("top", "1")
  work.write("mounted/secret", "1", 0o600)
  work.write("mounted/run", "1", 0o755)
  work.write("mounted/deep/gone", "1", 0o400)
  work.write(`mounted/deep/${longest}`, "1")
  work.link("mounted/link", "deep")
  work.folderAt("mounted/empty")
  const before = work.picture()
  const store = await work.open()
  const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
  for (const name of ["top", "mounted/secret", "mounted/new"]) work.write(name, "2")
  chmodSync(join(mounted, "run"), 0o644)
  for (const name of ["deep", "link", "empty"]) work.remove(`mounted/${name}`)
  const changed = work.picture()
  const outcome = await store.restore(commit)
  expect(outcome.failed).toEqual([])
  expect(work.picture()).toEqual(before)
  expect(
    execFileSync("stat", ["-c", "%a", join(mounted, "secret")])
      .toString()
      .trim(),
  ).toBe("600")
  await store.restore(outcome.safety.commit)
  expect(work.picture()).toEqual(changed)
})

it("takes a restore back when that file system is full", async () => {
  work.write("mounted/large", Buffer.alloc(1 << 20, 1))
  work.write("top", "1")
  const store = await work.open()
  const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
  work.remove("mounted/large")
  work.write("top", "2")
  work.write(".gitignore", "filler\n")
  work.write("mounted/filler", Buffer.alloc(2_900_000, 2))
  const before = work.picture()
  await expect(store.restore(commit)).rejects.toMatchObject({ code: "ENOSPC" })
  for (const journal of store.listUnfinishedRestores()) await store.takeBackRestore(journal)
  expect(work.picture()).toEqual(before)
})

it("does not overwrite a file there that is saved while the restored one is copied to it", async () => {
  work.write("mounted/a.txt", "old content")
  const store = await work.open()
  const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
  let isSaved = false
  for (let turn = 0; turn < 50 && !isSaved; turn++) {
    work.write("mounted/a.txt", `the agent's ${turn}`)
    let isOver = false
    const saveInBetween = () => {
      isSaved = !isOver && readdirSync(mounted).some((name) => name.endsWith(".keepup-tmp"))
      if (isSaved) work.write("mounted/a.txt", "saved just now")
      else if (!isOver) setImmediate(saveInBetween)
    }
    saveInBetween()
    const refused = await store.restore(commit).then(
      () => undefined,
      (error) => error.code,
    )
    isOver = true
    expect(refused).toBe(isSaved ? "CONFLICT" : undefined)
  }
  expect(isSaved).toBe(true)
  expect(work.read("mounted/a.txt")).toBe("saved just now")
  expect(readdirSync(mounted)).toEqual(["a.txt"])
})

it("leaves the note of what could not be taken away, so that it is swept later", async () => {
  work.write("a.txt", "1")
  const store = await work.open()
  const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
  work.write("a.txt", "2")
  const id = "01900000-0000-7000-8000-000000000000"
  const staging = join(work.root, `.keepup-restore-${id}`)
  const onPrepared = async () => {
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", staging]) // a folder in use can't be removed
    throw new Error("not on record")
  }
  await expect(store.restore(commit, { id, onPrepared })).rejects.toThrow("not on record")
  execFileSync("umount", ["-l", staging])
  expect(existsSync(staging)).toBe(true)
  await store.sweepRestores()
  expect(existsSync(staging)).toBe(false)
  expect(work.read("a.txt")).toBe("2")
})

it("restores also when what it staged can't be taken away, and sweeps it later", async () => {
  work.write("a.txt", "1")
  const id = "01900000-0000-7000-8000-000000000001"
  const staging = join(work.root, `.keepup-restore-${id}`)
  const onStep = (step: string) => {
    if (step === "restore:verify") execFileSync("mount", ["-t", "tmpfs", "tmpfs", staging])
  }
  const store = await work.open({ onStep })
  const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
  work.write("a.txt", "2")
  const outcome = await store.restore(commit, { id })
  expect(outcome.failed).toEqual([])
  expect(work.read("a.txt")).toBe("1")
  expect(store.listUnfinishedRestores()).toEqual([])
  execFileSync("umount", ["-l", staging])
  expect(existsSync(staging)).toBe(true)
  await store.sweepRestores()
  expect(existsSync(staging)).toBe(false)
})

it("sweeps what could not be taken away when it was stopped while it was put on record", async () => {
  const names = Array.from({ length: 100 }, (_, i) => `many/${i}`)
  for (const name of names) work.write(name, "1")
  const id = "01900000-0000-7000-8000-000000000002"
  const staging = join(work.root, `.keepup-restore-${id}`)
  writeFileSync(join(work.folder, "sync"), "#!/bin/sh\nexec sleep 600\n", { mode: 0o755 })
  const store = await work.open({ environment: { PATH: `${work.folder}:${process.env["PATH"]}` } })
  const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
  for (const name of names) work.write(name, "2")
  const stop = new AbortController()
  const onPrepared = async () => {
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", staging])
    stop.abort()
  }
  await expect(store.restore(commit, { id, onPrepared, signal: stop.signal })).rejects.toThrow()
  execFileSync("umount", ["-l", staging])
  expect(store.listUnfinishedRestores()).toEqual([])
  expect(existsSync(staging)).toBe(true)
  await store.sweepRestores()
  expect(existsSync(staging)).toBe(false)
  for (const name of names) expect(work.read(name)).toBe("2")
})
