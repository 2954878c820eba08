/** Mistakes of the systems this one descends from, each as something that must not happen here. */
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { cleanupSessions } from "../../src/session/cleanup-sessions.js"
import { openStore, type Store } from "../../src/store/open-store.js"
import { createTemporaryFolder, type TemporaryFolder } from "../../src/testing/temporary-folder.js"

const day = 86_400_000

let folder: TemporaryFolder
let store: Store
let now = 1_700_000_000_000

beforeEach(async () => {
  folder = createTemporaryFolder()
  store = await openStore(`sqlite:${folder.file("keepup.db")}`, { clock: { now: () => now } })
})

afterEach(async () => {
  await store.close()
  folder.remove()
})

it("gives back the whole state from the newest checkpoint, not only what changed since the one before", async () => {
  const { id } = await store.sessions.create({ workspacePath: "/w" })
  await store.checkpoints.create({ sessionId: id, trigger: "interval", state: { plan: ["a"], memory: { x: 1 } } })
  await store.checkpoints.create({ sessionId: id, trigger: "interval", state: { progress: 50 } })
  await store.checkpoints.create({ sessionId: id, trigger: "interval" })
  const latest = await store.checkpoints.resolve(id, "latest")
  const state = await store.state.get({ sessionId: id, seq: latest.entrySeq })
  expect({ ...state }).toEqual({ plan: ["a"], memory: { x: 1 }, progress: 50 })
})

it("has a session's id at once, as text", async () => {
  const session = await store.sessions.create({ workspacePath: "/w" })
  expect(session.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/)
})

it("counts messages and checkpoints apart: many of one do not multiply the other", async () => {
  const { id } = await store.sessions.create({ workspacePath: "/w" })
  for (let n = 0; n < 3; n++) {
    const message = { role: "user", content: String(n) }
    await store.log.append(id, [{ type: "message:added", data: { message } }])
    await store.checkpoints.create({ sessionId: id, trigger: "manual" })
    await store.checkpoints.create({ sessionId: id, trigger: "manual" })
  }
  expect(await store.sessions.get(id)).toMatchObject({ messageCount: 3, checkpointCount: 6 })
})

it("removes ended sessions by their age in time, not by comparing texts", async () => {
  for (const [name, age] of [
    ["old", 31],
    ["almost", 29],
    ["fresh", 0],
  ] as const) {
    now = 1_700_000_000_000 - age * day
    const { id } = await store.sessions.create({ workspacePath: "/w", name })
    await store.log.append(id, [{ type: "session:ended", data: { outcome: "completed" } }])
  }
  now = 1_700_000_000_000
  const { removed } = await cleanupSessions(store, { olderThanMs: 30 * day })
  expect(removed.map(({ name }) => name)).toEqual(["old"])
})

it("leaves a paused session alone, whatever became of the process that paused it", async () => {
  const { id } = await store.sessions.create({ workspacePath: "/w" })
  const lease = await store.leases.take(`session:${id}`, { purpose: "run" })
  await store.log.append(id, [{ type: "session:paused", data: {} }], { lease })
  await store.context.driver.run("UPDATE leases SET pid = 4194305")
  expect((await cleanupSessions(store)).interrupted).toEqual([])
  expect((await store.sessions.get(id)).status).toBe("paused")
})

it("makes large values smaller, not larger, and the same value costs nothing again", async () => {
  const { id } = await store.sessions.create({ workspacePath: "/w" })
  const size = async () => Number((await store.context.driver.get("SELECT SUM(LENGTH(data)) AS n FROM blobs"))?.["n"])
  const text = "the same words again and again ".repeat(50_000)
  await store.state.put(id, { text })
  const once = await size()
  expect(once).toBeLessThan(text.length / 20)
  for (let n = 0; n < 5; n++) await store.checkpoints.create({ sessionId: id, trigger: "interval", state: { text } })
  expect(await size()).toBe(once)
})

it("never uses a checkpoint's name as the name of a file", async () => {
  const { id } = await store.sessions.create({ workspacePath: "/w" })
  const before = readdirSync(folder.path)
  const { name } = await store.checkpoints.create({ sessionId: id, trigger: "manual", name: "../../outside" })
  expect(name).toBe("../../outside")
  expect(readdirSync(folder.path)).toEqual(before)
  expect((await store.checkpoints.resolve(id, "../../outside")).number).toBe(1)
})

it("fails where it can't write, instead of keeping everything in memory", async () => {
  const file = folder.file("a-file")
  writeFileSync(file, "")
  await expect(openStore(`sqlite:${join(file, "keepup.db")}`)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    hint: expect.stringMatching(/Check the permissions/),
  })
  await expect(openStore(`sqlite:${folder.path}`)).rejects.toMatchObject({ code: "INVALID_INPUT" })
  expect(statSync(file).size).toBe(0)
  expect(existsSync(join(file, "keepup.db"))).toBe(false)
})

it("is recovered after a crash without having been paused before", async () => {
  const { id } = await store.sessions.create({ workspacePath: "/w" })
  const lease = await store.leases.take(`session:${id}`, { purpose: "run" })
  await store.log.append(id, [{ type: "run:started", data: { runId: "r" } }], { lease })
  await store.context.driver.run("UPDATE leases SET pid = 4194305") // the process is gone
  expect((await cleanupSessions(store)).interrupted.map((session) => session.id)).toEqual([id])
  expect((await store.sessions.get(id)).status).toBe("interrupted")
  await store.log.append(id, [{ type: "session:resumed", data: {} }])
  expect((await store.sessions.get(id)).status).toBe("active")
})
