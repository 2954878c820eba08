/** A git that never answers holds nobody up for ever: it is killed, the caller hears which command it was, and nothing is lost. */
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { afterEach, beforeEach, expect, it } from "vitest"
import { makeWorkspace, type WorkspaceFixture } from "../../test/snapshot/workspace-fixture.js"
import { startBatchProcess } from "./batch-process.js"
import { createGit, waitAtMost } from "./git-process.js"

let work: WorkspaceFixture
beforeEach(() => {
  work = makeWorkspace({ git: true })
})
afterEach(() => work.close())

/** More folders than are read without git. */
const folders = Array.from({ length: 100 }, (_, i) => `folder-${i}`)

function writeAll(content: string): void {
  for (const folder of folders) work.write(`${folder}/file.txt`, content)
}

/** The real git, but for one of its commands. */
function makeHanging(command: string): string {
  const program = join(work.folder, "hanging-git")
  writeFileSync(program, `#!/bin/sh\ncase " $* " in *" ${command} "*) exec sleep 600;; esac\nexec git "$@"\n`, {
    mode: 0o755,
  })
  return program
}

const isTooSlow = (command: string) => ({
  code: "UNAVAILABLE",
  message: expect.stringContaining(`git ${command} did not answer`),
})

it("says so when the user's settings can't be read: a file of theirs may be a pipe", async () => {
  execFileSync("mkfifo", [join(work.home, ".gitconfig")])
  await expect(work.open({ gitTimeLimitMs: 100 })).rejects.toMatchObject(isTooSlow("config"))
})

it.each(["check-ignore", "cat-file"])(
  "says so when `git %s` hangs, and the next snapshot holds everything",
  async (command) => {
    writeAll("one\n")
    const store = await work.open()
    const { commit } = await store.capture({ message: "one", checkpointId: "c1" })
    await store.close()
    writeAll("two\n")
    for (const folder of folders) work.write(`${folder}/odd.log`, "new\n")
    work.write(".gitignore", "*.tmp\n?dd.*\n!odd.log\n")

    const held = await work.open({ git: makeHanging(command), gitTimeLimitMs: 100 })
    const before = work.picture()
    await expect(held.capture({ message: "two", checkpointId: "c2" })).rejects.toMatchObject(isTooSlow(command))
    expect(work.picture()).toEqual(before)
    await held.close()

    const again = await work.open()
    const { commit: second } = await again.capture({ message: "two", checkpointId: "c2" })
    expect((await again.restore(commit)).failed).toEqual([])
    expect(work.read("folder-7/file.txt")).toBe("one\n")
    expect((await again.restore(second)).failed).toEqual([])
    expect(work.picture()).toEqual(before)
  },
)

it("keeps no program alive that gave it up, though what git started holds its pipes open", async () => {
  const program = join(work.folder, "slow-git")
  writeFileSync(program, "#!/bin/sh\nsleep 30\n", { mode: 0o755 })
  const git = createGit({ program, environment: process.env, gitDirectory: work.folder, timeLimitMs: 100 })
  const listHandles = () =>
    process
      .getActiveResourcesInfo()
      .filter((name) => /^(Pipe|Process)Wrap$/.test(name))
      .sort()
  const before = listHandles()
  await expect(git.run(["config"], { limit: "short" })).rejects.toMatchObject(isTooSlow("config"))
  const batch = startBatchProcess(git)
  await expect(batch.ask("HEAD", true)).rejects.toMatchObject(isTooSlow("cat-file"))
  await expect(batch.ask("HEAD", true)).rejects.toMatchObject({ code: "UNAVAILABLE" })
  await wait(20)
  expect(listHandles()).toEqual(before)
})

it("is not given up for time in which this program itself stood still", async () => {
  let hasGivenUp = false
  const stop = waitAtMost(200, () => {
    hasGivenUp = true
  })
  await wait(120)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400)
  await wait(20)
  expect(hasGivenUp).toBe(false)
  while (!hasGivenUp) await wait(10)
  stop()
})
