/** What only a server can do to a store: die in the middle, refuse, be told to forget, and serve two who race. */
import { fileURLToPath } from "node:url"
import { inspect } from "node:util"
import { type ArtifactId, isKeepupError, type KeepupError, type SessionId } from "@ku0/agent-runtime-core"
import pg from "pg"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { openStore, type Store } from "../../src/store/open-store.js"
import { type PostgresServer, startPostgres } from "../../src/testing/start-postgres.js"
import { bundleProgram, startProgram } from "../../src/testing/start-program.js"
import type { Appended, Failed } from "./programs/append-many.js"

let server: PostgresServer
let stores: Store[] = []

beforeAll(async () => {
  server = await startPostgres({ own: true, settings: { synchronous_commit: "off", wal_writer_delay: "10s" } })
})

afterAll(() => server.stop())

afterEach(async () => {
  for (const store of stores) await store.close()
  stores = []
})

async function open(url: string): Promise<Store> {
  const store = await openStore(url)
  stores.push(store)
  return store
}

describe("a server that dies", () => {
  it("loses nothing acknowledged, and those who append go on when it is back", async () => {
    const appendMany = await bundleProgram(fileURLToPath(new URL("programs/append-many.ts", import.meta.url)))
    const url = await server.createDatabase()
    const shared = (await (await open(url)).sessions.create({ workspacePath: "/w" })).id
    const programs = [
      startProgram(appendMany, [url, "own", "", "600000"]),
      startProgram(appendMany, [url, "own", "", "600000"]),
      startProgram(appendMany, [url, "shared", shared, "600000"]),
      startProgram(appendMany, [url, "lease", shared, "600000"]),
    ]
    for (const program of programs) await program.heard((said: object) => "open" in said)
    for (let death = 0; death < 4; death++) {
      const before = programs.map(({ said }) => said.length)
      for (const [index, program] of programs.slice(0, 2).entries()) {
        await program.heard(
          (said: object) => "appended" in said && program.said.indexOf(said) > (before[index] ?? 0) + 20,
        )
      }
      await server.kill()
      await server.start()
    }
    for (const program of programs.slice(0, 2)) {
      const before = program.said.length
      await program.heard((said: object) => "appended" in said && program.said.indexOf(said) > before)
    }
    for (const program of programs) program.signal("SIGKILL")
    for (const program of programs) expect(await program.ended, program.errors()).toMatchObject({ signal: "SIGKILL" })

    const said = programs.flatMap((program) => program.said as (Appended | Failed)[])
    for (const line of said)
      if ("failed" in line) expect(["UNAVAILABLE", "SESSION_RUNNING"]).toContain(line.failed.code)
    expect(said.some((line) => "failed" in line && line.failed.code === "UNAVAILABLE")).toBe(true)
    const store = await open(url)
    for (const { sessionId, seq, n } of said.flatMap((line) => ("appended" in line ? [line.appended] : []))) {
      const [entry] = await store.log.read(sessionId as SessionId, { after: seq - 1, limit: 1 })
      expect(entry, `entry ${seq}`).toMatchObject({ seq, data: { n } })
    }
    for (const { id } of await store.sessions.list()) {
      let seq = 0
      for await (const entry of store.log.history(await store.log.head(id))) {
        expect(entry.seq).toBe(++seq)
        const isOwn = id !== shared && seq > 1
        if (isOwn) expect(entry.data, "none twice, none left out").toMatchObject({ n: seq - 1 })
      }
    }
  })

  it("does not end those who are in a transaction with it", async () => {
    const url = await server.createDatabase()
    const store = await open(url)
    const session = await store.sessions.create({ workspacePath: "/w" })
    const work = store.context.driver.transaction("test", async (tx) => {
      await tx.run("UPDATE sessions SET name = 'x'")
      await server.kill()
      await new Promise((resolve) => setTimeout(resolve, 50)) // the news arrives while nobody asks
      await tx.run("UPDATE sessions SET name = 'y'")
    })
    expect(await failure(work)).toMatchObject({ code: "UNAVAILABLE" })
    expect(await failure(store.sessions.list())).toMatchObject({ code: "UNAVAILABLE" })
    await server.start()
    expect((await store.sessions.get(session.id)).name).toBe("New session")
  })

  it("is closed without an error, also by one who holds a lease", async () => {
    const url = await server.createDatabase()
    const store = await openStore(url)
    await store.leases.take("workspace:/w", { purpose: "test" })
    await server.kill()
    expect(await failure(store.close())).toMatchObject({ code: "UNAVAILABLE" })
    expect(await failure(store.sessions.list())).toMatchObject({ code: "UNAVAILABLE" })
    await server.start()
  })

  it("puts what it acknowledges on disk, even if it was told not to hurry", async () => {
    const store = await open(await server.createDatabase())
    expect(await store.context.driver.get("SHOW synchronous_commit")).toEqual({ synchronous_commit: "on" })
  })
})

