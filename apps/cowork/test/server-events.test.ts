/** Live events: nothing is missed and nothing comes twice, over breaks, from this process and from others. */
import { openRuntime } from "@ku0/agent-runtime"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { openFixture, type ServerFixture } from "./server-fixture.js"
import { type Follower, follow } from "./server-follow.js"

let fixture: ServerFixture
const followers: Follower[] = []
beforeEach(async () => {
  fixture = await openFixture()
})
afterEach(async () => {
  for (const one of followers.splice(0)) one.stop()
  await fixture.close()
})

function listen(path: string, after?: number): Follower {
  const { token, server } = fixture
  const one = follow({ port: server.port, path, token, ...(after !== undefined && { after }) })
  followers.push(one)
  return one
}

const until = (check: () => void) => vi.waitFor(check, { timeout: 20_000, interval: 10 })
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

describe("events of a session", () => {
  it("begin with what the session is now, then come as they are appended, from the head on", async () => {
    const session = await fixture.createSession()
    const client = listen(`/api/sessions/${session.id}/events`)
    await until(() => expect(client.frames[0]?.event).toBe("session"))
    expect(client.frames[0]?.data).toMatchObject({ headSeq: 1, session: { id: session.id }, guard: { session: null } })
    await fixture.say(session, "a", "b")
    await until(() => expect(client.seqs).toEqual([2, 3]))
    expect(client.frames.find(({ id }) => id === 2)?.data).toMatchObject({
      ...{ seq: 2, type: "message:added", messageIndex: 1, data: { message: { content: "a" } } },
    })
  })

  it("go on after the id that was seen last, by header or by query", async () => {
    const session = await fixture.createSession()
    await fixture.say(session, ..."abcdef")
    const byHeader = listen(`/api/sessions/${session.id}/events`, 3)
    const byQuery = listen(`/api/sessions/${session.id}/events?after=5`)
    const fromStart = listen(`/api/sessions/${session.id}/events?after=0`)
    await until(() => expect(byHeader.seqs).toEqual([4, 5, 6, 7]))
    await until(() => expect(byQuery.seqs).toEqual([6, 7]))
    await until(() => expect(fromStart.seqs).toEqual(range(1, 7)))
    const wrong = await fixture.ask(`/api/sessions/${session.id}/events`, { headers: { "last-event-id": "soon" } })
    expect(wrong.status).toBe(400)
  })

  it("miss nothing and repeat nothing over random breaks, while two stores append", async () => {
    const session = await fixture.createSession()
    const { stateDirectory, workspacePath } = fixture
    const other = await openRuntime({ stateDirectory, workspacePath, environment: process.env, recover: false })
    const path = `/api/sessions/${session.id}/events`
    const clients = Array.from({ length: 4 }, () => listen(path, 0))
    let seed = 7
    const chance = () => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed / 2_147_483_647
    }
    const draft = (content: string) => ({ type: "message:added", data: { message: { role: "user", content } } })
    for (let round = 0; round < 60; round++) {
      const store = round % 2 === 0 ? fixture.runtime.store : other.store
      const size = 1 + Math.floor(chance() * 12)
      await store.log.append(
        session.id,
        Array.from({ length: size }, (_, i) => draft(`${round}.${i}`)),
      )
      for (const client of clients) if (chance() < 0.15) client.breakOff()
    }
    const { seq } = await fixture.runtime.store.log.head(session.id)
    for (const client of clients) await until(() => expect(client.seqs).toEqual(range(1, seq)))
    await other.close()
  })

  it("tell when someone takes the session and lets go, and when it is deleted", async () => {
    const session = await fixture.createSession()
    const client = listen(`/api/sessions/${session.id}/events`)
    const holder = () => client.frames.filter(({ event }) => event === "session").at(-1)?.data.guard.session
    await until(() => expect(holder()).toBeNull())
    const lease = await fixture.runtime.store.leases.take(`session:${session.id}`, { purpose: "run" })
    await until(() => expect(holder()).toMatchObject({ purpose: "run", pid: process.pid }))
    await lease.release()
    await until(() => expect(holder()).toBeNull())
    await fixture.runtime.store.sessions.delete(session.id)
    await until(() => expect(client.frames.at(-1)?.event).toBe("gone"))
  })

  it("carry a huge entry in short, and the rest whole", async () => {
    const session = await fixture.createSession()
    await fixture.say(session, "x".repeat(600_000), "small")
    const client = listen(`/api/sessions/${session.id}/events`, 1)
    await until(() => expect(client.seqs).toEqual([2, 3]))
    expect(client.frames.find(({ id }) => id === 2)?.data.data).toMatchObject({ tooLarge: true })
  })
})

describe("changes over all sessions", () => {
  it("tell of new, changed, held and deleted ones, by whatever process", async () => {
    const { stateDirectory, workspacePath } = fixture
    const old = await fixture.createSession("old")
    const client = listen("/api/events")
    await until(() => expect(client.frames[0]?.event).toBe("ready"))
    const other = await openRuntime({ stateDirectory, workspacePath, environment: process.env, recover: false })
    const made = await other.store.sessions.create({ workspacePath, name: "made elsewhere" })
    const told = (id: string) => client.frames.filter(({ data }) => data.id === id)
    await until(() => expect(told(made.id)[0]?.data.name).toBe("made elsewhere"))
    await other.store.sessions.rename(old.id, "renamed")
    await until(() => expect(told(old.id).at(-1)?.data.name).toBe("renamed"))
    const lease = await other.store.leases.take(`session:${made.id}`, { purpose: "run" })
    await other.store.log.append(made.id, [{ type: "run:started", data: { runId: "r" } }], { lease })
    await until(() => expect(told(made.id).at(-1)?.data.holder).toMatchObject({ purpose: "run" }))
    await lease.release()
    await until(() => expect(told(made.id).at(-1)?.data.holder).toBeNull())
    await other.store.sessions.delete(old.id)
    await until(() => expect(told(old.id).at(-1)?.event).toBe("deleted"))
    await other.close()
  })
})

describe("stopping", () => {
  it("ends the streams and lets nobody in after, while clients are there", async () => {
    const session = await fixture.createSession()
    const clients = [listen(`/api/sessions/${session.id}/events`), listen("/api/events")]
    for (const client of clients) await until(() => expect(client.frames).not.toHaveLength(0))
    await fixture.server.close()
    await expect(fixture.ask("/api/health")).rejects.toThrow("ECONNREFUSED")
  })
})
