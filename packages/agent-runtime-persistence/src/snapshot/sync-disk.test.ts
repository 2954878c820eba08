/** A whole disk is said to be durable only where that is known. */
import { getEventListeners } from "node:events"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { makeWorkspace, type WorkspaceFixture } from "../../test/snapshot/workspace-fixture.js"
import { createSyncDisk } from "./sync-disk.js"

let work: WorkspaceFixture
beforeEach(() => {
  work = makeWorkspace()
})
afterEach(() => work.close())

const never = new AbortController().signal

/** Stands in for the program; the disk of the tests may be one of which nobody knows. */
function makeSync(script: string): { PATH: string } {
  writeFileSync(join(work.folder, "sync"), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return { PATH: `${work.folder}:/usr/bin:/bin` }
}

it("says no where the program fails, is not there, or the disk is none of those that are known", async () => {
  expect(await createSyncDisk(makeSync("exit 1"))(work.root, never)).toBe(false)
  expect(await createSyncDisk({ PATH: join(work.folder, "home") })(work.root, never)).toBe(false)
  expect(await createSyncDisk({ PATH: process.env.PATH })("/proc", never)).toBe(false)
  expect(await createSyncDisk({ PATH: process.env.PATH })(join(work.root, "nothing"), never)).toBe(false)
})

it("leaves nothing behind at the signal that could have stopped it", async () => {
  const stop = new AbortController()
  for (const script of ["exit 0", "exit 1"]) await createSyncDisk(makeSync(script))(work.root, stop.signal)
  expect(getEventListeners(stop.signal, "abort")).toEqual([])
})

it("does not wait for a disk that takes for ever, once it is stopped", async () => {
  const stop = new AbortController()
  const synced = createSyncDisk(makeSync("exec sleep 600"))(work.root, stop.signal)
  stop.abort()
  expect(await synced).toBe(false)
})

it.each(["exit 0", "exit 1", "exec sleep 600"])(
  "brings many files back when the whole disk answers: %s",
  async (script) => {
    const store = await work.open({ environment: makeSync(script) })
    for (let i = 0; i < 150; i++) work.write(`many/${i}`, `content ${i}`, i % 7 === 0 ? 0o755 : 0o644)
    work.link("many/link", "0")
    const { commit } = await store.capture({ message: "1", checkpointId: "1" })
    const before = work.picture()
    for (let i = 0; i < 150; i++) work.write(`many/${i}`, "changed")
    work.remove("many/link")
    await store.restore(commit)
    expect(work.picture()).toEqual(before)
  },
)

it("says no where the program can't even be started", async () => {
  expect(await createSyncDisk({ PATH: "/etc/passwd" })(work.root, never)).toBe(false)
  const tooLong = { PATH: process.env.PATH, TOO_LONG: "x".repeat(1 << 20) }
  expect(await createSyncDisk(tooLong)(work.root, never)).toBe(false)
})
