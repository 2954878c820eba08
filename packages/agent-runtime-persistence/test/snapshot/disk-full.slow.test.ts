/** A full disk, for real: a small file system of its own. Needs the right to mount one. */
import { execFileSync } from "node:child_process"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { fsck, makeWorkspace, type WorkspaceFixture } from "./workspace-fixture.js"

let work: WorkspaceFixture
let small: string
beforeEach(() => {
  work = makeWorkspace({ git: false })
  small = join(work.folder, "small")
  mkdirSync(small)
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=3m", "tmpfs", small], { stdio: "pipe" })
  } catch (cause) {
    throw new Error("This test needs the right to mount a tmpfs; run it as root.", { cause })
  }
})
afterEach(async () => {
  await work.close().catch(() => {})
  execFileSync("umount", ["-l", small])
  rmSync(work.folder, { recursive: true, force: true })
})

const noise = (size: number) => Buffer.from(Array.from({ length: size }, () => Math.floor(Math.random() * 256)))

it("fails a snapshot with UNAVAILABLE, keeps the earlier ones, and goes on when there is room again", async () => {
  work.write("a.txt", "one")
  const before = work.picture()
  const store = await work.open({ stateDirectory: join(small, "state") })
  const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
  work.write("big.bin", noise(4 << 20))
  await expect(store.capture({ message: "2", checkpointId: "c2" })).rejects.toMatchObject({ code: "UNAVAILABLE" })
  expect(fsck(store.directory)).toBe("")
  expect([...store.listCheckpoints().keys()]).toEqual(["c1"])
  work.remove("big.bin")
  work.write("a.txt", "two")
  work.write("b.txt", "new")
  const second = await store.capture({ message: "2", checkpointId: "c2" })
  expect(second.filesChanged).toBe(2)
  await store.restore(commit)
  expect(work.picture()).toEqual(before)
  await store.close()
})

it("changes no file when there is no room for a restore", async () => {
  const root = join(small, "work")
  mkdirSync(root)
  writeFileSync(join(root, "big.bin"), noise(1 << 20))
  writeFileSync(join(root, "a.txt"), "one")
  const store = await work.open({ workspacePath: root })
  const { commit } = await store.capture({ message: "1", checkpointId: "c1" })
  rmSync(join(root, "big.bin"))
  writeFileSync(join(root, "a.txt"), "two")
  writeFileSync(join(root, "filler"), noise(2_900_000))
  // The filler is captured too, so a restore would delete it; but the new content is written before anything goes.
  await expect(store.restore(commit)).rejects.toThrow(/ENOSPC|no space/i)
  const read = (name: string) => execFileSync("cat", [join(root, name)]).toString()
  expect(read("a.txt")).toBe("two")
  expect(store.listUnfinishedRestores(), "nothing was touched, so there is nothing to finish").toEqual([])
  rmSync(join(root, "filler"))
  await store.restore(commit)
  expect(read("a.txt")).toBe("one")
  await store.close()
})
