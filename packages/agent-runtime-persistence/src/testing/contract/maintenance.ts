import type { ArtifactId } from "@ku0/agent-runtime-core"
import { describe, expect, it } from "vitest"
import { cleanupSessions } from "../../session/cleanup-sessions.js"
import { collectGarbage } from "../../store/collect-garbage.js"
import type { StoreFixture } from "../store-contract.js"
import { createClock, createSession, user } from "./samples.js"

const day = 86_400_000

export function describeMaintenance(fixture: StoreFixture): void {
  describe("maintenance", () => {
    it("marks sessions whose holder died as interrupted, and leaves the others alone", async () => {
      const store = await fixture.open()
      const idle = await createSession(store, "idle")
      const live = await createSession(store, "live")
      const dead = await createSession(store, "dead")
      const killed = await createSession(store, "killed while idle")
      const lease = await store.leases.take(`session:${live.id}`, { purpose: "run" })
      await store.log.append(live.id, [{ type: "run:started", data: { runId: "r" } }], { lease })
      await store.log.append(dead.id, [{ type: "run:started", data: { runId: "r" } }])
      await store.leases.take(`session:${killed.id}`, { purpose: "chat" })
      await store.context.driver.run("UPDATE leases SET pid = 4194305 WHERE resource = ?", [`session:${killed.id}`])

      const planned = await cleanupSessions(store, { dryRun: true })
      expect(planned.interrupted.map(({ name }) => name)).toEqual(["killed while idle", "dead"])
      expect((await store.sessions.get(dead.id)).status).toBe("active")

      const done = await cleanupSessions(store)
      expect(done.interrupted.map(({ id }) => id)).toEqual([killed.id, dead.id])
      expect(done.left).toEqual([])
      expect((await store.sessions.get(dead.id)).status).toBe("interrupted")
      expect((await store.sessions.get(killed.id)).status).toBe("interrupted")
      expect((await store.sessions.get(live.id)).status).toBe("active")
      expect((await store.sessions.get(idle.id)).status).toBe("active")
      expect((await cleanupSessions(store)).interrupted).toEqual([])
    })

    it("takes ended sessions away after their time", async () => {
      const clock = createClock()
      const store = await fixture.open({ clock })
      const old = await createSession(store, "old")
      const paused = await createSession(store, "old but paused")
      await store.log.append(old.id, [{ type: "session:ended", data: { outcome: "completed" } }])
      await store.log.append(paused.id, [{ type: "session:paused", data: {} }])
      clock.add(31 * day)
      const fresh = await createSession(store, "fresh")
      await store.log.append(fresh.id, [{ type: "session:ended", data: { outcome: "stopped" } }])
      const { removed } = await cleanupSessions(store, { olderThanMs: 30 * day })
      expect(removed.map(({ name }) => name)).toEqual(["old"])
      expect((await store.sessions.list()).map(({ name }) => name)).toEqual(["fresh", "old but paused"])
    })

    it("leaves a branch all it has when the session it came from is deleted and what nothing reaches is freed", async () => {
      const clock = createClock()
      const store = await fixture.open({ clock })
      const root = await createSession(store, "root")
      const long = "x".repeat(1_100_000)
      await store.log.append(root.id, [user(`early ${long}`)])
      await store.state.put(root.id, { plan: `large ${long}`, small: 1 })
      const checkpoint = await store.checkpoints.create({ sessionId: root.id, trigger: "manual" })
      const parent = { sessionId: root.id, seq: checkpoint.entrySeq }
      const branch = await store.sessions.create({ workspacePath: "/w", parent, forkedFromCheckpointId: checkpoint.id })
      await store.state.put(root.id, { plan: "only the root's" })
      await store.state.put(branch.id, { own: `${long} of the branch` })
      await store.checkpoints.create({ sessionId: branch.id, trigger: "manual" })
      const look = async () => {
        const head = await store.log.head(branch.id)
        return { state: { ...(await store.state.get(head)) }, messages: await store.log.lastMessages(head, 10) }
      }
      const before = await look()
      expect(before.state).toEqual({ plan: `large ${long}`, small: 1, own: `${long} of the branch` })
      await store.sessions.delete(root.id)
      clock.add(2 * 3_600_000)
      await collectGarbage(store.context)
      expect(await look()).toEqual(before)
      expect(await store.checkpoints.list(branch.id)).toHaveLength(1)
    })

    it("frees only what nothing reaches, and nothing young", async () => {
      const clock = createClock()
      const store = await fixture.open({ clock })
      const kept = await createSession(store, "kept")
      const gone = await createSession(store, "gone")
      const long = "x".repeat(1_100_000)
      for (const { id, name } of [kept, gone]) {
        await store.log.append(id, [user(name + long)])
        await store.state.put(id, { shared: "both", own: name })
      }
      const facts = { id: "a" as ArtifactId, type: "t", schemaVersion: "1", title: "", mediaType: "text/plain" }
      const rest = {
        sessionId: null,
        taskNodeId: null,
        createdAt: 0,
        quarantine: null,
        renderHints: null,
        idempotencyKey: null,
      }
      await store.artifacts.put({ ...facts, ...rest }, Buffer.from("artifact"))
      await store.sessions.delete(gone.id)
      expect(await collectGarbage(store.context)).toEqual({ values: 0, bytes: 0 })
      clock.add(2 * 3_600_000)
      const would = await collectGarbage(store.context, { dryRun: true })
      expect(would.values).toBe(2)
      expect(await collectGarbage(store.context)).toEqual(would)
      expect(await collectGarbage(store.context)).toEqual({ values: 0, bytes: 0 })
      expect({ ...(await store.state.get(await store.log.head(kept.id))) }).toEqual({ shared: "both", own: "kept" })
      expect(await store.log.lastMessages(await store.log.head(kept.id), 1)).toHaveLength(1)
      expect(Buffer.from(await store.artifacts.read("a")).toString()).toBe("artifact")
    })
  })
}