describe("a server that can't be used", () => {
  const secret = "pa55-w0rd"

  it.each([
    ["nobody listens", (url: URL) => (url.port = "1")],
    ["no such host", (url: URL) => (url.hostname = "no-such-host.invalid")],
    ["a wrong password", () => undefined],
    ["no password", (url: URL) => (url.password = "")],
    ["no such user", (url: URL) => (url.username = "stranger")],
    [
      "no such database",
      (url: URL, right: string) => {
        url.password = right
        url.pathname = "/nothing_here"
      },
    ],
    ["encryption that the server lacks", (url: URL) => (url.search = "?sslmode=require")],
    ["a missing socket", (url: URL) => (url.search = "?host=/no/such/folder")],
  ])("is UNAVAILABLE without telling the password: %s", async (_name, change) => {
    const url = new URL(await server.createDatabase())
    const right = url.password
    url.password = secret
    change(url, right)
    const error = await failure(openStore(url.href))
    expect(error).toMatchObject({ code: "UNAVAILABLE", hint: expect.stringContaining("Check that the server runs") })
    const told = inspect(error, { depth: 10, showHidden: true })
    expect(told).not.toContain(secret)
    expect(told).not.toContain(right)
  })

  it.each([
    `postgres://user:${secret}@host:notaport/db`,
    `postgres://user:${secret}@[broken/db`,
    `mysql://user:${secret}@host/db`,
    `mysql://user:x@${secret}/y@host/db`,
  ])("is INVALID_INPUT without telling the password: %#", async (url) => {
    const error = await failure(openStore(url))
    expect(error.code).toBe("INVALID_INPUT")
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(secret)
  })

  it("is INVALID_INPUT and untouched if its tables are another program's", async () => {
    const url = await server.createDatabase()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query("CREATE TABLE sessions (theirs TEXT)")
    const error = await failure(openStore(url))
    expect(error).toMatchObject({ code: "INVALID_INPUT", hint: expect.stringContaining("of its own") })
    const tables = await client.query("SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'")
    expect(tables.rows).toEqual([{ table_name: "sessions" }])
    await client.end()
  })

  it("is STORE_TOO_NEW if a newer keepup used it", async () => {
    const url = await server.createDatabase()
    const store = await open(url)
    await store.context.driver.run("UPDATE keepup_schema SET version = 99")
    expect(await failure(openStore(url))).toMatchObject({ code: "STORE_TOO_NEW" })
  })
})

