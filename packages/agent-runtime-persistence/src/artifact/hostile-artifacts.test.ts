import type { ArtifactEnvelope } from "@ku0/agent-runtime-core"
import { z } from "@ku0/agent-runtime-core/schemas"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openStore, type Store } from "../store/open-store.js"
import { ArtifactRegistry } from "./artifact-registry.js"

const plan = { steps: [{ id: "1", title: "build" }] }

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
