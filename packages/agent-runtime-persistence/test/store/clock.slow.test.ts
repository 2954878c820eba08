/** A clock set back an hour, in this process and in another: nothing changes its order. */
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { openStore } from "../../src/store/open-store.js"
import { type PostgresServer, startPostgres } from "../../src/testing/start-postgres.js"
import { bundleProgram, startProgram } from "../../src/testing/start-program.js"
import { createTemporaryFolder, type TemporaryFolder } from "../../src/testing/temporary-folder.js"

const hour = 3_600_000

let folder: TemporaryFolder
let server: PostgresServer
let program: string

beforeAll(async () => {
  folder = createTemporaryFolder()
  server = await startPostgres({ settings: { fsync: "off" } })
  program = await bundleProgram(fileURLToPath(new URL("programs/clock-set-back.ts", import.meta.url)))
})

afterAll(async () => {
  folder.remove()
  await server.stop()
})

describe.each([
  ["SQLite", async () => `sqlite:${folder.file("keepup.db")}`],
  ["PostgreSQL", () => server.createDatabase()],
] as const)("on %s", (_name, createUrl) => {
  it("keeps the order of sessions, entries, checkpoints and logs when the clock is set back", async () => {
    const url = await createUrl()
    let offset = 0
    const store = await openStore(url, { clock: { now: () => Date.now() + offset } })
    const names = ["first"]
    const { id } = await store.sessions.create({ workspacePath: "/w", name: "first" })
    const ids = [id]
    let updatedAt = 0
    for (const [step, change] of [0, -hour, -2 * hour, hour, -24 * hour, 0].entries()) {
      offset = change
      await store.log.append(id, [{ type: "test:step", data: { step } }])
      await store.checkpoints.create({ sessionId: id, trigger: "manual", name: `step ${step}` })
      await store.sessions.addLog(id, "info", `step ${step}`)
      names.push(`session ${step}`)
      ids.push((await store.sessions.create({ workspacePath: "/w", name: `session ${step}` })).id)
      const session = await store.sessions.get(id)
      expect(session.updatedAt).toBeGreaterThanOrEqual(updatedAt)
      updatedAt = session.updatedAt
    }
    const behind = startProgram(program, [url, id])
    expect(await behind.ended, behind.errors()).toEqual({ code: 0, signal: null })
    names.push("by another process, an hour ago")

    const sessions = await store.sessions.list()
    expect(sessions.map(({ name }) => name)).toEqual([...names].reverse())
    const page = await store.sessions.list({ before: sessions[2]?.id as never, limit: 3 })
    expect(page.map(({ name }) => name)).toEqual([...names].reverse().slice(3, 6))
    expect([...ids].sort(), "ids made by one process").toEqual(ids)
    const checkpoints = await store.checkpoints.list(id)
    expect(checkpoints.map(({ number }) => number)).toEqual([7, 6, 5, 4, 3, 2, 1])
    expect(checkpoints.map(({ name }) => name)).toEqual(["behind", ...[5, 4, 3, 2, 1, 0].map((n) => `step ${n}`)])
    expect((await store.checkpoints.resolve(id, "latest")).name).toBe("behind")
    const logs = await store.sessions.listLogs(id)
    expect(logs.map(({ message }) => message)).toEqual(["behind", ...[5, 4, 3, 2, 1, 0].map((n) => `step ${n}`)])
    const entries = (await store.log.read(id)).filter(({ type }) => type.startsWith("test:"))
    expect(entries.map(({ data, type }) => (data as { step?: number }).step ?? type)).toEqual([
      0,
      1,
      2,
      3,
      4,
      5,
      "test:behind",
    ])
    await store.close()
  })

  it("finishes what was begun before it closes, and refuses what comes after", async () => {
    const url = await createUrl()
    const store = await openStore(url, { connections: 2 })
    const { id } = await store.sessions.create({ workspacePath: "/w" })
    const begun = Array.from({ length: 12 }, (_, n) => store.log.append(id, [{ type: "test:begun", data: { n } }]))
    const reading = store.log.read(id)
    const closing = [store.close(), store.close()]
    const entries = (await Promise.all(begun)).flat()
    await reading
    await Promise.all(closing)
    await store.close()
    const late = store.log.append(id, [{ type: "test:late", data: {} }])
    await expect(late).rejects.toMatchObject({ code: "UNAVAILABLE" })
    const again = await openStore(url)
    expect((await again.log.head(id)).seq).toBe(1 + entries.length)
    await again.close()
  })
})
