/** Leases between real processes: live, killed, stopped, not yet buried, with another's pid, on another host. */
import { readFileSync } from "node:fs"
import { hostname } from "node:os"
import { fileURLToPath } from "node:url"
import type { KeepupError, SessionId } from "@ku0/agent-runtime-core"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { type OpenStoreOptions, openStore, type Store } from "../../src/store/open-store.js"
import { type PostgresServer, startPostgres } from "../../src/testing/start-postgres.js"
import { bundleProgram, type Program, startProgram } from "../../src/testing/start-program.js"
import { createTemporaryFolder, type TemporaryFolder } from "../../src/testing/temporary-folder.js"
import type { HoldLeaseOptions } from "./programs/hold-lease.js"

interface Held {
  readonly held: number
  readonly pid: number
}

let folder: TemporaryFolder
let holdLease: string
let count = 0
let url: string
let sessionId: SessionId
let stores: Store[] = []
let programs: Program[] = []

beforeAll(async () => {
  folder = createTemporaryFolder()
  holdLease = await bundleProgram(fileURLToPath(new URL("programs/hold-lease.ts", import.meta.url)))
})

afterAll(() => folder.remove())

afterEach(async () => {
  for (const program of programs) program.signal("SIGKILL")
  for (const program of programs) await program.ended
  for (const store of stores) await store.close()
  stores = []
  programs = []
})

async function open(options?: OpenStoreOptions): Promise<Store> {
  const store = await openStore(url, options)
  stores.push(store)
  return store
}

function hold(options: HoldLeaseOptions = {}, under: readonly string[] = []): Program {
  const program = startProgram(holdLease, [url, sessionId, JSON.stringify(options)], { under })
  programs.push(program)
  return program
}

async function held(program: Program): Promise<Held> {
  return await program.heard<Held>((said) => said.held !== undefined)
}

async function answer(program: Program, order: string): Promise<unknown> {
  const before = program.said.length
  program.tell(order)
  return await program.heard<{ did?: string; refused?: string }>(
    (said) => program.said.indexOf(said) >= before && (said.did === order || said.refused !== undefined),
  )
}

/** It stops itself, between two things it does, so that it holds nothing of the database. */
async function stopped({ pid }: Program): Promise<void> {
  while (stateOf(pid) !== "T") await new Promise((resolve) => setTimeout(resolve, 2))
}

const stateOf = (pid: number) => /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1]

const take = (store: Store) => store.leases.take(`session:${sessionId}`, { purpose: "taking" })

async function refusal(work: Promise<unknown>): Promise<KeepupError> {
  return await work.then(
    () => Promise.reject(new Error("It was not refused.")),
    (error: KeepupError) => error,
  )
}

/** A clock that stands still where it was put: however long things take, they take no time. */
function createClock() {
  let time = Date.now()
  return { now: () => time, put: (ms: number) => (time = ms) }
}

const renewedAt = async (store: Store) =>
  Number((await store.context.driver.get("SELECT renewed_at FROM leases"))?.["renewed_at"])

