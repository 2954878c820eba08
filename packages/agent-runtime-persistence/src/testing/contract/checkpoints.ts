import type { CheckpointId, GitFacts, SessionId } from "@ku0/agent-runtime-core"
import { describe, expect, it } from "vitest"
import { createCheckpointManager } from "../../checkpoint/checkpoint-manager.js"
import type { StoreFixture } from "../store-contract.js"
import { createClock, createSession, expectCode, user } from "./samples.js"

const git: GitFacts = { branch: "main", head: "abc", uncommitted: 2, untracked: 0, operation: "rebase" }

export function describeCheckpoints(fixture: StoreFixture): void {
  describe("checkpoint records", () => {
    it("keeps entries, state, row and entry of a step as one", async () => {
      const store = await fixture.open({ clock: createClock(9), host: "somewhere" })
      const { id: sessionId } = await createSession(store)
      const snapshot = {
        commit: "c0ffee",
        filesChanged: 1,
        insertions: 2,
        deletions: 3,
        skipped: [{ path: "big", reason: "too-large" as const }],
      }
      const taken = await store.checkpoints.create({
        sessionId,
        trigger: "turn.ended",
        name: "green",
        note: "tests pass",
        snapshot,
        git,
        metadata: { shadowCheckpoint: { commit: "c0ffee" } },
        sizeBytes: 42,
        entries: [user("hello")],
        state: { progress: 1 },
      })
      expect(taken).toEqual({
        id: taken.id,
        number: 1,
        name: "green",
        note: "tests pass",
        trigger: "turn.ended",
        sessionId,
        entrySeq: 4,
        messageIndex: 1,
        createdAt: 9,
        pinned: false,
        sizeBytes: 43, // the snapshot's 42 and the one byte of the state value `1`
        host: "somewhere",
        snapshot,
        git,
        metadata: { shadowCheckpoint: { commit: "c0ffee" } },
      })
      expect(await store.checkpoints.get(taken.id)).toEqual(taken)
      const types = (await store.log.read(sessionId)).map(({ type }) => type)
      expect(types).toEqual(["session:started", "message:added", "state:changed", "checkpoint:created"])
      expect({ ...(await store.state.get({ sessionId, seq: taken.entrySeq })) }).toEqual({ progress: 1 })
      expect(await store.sessions.get(sessionId)).toMatchObject({ checkpointCount: 1, headSeq: 4, messageCount: 1 })
    })

    it("numbers from one and never uses a number again", async () => {
      const store = await fixture.open()
      const { id: sessionId } = await createSession(store)
      const take = async () => await store.checkpoints.create({ sessionId, trigger: "manual" })
      await take()
      const second = await take()
      expect(await store.checkpoints.delete([second.id, "gone" as CheckpointId])).toBe(1)
      expect((await take()).number).toBe(3)
      expect((await store.sessions.get(sessionId)).checkpointCount).toBe(2)
      expect((await store.log.read(sessionId)).filter(({ type }) => type === "checkpoint:created")).toHaveLength(3)
    })

    it("says in the log what was deleted, and deletes nothing of a session that someone else holds", async () => {
      const store = await fixture.open()
      const { id: sessionId } = await createSession(store)
      const take = async () => await store.checkpoints.create({ sessionId, trigger: "manual", state: { x: 1 } })
      const [one, two] = [await take(), await take()]
      expect(await store.checkpoints.delete([one.id, one.id])).toBe(1)
      const last = async () => (await store.log.read(sessionId)).at(-1)
      expect((await last())?.type).toBe("checkpoint:pruned")
      expect((await last())?.data, "and claims no bytes: only gc frees any").toEqual({ checkpointIds: [one.id] })
      expect(await store.checkpoints.delete([one.id])).toBe(0)
      const lease = await store.leases.take(`session:${sessionId}`, { purpose: "run" })
      await expectCode(store.checkpoints.delete([two.id]), "SESSION_RUNNING")
      expect(await store.checkpoints.find(two.id)).toBeDefined()
      expect(await store.checkpoints.delete([two.id], { lease })).toBe(1)
      await lease.release()
      expect(await last()).toMatchObject({ type: "checkpoint:pruned", data: { checkpointIds: [two.id] } })
      expect((await store.sessions.get(sessionId)).checkpointCount).toBe(0)
    })

    it("keeps names unique in a session and free in others", async () => {
      const store = await fixture.open()
      const one = await createSession(store)
      const two = await createSession(store)
      await store.checkpoints.create({ sessionId: one.id, trigger: "manual", name: "same" })
      await store.checkpoints.create({ sessionId: two.id, trigger: "manual", name: "same" })
      await expectCode(
        store.checkpoints.create({ sessionId: one.id, trigger: "manual", name: " same ", entries: [user("x")] }),
        "CONFLICT",
        /#1/,
      )
      expect((await store.sessions.get(one.id)).messageCount).toBe(0)
      const odd = ["a\nb", "a\0b", "a\u009bb", "a\u2028b", "a\ud800"]
      for (const name of ["", "  ", "latest", " latest ", "#1", "3", "x".repeat(201), "x".repeat(10_000), ...odd]) {
        const words = /^Not a name for a checkpoint: .{2,120}$/su
        await expectCode(
          store.checkpoints.create({ sessionId: one.id, trigger: "manual", name }),
          "INVALID_INPUT",
          words,
        )
      }
      for (const name of ["../../x", "__proto__", "-rf", "a'b;--", "Ü 😀", "1e3", "LATEST"]) {
        const { number } = await store.checkpoints.create({ sessionId: one.id, trigger: "manual", name })
        expect((await store.checkpoints.resolve(one.id, name)).number).toBe(number)
      }
      await expectCode(store.checkpoints.create({ sessionId: one.id, trigger: "whim" as never }), "INVALID_INPUT")
      await expectCode(store.checkpoints.create({ sessionId: "nobody" as SessionId, trigger: "manual" }), "NOT_FOUND")
    })

    it("is found by number, name, latest, id and a part of the id", async () => {
      const store = await fixture.open()
      const { id: sessionId } = await createSession(store)
      const first = await store.checkpoints.create({ sessionId, trigger: "manual", name: "start" })
      const second = await store.checkpoints.create({ sessionId, trigger: "manual" })
      const found = async (reference: string) => (await store.checkpoints.resolve(sessionId, reference)).number
      expect(await found("#1")).toBe(1)
      expect(await found("start")).toBe(1)
      expect(await found(" latest ")).toBe(2)
      expect(await found(first.id)).toBe(1)
      expect(await found(second.id.slice(-8))).toBe(2)
      for (const reference of ["#3", "#0", "nope", "", "#", "%", "#99999999999999999999"]) {
        await expectCode(store.checkpoints.resolve(sessionId, reference), "NOT_FOUND")
      }
      await expectCode(store.checkpoints.resolve(sessionId, first.id.slice(0, 8)), "INVALID_INPUT", /More than one/)
      await expectCode(store.checkpoints.get("gone" as CheckpointId), "NOT_FOUND")
    })

    it("is not found in another session, whatever it is called", async () => {
      const store = await fixture.open()
      const [mine, other] = [await createSession(store, "mine"), await createSession(store, "other")]
      const theirs = await store.checkpoints.create({ sessionId: other.id, trigger: "manual", name: "start" })
      for (const reference of [theirs.id, theirs.id.slice(-8), "start", "#1", "latest"])
        await expectCode(store.checkpoints.resolve(mine.id, reference), "NOT_FOUND")
    })

    it("is listed with the others when its row can't be read, says so, and is never taken away", async () => {
      const store = await fixture.open()
      const { id: sessionId } = await createSession(store)
      for (let i = 0; i < 3; i++) await store.checkpoints.create({ sessionId, trigger: "interval" })
      const [, bad] = await store.checkpoints.list(sessionId)
      for (const column of ["metadata", "snapshot"]) {
        await store.context.driver.run(`UPDATE session_checkpoints SET ${column} = 'no' WHERE id = ?`, [
          bad?.id as string,
        ])
        const listed = await store.checkpoints.list(sessionId)
        expect(listed.map(({ number, pinned }) => [number, pinned])).toEqual([
          [3, false],
          [2, true],
          [1, false],
        ])
        expect(listed[1]?.metadata).toEqual({ "keepup:damaged": expect.stringMatching(/is not JSON/) })
        await expectCode(store.checkpoints.resolve(sessionId, "#2"), "CORRUPT")
      }
      for (let i = 0; i < 3; i++) await store.checkpoints.create({ sessionId, trigger: "interval" })
      const { removed } = await createCheckpointManager({ store }).prune(sessionId, { keep: 1 })
      expect(removed.map(({ number }) => number)).toEqual([3, 4])
    })

    it("is listed with the others when it was made at a time beyond all counting, and says so", async () => {
      const store = await fixture.open()
      const { id: sessionId } = await createSession(store)
      for (let i = 0; i < 3; i++) await store.checkpoints.create({ sessionId, trigger: "interval" })
      const [newest, bad] = await store.checkpoints.list(sessionId)
      await store.context.driver.run("UPDATE session_checkpoints SET created_at = 9223372036854775000 WHERE id = ?", [
        bad?.id as string,
      ])
      const listed = await store.checkpoints.list(sessionId)
      expect(listed.map(({ number, pinned }) => [number, pinned])).toEqual([
        [3, false],
        [2, true],
        [1, false],
      ])
      expect(listed[0]).toEqual(newest)
      expect(listed[1]?.metadata).toEqual({ "keepup:damaged": expect.stringContaining("The created_at of checkpoint") })
      await expectCode(store.checkpoints.resolve(sessionId, "#2"), "CORRUPT")
    })

    it("lists newest first in pages, by number even when the clock goes back", async () => {
      const clock = createClock(10_000_000)
      const store = await fixture.open({ clock })
      const { id: sessionId } = await createSession(store)
      for (let i = 0; i < 5; i++) {
        await store.checkpoints.create({ sessionId, trigger: "interval" })
        clock.add(-3_600_000)
      }
      const numbers = async (options?: { limit?: number; before?: number }) =>
        (await store.checkpoints.list(sessionId, options)).map(({ number }) => number)
      expect(await numbers()).toEqual([5, 4, 3, 2, 1])
      expect(await numbers({ limit: 2, before: 4 })).toEqual([3, 2])
    })

    it("pins and unpins", async () => {
      const store = await fixture.open()
      const { id: sessionId } = await createSession(store)
      const { id } = await store.checkpoints.create({ sessionId, trigger: "manual" })
      expect((await store.checkpoints.setPinned(id, true)).pinned).toBe(true)
      expect((await store.checkpoints.setPinned(id, false)).pinned).toBe(false)
      await expectCode(store.checkpoints.setPinned("gone" as CheckpointId, true), "NOT_FOUND")
    })

    it("hands state over on top of what a jump in the same step leads to", async () => {
      const store = await fixture.open()
      const { id: sessionId } = await createSession(store)
      const early = await store.checkpoints.create({ sessionId, trigger: "manual", state: { a: 1, b: 1 } })
      await store.checkpoints.create({ sessionId, trigger: "manual", state: { a: 2 } })
      const parent = { sessionId, seq: early.entrySeq }
      const back = await store.checkpoints.create({
        sessionId,
        trigger: "manual",
        entries: [{ type: "history:rewind", data: {}, parent }],
        state: { a: 1, c: 3 },
      })
      expect({ ...(await store.state.get({ sessionId, seq: back.entrySeq })) }).toEqual({ a: 1, b: 1, c: 3 })
    })

    it("hands out what is nobody else's: a caller that changes it changes nothing kept", async () => {
      const store = await fixture.open()
      const { id: sessionId } = await createSession(store)
      const metadata = { tags: ["a"] }
      const state = { plan: ["a"] }
      const taken = await store.checkpoints.create({ sessionId, trigger: "manual", metadata, state })
      const before = JSON.stringify(await store.checkpoints.get(taken.id))
      metadata.tags.push("b")
      state.plan.push("b")
      const [listed] = await store.checkpoints.list(sessionId)
      for (const one of [taken, await store.checkpoints.get(taken.id), listed as typeof taken]) {
        ;(one.metadata["tags"] as string[]).push("c")
      }
      expect(JSON.stringify(await store.checkpoints.get(taken.id))).toBe(before)
      const at = { sessionId, seq: taken.entrySeq }
      ;((await store.state.get(at))["plan"] as string[]).push("c")
      expect({ ...(await store.state.get(at)) }).toEqual({ plan: ["a"] })
    })

    it("refuses facts that can't be kept, and takes odd ones", async () => {
      const store = await fixture.open()
      const { id: sessionId } = await createSession(store)
      await expectCode(
        store.checkpoints.create({ sessionId, trigger: "manual", metadata: { n: 1n } }),
        "INVALID_INPUT",
        /metadata/,
      )
      await expectCode(store.checkpoints.create({ sessionId, trigger: "because" as never }), "INVALID_INPUT")
      expect((await store.log.head(sessionId)).seq).toBe(1)
      const git = { branch: "a\0\ud800", head: null, uncommitted: 0, untracked: 0, operation: null }
      const { id } = await store.checkpoints.create({ sessionId, trigger: "manual", git })
      expect((await store.checkpoints.get(id)).git?.branch).toBe("a\uFFFD\uFFFD")
    })
  })
}
