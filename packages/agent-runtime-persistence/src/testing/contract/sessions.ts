import type { SessionId } from "@ku0/agent-runtime-core"
import { describe, expect, it } from "vitest"
import type { StoreFixture } from "../store-contract.js"
import { createClock, createSession, expectCode, user } from "./samples.js"

const nobody = "00000000-0000-7000-8000-000000000000" as SessionId

export function describeSessions(fixture: StoreFixture): void {
  describe("sessions", () => {
    it("keeps what a session was created with", async () => {
      const store = await fixture.open({ clock: createClock(1000) })
      const created = await store.sessions.create({
        workspacePath: "/work space/ü",
        name: "Größe 🧭",
        agentType: "codex",
        taskDescription: "fix\nit",
        metadata: { a: [1, { b: null }] },
      })
      expect(created).toEqual({
        id: created.id,
        name: "Größe 🧭",
        status: "active",
        phase: "idle",
        agentType: "codex",
        taskDescription: "fix\nit",
        workspacePath: "/work space/ü",
        createdAt: 1000,
        updatedAt: 1000,
        headSeq: 1,
        messageCount: 0,
        checkpointCount: 0,
        parentSessionId: null,
        forkedFromCheckpointId: null,
        metadata: { a: [1, { b: null }] },
      })
      expect(await store.sessions.get(created.id)).toEqual(created)
      expect(await store.log.read(created.id)).toMatchObject([{ seq: 1, type: "session:started" }])
    })

    it("says that a session is not there", async () => {
      const store = await fixture.open()
      expect(await store.sessions.find(nobody)).toBeUndefined()
      await expectCode(store.sessions.get(nobody), "NOT_FOUND")
      await expectCode(store.sessions.rename(nobody, "x"), "NOT_FOUND")
      await expectCode(store.sessions.delete(nobody), "NOT_FOUND")
      await expectCode(store.log.append(nobody, [user("hi")]), "NOT_FOUND")
      await expectCode(store.log.head(nobody), "NOT_FOUND")
      await expectCode(store.sessions.list({ before: nobody }), "NOT_FOUND")
      await expectCode(store.sessions.addLog(nobody, "info", "x"), "NOT_FOUND")
    })

    it("lists newest first, in pages, even when the clock goes back", async () => {
      const clock = createClock(10_000_000)
      const store = await fixture.open({ clock })
      const made: string[] = []
      for (let i = 0; i < 7; i++) {
        made.unshift((await createSession(store, `session ${i}`)).id)
        clock.add(i === 3 ? -3_600_000 : 1)
      }
      const first = await store.sessions.list({ limit: 4 })
      const rest = await store.sessions.list({ limit: 4, before: first.at(-1)?.id as SessionId })
      expect([...first, ...rest].map(({ id }) => id)).toEqual(made)
    })

    it("filters by status and workspace", async () => {
      const store = await fixture.open()
      const here = await store.sessions.create({ workspacePath: "/here" })
      const there = await store.sessions.create({ workspacePath: "/there" })
      await store.log.append(there.id, [{ type: "session:paused", data: {} }])
      expect((await store.sessions.list({ workspacePath: "/here" })).map(({ id }) => id)).toEqual([here.id])
      expect((await store.sessions.list({ status: "paused" })).map(({ id }) => id)).toEqual([there.id])
      expect(await store.sessions.list({ status: ["active", "paused"] })).toHaveLength(2)
      expect(await store.sessions.list({ status: [] })).toEqual([])
      await expectCode(store.sessions.list({ status: "gone" as never }), "INVALID_INPUT")
    })

    it("finds a session by a unique part of its id", async () => {
      const store = await fixture.open()
      const one = await createSession(store)
      await createSession(store)
      expect((await store.sessions.resolve(one.id.slice(-8))).id).toBe(one.id)
      expect((await store.sessions.resolve(one.id.toUpperCase())).id).toBe(one.id)
      await expectCode(store.sessions.resolve(one.id.slice(0, 6)), "INVALID_INPUT", /More than one/)
      await expectCode(store.sessions.resolve("abc"), "INVALID_INPUT")
      await expectCode(store.sessions.resolve("%%%%"), "INVALID_INPUT")
      await expectCode(store.sessions.resolve("ffffffff"), "NOT_FOUND")
    })

    it("renames and merges metadata", async () => {
      const store = await fixture.open()
      const { id } = await store.sessions.create({ workspacePath: "/w", metadata: { a: 1, b: 2 } })
      expect((await store.sessions.rename(id, "new\0name")).name).toBe("new\uFFFDname")
      expect((await store.sessions.updateMetadata(id, { b: undefined, c: 3 })).metadata).toEqual({ a: 1, c: 3 })
      const circle: Record<string, unknown> = {}
      circle["self"] = circle
      await expectCode(store.sessions.updateMetadata(id, circle), "INVALID_INPUT")
    })

    it("bounds names: a new session's is cut, a new name that is too long is refused", async () => {
      const store = await fixture.open()
      const name = `${"n".repeat(499)}😀 and on`
      const made = await store.sessions.create({ workspacePath: "/w", name })
      expect(made.name).toBe("n".repeat(499))
      await expectCode(store.sessions.rename(made.id, name), "INVALID_INPUT", /too long/)
      expect((await store.sessions.rename(made.id, "m".repeat(500))).name).toBe("m".repeat(500))
    })

    it("changes status through entries only, and refuses what may not happen now", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      const status = async (type: string, data: object = {}) => {
        await store.log.append(id, [{ type, data }])
        const { status, phase } = await store.sessions.get(id)
        return [status, phase]
      }
      expect(await status("run:started", { runId: "r" })).toEqual(["active", "running"])
      await expectCode(store.log.append(id, [{ type: "run:started", data: { runId: "s" } }]), "CONFLICT", /running/)
      expect(await status("session:paused")).toEqual(["paused", "paused"])
      expect(await status("session:resumed")).toEqual(["active", "idle"])
      expect(await status("session:ended", { outcome: "failed" })).toEqual(["failed", "failed"])
      await expectCode(store.log.append(id, [{ type: "session:ended", data: {} }]), "CONFLICT")
      expect(await status("session:resumed")).toEqual(["active", "idle"])
      const [, , refused] = [user("a"), user("b"), { type: "session:recovered", data: { inDoubt: [] } }]
      const before = await store.log.head(id)
      await expectCode(store.log.append(id, [user("a"), refused as never]), "CONFLICT")
      expect(await store.log.head(id)).toEqual(before)
    })

    it("keeps log lines for people, newest first, in pages", async () => {
      const clock = createClock(5)
      const store = await fixture.open({ clock })
      const { id } = await createSession(store)
      for (let i = 0; i < 5; i++) await store.sessions.addLog(id, "warn", `line ${i}\0`)
      const [newest, next] = await store.sessions.listLogs(id, { limit: 2 })
      expect(newest).toEqual({ id: newest?.id, sessionId: id, level: "warn", message: "line 4\uFFFD", createdAt: 5 })
      const older = await store.sessions.listLogs(id, { before: next?.id as number })
      expect(older.map(({ message }) => message)).toEqual(["line 2\uFFFD", "line 1\uFFFD", "line 0\uFFFD"])
    })

    it("lists all sessions when the row of one can't be read, and says so of that one", async () => {
      const store = await fixture.open()
      const [first, bad, last] = [
        await createSession(store, "a"),
        await createSession(store, "b"),
        await createSession(store, "c"),
      ]
      await store.context.driver.run("UPDATE sessions SET metadata = '{' WHERE id = ?", [bad.id])
      const listed = await store.sessions.list()
      expect(listed.map(({ id, name }) => ({ id, name }))).toEqual([
        { id: last.id, name: "c" },
        { id: bad.id, name: "b (damaged)" },
        { id: first.id, name: "a" },
      ])
      expect(listed[1]?.metadata).toEqual({ "keepup:damaged": expect.stringMatching(/is not JSON.*keepup doctor/) })
      await expectCode(store.sessions.get(bad.id), "CORRUPT")
    })

    it.each(["created_at", "updated_at", "message_count"])(
      "lists all sessions when one has a number that is beyond all counting: %s",
      async (column) => {
        const store = await fixture.open()
        const [first, bad] = [await createSession(store, "a"), await createSession(store, "b")]
        await store.context.driver.run(`UPDATE sessions SET ${column} = 9223372036854775000 WHERE id = ?`, [bad.id])
        const listed = await store.sessions.list()
        expect(listed.map(({ id, name }) => ({ id, name }))).toEqual([
          { id: bad.id, name: "b (damaged)" },
          { id: first.id, name: "a" },
        ])
        expect(listed[0]?.metadata).toEqual({ "keepup:damaged": expect.stringContaining(`The ${column} of session`) })
        await expectCode(store.sessions.get(bad.id), "CORRUPT")
        expect(await store.sessions.get(first.id)).toEqual(listed[1])
      },
    )

    it("deletes a session, and its entries once no branch shares them", async () => {
      const store = await fixture.open()
      const root = await createSession(store, "root")
      const [entry] = await store.log.append(root.id, [user("shared")])
      const parent = { sessionId: root.id, seq: entry?.seq as number }
      const branch = await store.sessions.create({ workspacePath: "/w", parent })
      await store.sessions.delete(root.id)
      await expectCode(store.sessions.get(root.id), "NOT_FOUND")
      expect((await store.sessions.list()).map(({ id }) => id)).toEqual([branch.id])
      expect(await store.log.lastMessages(await store.log.head(branch.id), 5)).toHaveLength(1)
      await store.sessions.delete(branch.id)
      const { driver } = store.context
      expect(await driver.all("SELECT * FROM entries")).toEqual([])
      expect(await driver.all("SELECT * FROM sessions")).toEqual([])
    })

    it("deletes a session that continued from several others, and those that continue from each other", async () => {
      const store = await fixture.open()
      const [root, other] = [await createSession(store, "root"), await createSession(store, "other")]
      const branch = await store.sessions.create({ workspacePath: "/w", parent: { sessionId: root.id, seq: 1 } })
      await store.log.append(branch.id, [{ ...user("a"), parent: { sessionId: other.id, seq: 1 } }])
      await store.log.append(root.id, [{ ...user("b"), parent: { sessionId: branch.id, seq: 2 } }])
      for (const { id } of [other, root]) await store.sessions.delete(id)
      expect((await store.log.fold(await store.log.head(branch.id))).entryCount).toBe(2)
      await store.sessions.delete(branch.id)
      expect(await store.context.driver.all("SELECT id FROM sessions")).toEqual([])
      expect(await store.context.driver.all("SELECT seq FROM entries")).toEqual([])
    })

    it("gives lists that have an end, whatever limit is asked for", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      await store.sessions.addLog(id, "info", "a line")
      await store.checkpoints.create({ sessionId: id, trigger: "manual" })
      for (const [limit, count] of [
        [-1, 0],
        [0, 0],
        [1.5, 1],
        [Number.NaN, 1],
        [Number.POSITIVE_INFINITY, 1],
      ] as const) {
        expect(await store.sessions.list({ limit }), `sessions, ${limit}`).toHaveLength(count)
        expect(await store.sessions.listLogs(id, { limit }), `logs, ${limit}`).toHaveLength(count)
        expect(await store.checkpoints.list(id, { limit }), `checkpoints, ${limit}`).toHaveLength(count)
        expect(await store.artifacts.list({ limit }), `artifacts, ${limit}`).toEqual([])
        expect(await store.log.read(id, { limit, before: 2 }), `entries, ${limit}`).toHaveLength(count)
      }
      await store.log.append(id, [user("a message")])
      for (const count of [-1, 0, Number.NaN]) {
        expect(await store.log.lastMessages(await store.log.head(id), count), `messages, ${count}`).toEqual([])
      }
    })
  })
}
