import type { Artifact, ArtifactId, SessionId } from "@ku0/agent-runtime-core"
import { describe, expect, it } from "vitest"
import type { StoreFixture } from "../store-contract.js"
import { createClock, createSession, expectCode } from "./samples.js"

function sample(id: string, change: Partial<Artifact> = {}): Omit<Artifact, "hash" | "sizeBytes"> {
  return {
    id: id as ArtifactId,
    sessionId: null,
    type: "ReportCard",
    schemaVersion: "1.0.0",
    title: "A report",
    taskNodeId: null,
    mediaType: "application/json",
    createdAt: 3,
    quarantine: null,
    renderHints: null,
    idempotencyKey: null,
    ...change,
  }
}

export function describeArtifacts(fixture: StoreFixture): void {
  describe("artifacts", () => {
    it("keeps content and facts, and gives both back", async () => {
      const store = await fixture.open({ clock: createClock() })
      const { id: sessionId } = await createSession(store)
      const bytes = Buffer.from([0, 255, 1, 254])
      const facts = sample("a/../1", { sessionId, renderHints: { wide: true }, quarantine: ["bad"], taskNodeId: "t" })
      const kept = await store.artifacts.put(facts, bytes)
      expect(kept).toEqual({ ...facts, hash: kept.hash, sizeBytes: 4 })
      expect(await store.artifacts.get("a/../1")).toEqual(kept)
      expect(Buffer.from(await store.artifacts.read("a/../1"))).toEqual(bytes)
      await expectCode(store.artifacts.get("gone"), "NOT_FOUND")
      await expectCode(store.artifacts.read("gone"), "NOT_FOUND")
    })

    it("keeps the same artifact once and refuses another under its id", async () => {
      const store = await fixture.open()
      const kept = await store.artifacts.put(sample("a"), Buffer.from("one"))
      expect(await store.artifacts.put(sample("a"), Buffer.from("one"))).toEqual(kept)
      await expectCode(store.artifacts.put(sample("a"), Buffer.from("two")), "CONFLICT")
      await expectCode(store.artifacts.put(sample("a", { type: "PlanCard" }), Buffer.from("one")), "CONFLICT")
    })

    it("takes an idempotency key as the same artifact, within a session", async () => {
      const store = await fixture.open()
      const { id: sessionId } = await createSession(store)
      const first = await store.artifacts.put(sample("a", { sessionId, idempotencyKey: "k" }), Buffer.from("one"))
      const again = await store.artifacts.put(sample("b", { sessionId, idempotencyKey: "k" }), Buffer.from("two"))
      expect(again).toEqual(first)
      const elsewhere = await store.artifacts.put(sample("c", { idempotencyKey: "k" }), Buffer.from("three"))
      expect(elsewhere.id).toBe("c")
    })

    it("lists newest first, by session, by quarantine, in pages", async () => {
      const store = await fixture.open()
      const { id: sessionId } = await createSession(store)
      await store.artifacts.put(sample("1"), Buffer.from("1"))
      await store.artifacts.put(sample("2", { sessionId }), Buffer.from("2"))
      await store.artifacts.put(sample("3", { quarantine: ["why"] }), Buffer.from("3"))
      const ids = async (options?: Parameters<typeof store.artifacts.list>[0]) =>
        (await store.artifacts.list(options)).map(({ id }) => id)
      expect(await ids()).toEqual(["3", "2", "1"])
      expect(await ids({ sessionId })).toEqual(["2"])
      expect(await ids({ quarantined: true })).toEqual(["3"])
      expect(await ids({ quarantined: false, limit: 1 })).toEqual(["2"])
      expect(await ids({ before: "3" })).toEqual(["2", "1"])
      expect(await ids({ sessionId: "nobody" as SessionId })).toEqual([])
    })

    it("says when content is not on this machine", async () => {
      const store = await fixture.open()
      await store.artifacts.put(sample("a"), Buffer.from("one"))
      await store.context.driver.run("DELETE FROM blobs")
      await expectCode(store.artifacts.read("a"), "UNAVAILABLE")
    })

    it("refuses an artifact of a session that is not there", async () => {
      const store = await fixture.open()
      const { id } = await createSession(store)
      await store.sessions.delete(id)
      await expectCode(store.artifacts.put(sample("a", { sessionId: id }), Buffer.from("one")), "NOT_FOUND")
      expect(await store.artifacts.list()).toEqual([])
    })
  })
}
