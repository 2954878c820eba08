import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ArtifactEnvelope, SessionId } from "@ku0/agent-runtime-core"
import { z } from "@ku0/agent-runtime-core/schemas"
import fc from "fast-check"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openStore, type Store } from "../store/open-store.js"
import { createArtifactContent } from "./artifact-content.js"
import { type ArtifactRegistry, createArtifactRegistry } from "./artifact-registry.js"

const plan = { steps: [{ id: "1", title: "build" }] }
const places = ["in the database", "in files"] as const

describe.each(places)("a registry with its content %s", (place) => {
  let folder: string
  let store: Store
  let registry: ArtifactRegistry
  let sessionId: SessionId

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "keepup-registry-"))
    await open()
    sessionId = (await store.sessions.create({ workspacePath: "/workspace" })).id
  })
  afterEach(async () => {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function open(): Promise<void> {
    const artifactContent = createArtifactContent({ folder: join(folder, "artifacts"), clock: { now: Date.now } })
    store = await openStore(`sqlite:${join(folder, "keepup.db")}`, place === "in files" ? { artifactContent } : {})
    registry = createArtifactRegistry({ store: store.artifacts })
  }

  it("keeps an artifact that fits, with every fact of its envelope, also for whoever opens the store later", async () => {
    const given = envelope({ payload: plan, renderHints: { collapsed: true } })
    const { artifact, valid, errors } = await registry.store(given, { sessionId })
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined })
    await store.close()
    await open()
    expect(await registry.get("plan-1")).toEqual({ ...artifact, payload: plan })
    expect(artifact).toMatchObject({
      id: "plan-1",
      sessionId,
      type: "PlanCard",
      schemaVersion: "1.0.0",
      title: "The plan",
      taskNodeId: "task-1",
      mediaType: "application/json",
      createdAt: Date.parse("2030-01-31T12:00:00Z"),
      quarantine: null,
      renderHints: { collapsed: true },
      idempotencyKey: null,
    })
  })

  it("quarantines what has no schema, and says which one is missing", async () => {
    const { valid, errors } = await registry.store(envelope({ type: "Poem", schemaVersion: "2.1.0", payload: "roses" }))
    expect({ valid, errors }).toEqual({ valid: false, errors: ["Missing schema for Poem@2.1.0"] })
    expect(await registry.get("plan-1")).toMatchObject({
      payload: "roses",
      quarantine: ["Missing schema for Poem@2.1.0"],
    })
  })

  it("quarantines what does not fit, keeps it whole, and says what is wrong and where", async () => {
    const payload = { steps: [{ id: "1" }], note: "kept" }
    const { valid, errors } = await registry.store(envelope({ payload }))
    expect(valid).toBe(false)
    expect(errors).toEqual([expect.stringMatching(/^steps\.0\.title: /)])
    expect(await registry.get("plan-1")).toMatchObject({ payload, quarantine: errors })
  })

  it("lists those that fit and those kept apart, each newest first, by session and page", async () => {
    for (const n of [1, 2, 3]) {
      await registry.store(envelope({ id: `good-${n}` }), { sessionId })
      await registry.store(envelope({ id: `bad-${n}`, payload: {} }), n === 3 ? {} : { sessionId })
    }
    expect(ids(await registry.list())).toEqual(["good-3", "good-2", "good-1"])
    expect(ids(await registry.list({ limit: 1, before: "good-3" }))).toEqual(["good-2"])
    expect(ids(await registry.listQuarantined())).toEqual(["bad-3", "bad-2", "bad-1"])
    expect(ids(await registry.listQuarantined({ sessionId }))).toEqual(["bad-2", "bad-1"])
  })

  it("knows several versions of one type side by side", async () => {
    registry.registerSchema("Poem", "1.0.0", z.object({ text: z.string() }))
    registry.registerSchema("Poem", "2.0.0", z.object({ verses: z.array(z.string()) }))
    const first = { type: "Poem", schemaVersion: "1.0.0", payload: { text: "roses" } }
    const second = { type: "Poem", schemaVersion: "2.0.0", payload: { verses: ["roses"] } }
    expect(await registry.validate(envelope(first))).toEqual({ valid: true })
    expect(await registry.validate(envelope(second))).toEqual({ valid: true })
    expect(await registry.validate(envelope({ ...second, schemaVersion: "1.0.0" }))).toMatchObject({ valid: false })
    expect(await registry.list()).toEqual([])
  })

  it("gives back the first artifact for the same key in the same session, and only there", async () => {
    const first = await registry.store(envelope({ id: "a" }), { sessionId, idempotencyKey: "once" })
    const again = await registry.store(envelope({ id: "b", title: "Other" }), { sessionId, idempotencyKey: "once" })
    const elsewhere = await registry.store(envelope({ id: "c" }), { idempotencyKey: "once" })
    expect(again.artifact).toEqual(first.artifact)
    expect(elsewhere.artifact.id).toBe("c")
    expect(ids(await registry.list())).toEqual(["c", "a"])
  })

  it("takes the same artifact twice, and another one under its id never", async () => {
    const first = await registry.store(envelope({}))
    expect((await registry.store(envelope({}))).artifact).toEqual(first.artifact)
    await expect(registry.store(envelope({ payload: { steps: [{ id: "1", title: "x" }] } }))).rejects.toMatchObject({
      code: "CONFLICT",
    })
    await expect(registry.store(envelope({}), { sessionId })).rejects.toMatchObject({ code: "CONFLICT" })
    expect(await registry.get("plan-1")).toMatchObject({ payload: plan })
  })

  it("tells of an artifact that is not there", async () => {
    await expect(registry.get("nothing")).rejects.toMatchObject({ code: "NOT_FOUND" })
  })

  it("keeps any JSON as it came in", async () => {
    let n = 0
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (payload) => {
        const id = `any-${n++}`
        const { valid } = await registry.store(envelope({ id, type: "Anything", payload }))
        expect(valid).toBe(false)
        expect(JSON.stringify((await registry.get(id)).payload)).toBe(JSON.stringify(payload))
      }),
      { numRuns: 50 },
    )
  })
})

