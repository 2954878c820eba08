/** A folder of the workspace that is a file system of its own, as in a container. Needs the right to mount one. */
import { execFileSync } from "node:child_process"
import { chmodSync, rmSync } from "node:fs"
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
