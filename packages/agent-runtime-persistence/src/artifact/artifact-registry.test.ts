import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ArtifactEnvelope, SessionId } from "@ku0/agent-runtime-core"
import { z } from "@ku0/agent-runtime-core/schemas"
import fc from "fast-check"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openStore, type Store } from "../store/open-store.js"
import { createArtifactContent } from "./artifact-content.js"
import { ArtifactRegistry, createArtifactRegistry } from "./artifact-registry.js"

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

describe("a registry and hostile input", () => {
  let store: Store
  let registry: ArtifactRegistry

  beforeEach(async () => {
    store = await openStore("memory:")
    registry = new ArtifactRegistry({ store: store.artifacts, maxPayloadBytes: 1_000_000 })
  })
  afterEach(() => store.close())

  it.each([
    ["../../etc/passwd"],
    ["a/b"],
    ["a\\b"],
    [".."],
    [""],
    ["a\0b"],
    ["ä"],
    ["a b"],
    ["x".repeat(201)],
    [`image_${"ab".repeat(32)}`],
    [5],
    [null],
    [{ toString: () => "plan-1" }],
  ])("refuses the id %j", async (id) => {
    await expect(registry.store({ ...envelope({}), id })).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("id must be"),
    })
    await isEmpty()
  })

  it("names every fault of an envelope at once, and keeps nothing", async () => {
    const wrong = {
      id: 1,
      type: "../x",
      schemaVersion: "",
      title: "x".repeat(1_001),
      payload: plan,
      taskNodeId: undefined,
      createdAt: "yesterday",
      renderHints: [],
    }
    const faults = Object.keys(wrong).filter((key) => key !== "payload")
    await expect(registry.store(wrong)).rejects.toMatchObject({
      code: "INVALID_INPUT",
      details: { faults: faults.map((key) => expect.stringMatching(`^${key} must be`)) },
    })
    for (const value of [null, undefined, "text", 5, [], [envelope({})]]) {
      await expect(registry.store(value)).rejects.toMatchObject({ code: "INVALID_INPUT" })
      await expect(registry.validate(value)).rejects.toMatchObject({ code: "INVALID_INPUT" })
    }
    await isEmpty()
  })

  it.each([
    ["title", "half a \ud800 character"],
    ["title", "a\0b"],
    ["createdAt", "2030-13-01T00:00:00Z"],
    ["createdAt", 5],
    ["renderHints", { big: "x".repeat(70_000) }],
    ["renderHints", cycle()],
  ])("refuses %s that no store could give back", async (key, value) => {
    await expect(registry.store({ ...envelope({}), [key]: value })).rejects.toMatchObject({ code: "INVALID_INPUT" })
    await isEmpty()
  })

  it.each([
    ["a cycle", cycle()],
    ["a bigint", { n: 1n }],
    ["a function", () => 1],
    ["nothing", undefined],
    ["something that throws a text", { toJSON: () => throwText() }],
    ["more than is allowed", "x".repeat(1_000_000)],
    ["deeper than JSON can be written", nest(200_000)],
  ])("refuses a payload that is %s", async (_what, payload) => {
    await expect(registry.store(envelope({ payload }))).rejects.toMatchObject({
      code: "INVALID_INPUT",
      message: expect.stringContaining("payload"),
    })
    await isEmpty()
  })

  it("is not fooled by __proto__ and constructor, and gives them back as they came", async () => {
    const text = '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"steps":[]}'
    const { valid } = await registry.store(envelope({ payload: JSON.parse(text) }))
    expect(valid).toBe(false)
    expect(JSON.stringify((await registry.get("plan-1")).payload)).toBe(text)
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined()
    const inherited = JSON.parse(`{"__proto__":${JSON.stringify(plan)}}`)
    expect(await registry.validate(envelope({ payload: inherited }))).toMatchObject({ valid: false })
    for (const type of ["constructor", "toString", "hasOwnProperty"]) {
      expect(await registry.validate(envelope({ type }))).toEqual({
        valid: false,
        errors: [`Missing schema for ${type}@1.0.0`],
      })
    }
  })

  it("keeps fifty levels, and a string of almost a megabyte", async () => {
    for (const [i, deep] of [nest(50), "x".repeat(900_000)].entries()) {
      const payload = { ...plan, deep }
      expect(await registry.store(envelope({ id: `p${i}`, payload }))).toMatchObject({ valid: true })
      expect((await registry.get(`p${i}`)).payload).toEqual(payload)
    }
  })

  it("tells the first faults of very many, each cut to a readable length", async () => {
    registry.registerSchema("Long", "1.0.0", z.string({ error: () => "e".repeat(10_000) }))
    const many = { steps: Array.from({ length: 5_000 }, () => ({})) }
    const { errors = [] } = await registry.store(envelope({ payload: many }))
    expect(errors).toHaveLength(21)
    expect(errors.at(-1)).toMatch(/^and \d+ more$/)
    const long = await registry.validate(envelope({ type: "Long", payload: 5 }))
    expect(long.errors).toEqual([`${"e".repeat(499)}…`])
  })

  it("quarantines what a schema fails to judge, whatever it throws", async () => {
    const fails = (name: string, safeParse: () => { success: boolean }) =>
      registry.registerSchema(name, "1.0.0", { safeParse })
    fails("Throws", () => {
      throw new Error("boom")
    })
    fails("ThrowsText", throwText)
    fails("SaysNothing", () => ({ success: false }))
    registry.registerSchema(
      "Waits",
      "1.0.0",
      z.string().refine(async () => true),
    )
    const verdicts: unknown[] = []
    for (const type of ["Throws", "ThrowsText", "SaysNothing", "Waits"]) {
      verdicts.push((await registry.store(envelope({ id: type, type, payload: "x" }))).errors)
    }
    expect(verdicts).toEqual([
      ["The schema for Throws@1.0.0 could not judge it: boom"],
      ["The schema for ThrowsText@1.0.0 could not judge it: text"],
      ["The payload does not fit its schema"],
      [expect.stringContaining("could not judge it")],
    ])
    expect(await registry.listQuarantined()).toHaveLength(4)
  })

  it("judges what will be read again, not what JavaScript shows", async () => {
    registry.registerSchema("Dated", "1.0.0", z.object({ at: z.string() }))
    const payload = { at: new Date(0), dropped: undefined }
    expect(await registry.store(envelope({ type: "Dated", payload }))).toMatchObject({ valid: true })
    expect((await registry.get("plan-1")).payload).toEqual({ at: "1970-01-01T00:00:00.000Z" })
  })

  it.each(["", "x".repeat(201), "a\0b", 5])("refuses the idempotency key %j", async (key) => {
    const storing = registry.store(envelope({}), { idempotencyKey: key as string })
    await expect(storing).rejects.toMatchObject({ code: "INVALID_INPUT" })
    await isEmpty()
  })

  async function isEmpty(): Promise<void> {
    expect(await store.artifacts.list()).toEqual([])
  }
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

function nest(levels: number): unknown {
  let value: unknown = "bottom"
  for (let i = 0; i < levels; i++) value = { deeper: value }
  return value
}

function cycle(): object {
  const value: Record<string, unknown> = {}
  value["self"] = value
  return value
}

function throwText(): never {
  throw "text"
}
