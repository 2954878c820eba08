import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openStore, type Store } from "../store/open-store.js"
import { type ArtifactContent, createArtifactContent } from "./artifact-content.js"
import { type ArtifactRegistry, createArtifactRegistry } from "./artifact-registry.js"
import { sweepArtifacts } from "./sweep-artifacts.js"

const hour = 3_600_000
let folder: string
let now: number
let content: ArtifactContent
let store: Store
let registry: ArtifactRegistry

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "keepup-sweep-"))
  now = Date.now()
  content = createArtifactContent({ folder, clock: { now: () => now } })
  store = await openStore("memory:", { artifactContent: content })
  registry = createArtifactRegistry({ store: store.artifacts })
})
afterEach(async () => {
  await store.close()
  await rm(folder, { recursive: true, force: true })
})

describe("sweepArtifacts", () => {
  it("removes content without an artifact, and never content with one, quarantined or not", async () => {
    await keep("good", { steps: [{ id: "1", title: "build" }] })
    await keep("bad", "no plan")
    const { hash } = await content.put(Buffer.from("the process died before its record"))
    expect(await sweepArtifacts(store.context, content)).toMatchObject({ removed: 0, kept: 3 })
    now += 2 * hour
    expect(await sweepArtifacts(store.context, content)).toMatchObject({ removed: 1, kept: 2, failed: [] })
    expect(await content.has(hash)).toBe(false)
    expect((await registry.get("bad")).payload).toBe("no plan")
    expect((await registry.get("good")).payload).toEqual({ steps: [{ id: "1", title: "build" }] })
  })

  it("keeps content that two artifacts share as long as one of them is there", async () => {
    const { artifact } = await keep("one", "shared")
    await keep("two", "shared")
    now += 2 * hour
    await store.context.driver.run("DELETE FROM artifacts WHERE id = ?", ["one"])
    expect(await sweepArtifacts(store.context, content, { olderThanMs: 0 })).toMatchObject({ removed: 0, kept: 1 })
    await store.context.driver.run("DELETE FROM artifacts WHERE id = ?", ["two"])
    expect(await sweepArtifacts(store.context, content, { olderThanMs: 0 })).toMatchObject({ removed: 1, kept: 0 })
    expect(await content.has(artifact.hash)).toBe(false)
  })

  it("removes nothing when the store can't be asked", async () => {
    const { artifact } = await keep("one", "x")
    now += 2 * hour
    await store.close()
    await expect(sweepArtifacts(store.context, content)).rejects.toThrow()
    expect(await content.has(artifact.hash)).toBe(true)
  })
})

function keep(id: string, payload: unknown) {
  const facts = { type: "PlanCard", schemaVersion: "1.0.0", title: "The plan", taskNodeId: "task-1" }
  return registry.store({ id, ...facts, payload, createdAt: "2030-01-31T12:00:00Z" })
}