function describeLeases(newUrl: () => Promise<string>): void {
  beforeEach(async () => {
    url = await newUrl()
    sessionId = (await (await open()).sessions.create({ workspacePath: "/w" })).id
  })

  it("refuses while the holder lives, and says who, where and since when", async () => {
    const before = Date.now()
    const { pid } = await held(hold())
    const error = await refusal(take(await open()))
    expect(error).toMatchObject({ code: "SESSION_RUNNING", details: { pid, purpose: "test" } })
    expect(error.message).toContain(`(pid ${pid} on ${hostname()}) since 20`)
    const since = Number(error.details?.["since"])
    expect(since).toBeGreaterThan(before - 60_000)
    expect(since).toBeLessThan(Date.now() + 60_000)
    const store = stores[0] as Store
    expect(await refusal(store.log.append(sessionId, [{ type: "test:x", data: 1 }]))).toMatchObject({
      code: "SESSION_RUNNING",
    })
    expect(await refusal(store.state.put(sessionId, { a: 1 }))).toMatchObject({ code: "SESSION_RUNNING" })
    expect(await refusal(store.checkpoints.create({ sessionId, trigger: "manual" }))).toMatchObject({
      code: "SESSION_RUNNING",
    })
    expect(await refusal(store.sessions.delete(sessionId))).toMatchObject({ code: "SESSION_RUNNING" })
  })

  it("replaces a killed holder at once", async () => {
    const holder = hold()
    const { held: number } = await held(holder)
    holder.signal("SIGKILL")
    await holder.ended
    expect((await take(await open())).number).toBe(number + 1)
  })

  it("replaces a holder that is dead but not buried at once", async () => {
    // its parent is a sleep, which never asks what became of its children
    const family = hold({}, ["sh", "-c", '"$@" & exec sleep 600', "sh"])
    const { pid } = await held(family)
    process.kill(pid, "SIGKILL")
    while (stateOf(pid) !== "Z") await new Promise((resolve) => setTimeout(resolve, 2))
    expect((await take(await open())).number).toBe(2)
  })

  it("is not fooled by another process with the pid of the dead one", async () => {
    const holder = hold()
    await held(holder)
    holder.signal("SIGKILL")
    await holder.ended
    const store = await open()
    await store.context.driver.run("UPDATE leases SET pid = ?", [process.pid])
    expect((await take(store)).number).toBe(2)
  })

  it("does not take a holder for dead when it can't look", async () => {
    await held(hold())
    const blind = hold({ exhausted: true }, ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh"])
    expect(await blind.heard((said: object) => "refused" in said || "held" in said)).toMatchObject({
      refused: "SESSION_RUNNING",
    })
  })

  it("replaces a killed holder at once where hosts are named by hand", async () => {
    const holder = hold({ host: "rack-7" })
    await held(holder)
    holder.signal("SIGKILL")
    await holder.ended
    expect((await take(await open({ host: "rack-7" }))).number).toBe(2)
  })
}

describe("on SQLite", () => {
  describeLeases(async () => `sqlite:${folder.file(String(++count), "keepup.db")}`)

  it("waits a lifetime for a stopped holder, then shuts it out for good", async () => {
    const holder = hold()
    const { held: number } = await held(holder)
    holder.tell("stop")
    await stopped(holder)
    const clock = createClock()
    const store = await open({ clock })
    const renewed = await renewedAt(store)
    for (const ms of [0, 15_000, 29_000]) {
      clock.put(renewed + ms)
      expect(await refusal(take(store)), `after ${ms} ms`).toMatchObject({ code: "SESSION_RUNNING" })
    }
    clock.put(renewed + 60_000)
    const lease = await take(store)
    expect(lease.number).toBe(number + 1)
    const [ours] = await store.log.append(sessionId, [{ type: "test:ours", data: {} }], { lease })
    holder.signal("SIGCONT")
    for (const order of ["append", "state", "checkpoint"]) {
      expect(await answer(holder, order), order).toMatchObject({ refused: "CONFLICT" })
    }
    await holder.heard<{ lost?: string }>(({ lost }) => lost !== undefined)
    await answer(holder, "release")
    expect(await store.leases.find(`session:${sessionId}`)).toMatchObject({ number: lease.number })
    expect((await store.log.head(sessionId)).seq).toBe(ours?.seq)
  })

  it("waits a lifetime for a holder on another host, by the clock, dead or not", async () => {
    const holder = hold({ host: "elsewhere" })
    await held(holder)
    holder.signal("SIGKILL")
    await holder.ended
    const clock = createClock()
    const store = await open({ clock })
    const renewed = await renewedAt(store)
    clock.put(renewed)
    expect(await refusal(take(store))).toMatchObject({ code: "SESSION_RUNNING", details: { host: "elsewhere" } })
    clock.put(renewed + 31_000)
    expect((await take(store)).number).toBe(2)
  })

  it("keeps a live holder when the clock is set back, and replaces a dead one", async () => {
    const holder = hold()
    await held(holder)
    const store = await open({ clock: { now: () => Date.now() - 3_600_000 } })
    expect(await refusal(take(store))).toMatchObject({ code: "SESSION_RUNNING" })
    expect(await answer(holder, "append")).toMatchObject({ did: "append" })
    holder.signal("SIGKILL")
    await holder.ended
    expect((await take(store)).number).toBe(2)
  })
})

describe("on PostgreSQL", () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres({ settings: { fsync: "off" } })
  })
  afterAll(() => server.stop())
  describeLeases(() => server.createDatabase())

  it("decides by the server's clock, whatever the hosts' clocks say", async () => {
    const slow = hold({ host: "slow", clockOffset: -3_600_000 })
    await held(slow)
    const fast = await open({ host: "fast", clock: { now: () => Date.now() + 3_600_000 } })
    const error = await refusal(take(fast))
    expect(error).toMatchObject({ code: "SESSION_RUNNING", details: { host: "slow" } })
    expect(Math.abs(Number(error.details?.["since"]) - Date.now())).toBeLessThan(600_000)
    slow.signal("SIGKILL")
    await slow.ended
    expect(await refusal(take(fast)), "no one can see from here that it is dead").toMatchObject({
      code: "SESSION_RUNNING",
    })
    await fast.context.driver.run("UPDATE leases SET renewed_at = renewed_at - 31000")
    expect((await take(fast)).number).toBe(2)
  })

  it("shuts out a holder that was silent for too long", async () => {
    const holder = hold({ host: "elsewhere" })
    await held(holder)
    holder.tell("stop")
    await stopped(holder)
    const store = await open()
    await store.context.driver.run("UPDATE leases SET renewed_at = renewed_at - 31000")
    expect((await take(store)).number).toBe(2)
    holder.signal("SIGCONT")
    expect(await answer(holder, "append")).toMatchObject({ refused: "CONFLICT" })
    await holder.heard<{ lost?: string }>(({ lost }) => lost !== undefined)
  })
})