describe("two at once", () => {
  it("make the tables together", async () => {
    const url = await server.createDatabase()
    const both = await Promise.all([open(url), open(url), open(url), open(url)])
    for (const store of both) expect(store.schemaVersion).toBe(both[0].schemaVersion)
  })

  it("never leave a branch without the history it continues", async () => {
    const url = await server.createDatabase()
    const [one, two] = [await open(url), await open(url)]
    let branched = 0
    for (let round = 0; round < 60; round++) {
      const { id } = await one.sessions.create({ workspacePath: "/w" })
      const outcome = await Promise.allSettled([
        one.sessions.create({ workspacePath: "/w", parent: { sessionId: id, seq: 1 } }),
        two.sessions.delete(id),
      ])
      expect(outcome[1].status).toBe("fulfilled")
      if (outcome[0].status === "rejected") expect(outcome[0].reason).toMatchObject({ code: "NOT_FOUND" })
      else {
        branched++
        const head = await one.log.head(outcome[0].value.id)
        expect((await one.log.fold(head)).entryCount).toBe(2)
      }
    }
    expect(branched, "some of each").toBeLessThanOrEqual(60)
  })

  it("count a checkpoint that both delete once", async () => {
    const url = await server.createDatabase()
    const [one, two] = [await open(url), await open(url)]
    const { id } = await one.sessions.create({ workspacePath: "/w" })
    for (let round = 0; round < 20; round++) {
      const checkpoint = await one.checkpoints.create({ sessionId: id, trigger: "manual" })
      const removed = await Promise.all([
        one.checkpoints.delete([checkpoint.id]),
        two.checkpoints.delete([checkpoint.id]),
      ])
      expect(removed[0] + removed[1]).toBe(1)
    }
    expect((await one.sessions.get(id)).checkpointCount).toBe(0)
  })

  it("keep the same artifact once, and both are told so", async () => {
    const url = await server.createDatabase()
    const [one, two] = [await open(url), await open(url)]
    const artifact = (id: string, idempotencyKey: string | null) => ({
      id: id as ArtifactId,
      sessionId: null,
      type: "report",
      schemaVersion: "1",
      title: "",
      taskNodeId: null,
      mediaType: "text/plain",
      createdAt: 0,
      quarantine: null,
      renderHints: null,
      idempotencyKey,
    })
    for (let round = 0; round < 20; round++) {
      const content = Buffer.from(`content ${round}`)
      const sameId = await Promise.all(
        [one, two].map((store) => store.artifacts.put(artifact(`a${round}`, null), content)),
      )
      expect(sameId[0]).toEqual(sameId[1])
      const sameKey = await Promise.all(
        [one, two].map((store, index) => store.artifacts.put(artifact(`k${round}-${index}`, `key ${round}`), content)),
      )
      expect(sameKey[0]).toEqual(sameKey[1])
    }
  })

  it("never both get folders that hold one another", async () => {
    await raceForFolders(await server.createDatabase())
  })

  it.each(["repeatable read", "serializable"])(
    "never do where transactions begin at another level: %s",
    async (level) => {
      const url = await server.createDatabase()
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      await client.query(`ALTER DATABASE ${client.database} SET default_transaction_isolation = '${level}'`)
      await client.end()
      await raceForFolders(url)
    },
  )

  it("hand over the same values in another order", async () => {
    const url = await server.createDatabase()
    const [one, two] = [await open(url), await open(url)]
    const sessions = [
      await one.sessions.create({ workspacePath: "/w" }),
      await one.sessions.create({ workspacePath: "/w" }),
    ] as const
    for (let round = 0; round < 5; round++) {
      await Promise.all([
        one.state.put(sessions[0].id, { a: `a${round}`, b: `b${round}`, c: `c${round}` }),
        two.state.put(sessions[1].id, { c: `c${round}`, b: `b${round}`, a: `a${round}` }),
      ])
    }
    const states = await Promise.all(sessions.map(async ({ id }) => one.state.get(await one.log.head(id))))
    expect({ ...states[0] }).toEqual({ a: "a4", b: "b4", c: "c4" })
    expect({ ...states[1] }).toEqual({ ...states[0] })
  })
})

async function raceForFolders(url: string): Promise<void> {
  const [one, two] = [await open(url), await open(url)]
  for (let round = 0; round < 40; round++) {
    const around = `workspace:/round-${round}`
    const taken = await Promise.allSettled([
      one.leases.take(around, { purpose: "around" }),
      two.leases.take(`${around}/inside`, { purpose: "inside" }),
    ])
    const held = taken.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []))
    expect(held).toHaveLength(1)
    for (const lease of held) await lease.release()
  }
}

async function failure(work: Promise<unknown>): Promise<KeepupError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!isKeepupError(error)) throw error ?? new Error("It worked.")
  return error
}