describe("schemas of our own", () => {
  it("take the place of a default, but not of each other", async () => {
    const store = await openStore("memory:")
    const registry = createArtifactRegistry({ store: store.artifacts })
    registry.registerSchema("PlanCard", "1.0.0", z.literal("anything"))
    expect(await registry.validate(envelope({ payload: "anything" }))).toEqual({ valid: true })
    expect(() => registry.registerSchema("PlanCard", "1.0.0", z.any())).toThrow(/already/)
    await store.close()
  })

  it("are the only ones where the defaults are not wanted", async () => {
    const store = await openStore("memory:")
    const registry = createArtifactRegistry({ store: store.artifacts, registerDefaults: false })
    expect(await registry.validate(envelope({}))).toEqual({
      valid: false,
      errors: ["Missing schema for PlanCard@1.0.0"],
    })
    await store.close()
  })
})

describe("damage", () => {
  it("of kept content is CORRUPT, and says so for JSON that is none", async () => {
    const folder = await mkdtemp(join(tmpdir(), "keepup-registry-"))
    const artifactContent = createArtifactContent({ folder, clock: { now: Date.now } })
    const store = await openStore("memory:", { artifactContent })
    const registry = createArtifactRegistry({ store: store.artifacts })
    const { artifact } = await registry.store(envelope({}))
    await store.artifacts.put({ ...artifact, id: "torn" as typeof artifact.id }, Buffer.from("{"))
    await expect(registry.get("torn")).rejects.toMatchObject({ code: "CORRUPT", details: { id: "torn" } })
    await writeFile(join(folder, artifact.hash.slice(0, 2), artifact.hash), "{}")
    await expect(registry.get("plan-1")).rejects.toMatchObject({ code: "CORRUPT", details: { hash: artifact.hash } })
    expect((await readdir(folder)).length).toBeGreaterThan(0)
    await store.close()
    await rm(folder, { recursive: true })
  })
})

function envelope(change: Partial<ArtifactEnvelope>): ArtifactEnvelope {
  return {
    id: "plan-1",
    type: "PlanCard",
    schemaVersion: "1.0.0",
    title: "The plan",
    payload: plan,
    taskNodeId: "task-1",
    createdAt: "2030-01-31T12:00:00Z",
    ...change,
  }
}

function ids(artifacts: readonly { readonly id: string }[]): string[] {
  return artifacts.map(({ id }) => id)
}
