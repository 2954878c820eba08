import {
  type Artifact,
  type ArtifactEnvelope,
  type BusEvent,
  createEventBus,
  KeepupError,
  type SessionId,
} from "@ku0/agent-runtime-core"
import { parseEvent } from "@ku0/agent-runtime-core/schemas"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openStore, type Store } from "../store/open-store.js"
import {
  type ArtifactEmittedRecord,
  ArtifactPipeline,
  type CreateArtifactPipelineOptions,
  createArtifactPipeline,
} from "./artifact-pipeline.js"
import { type ArtifactRegistry, createArtifactRegistry } from "./artifact-registry.js"

let store: Store
let registry: ArtifactRegistry
let sessionId: SessionId
let events: BusEvent[]
let nodes: ArtifactEmittedRecord[]

beforeEach(async () => {
  store = await openStore("memory:")
  registry = createArtifactRegistry({ store: store.artifacts })
  sessionId = (await store.sessions.create({ workspacePath: "/workspace" })).id
  events = []
  nodes = []
})
afterEach(() => store.close())

describe("ArtifactPipeline", () => {
  it("keeps an artifact, then tells the bus, then the task graph", async () => {
    const order: string[] = []
    const pipeline = makePipeline({
      eventBus: {
        async emit() {
          order.push(`event, kept: ${(await store.artifacts.find("plan-1")) !== undefined}`)
        },
      },
      taskGraph: { recordArtifact: () => String(order.push("node")) },
    })
    const result = await pipeline.emit(envelope({}))
    expect(order).toEqual(["event, kept: true", "node"])
    expect(result).toEqual({
      stored: true,
      valid: true,
      artifactNodeId: "2",
      artifact: await store.artifacts.get("plan-1"),
    })
    expect(result.artifact.sessionId).toBe(sessionId)
  })

  it("tells who emitted it and what it belongs to, in the shape of the event table", async () => {
    const pipeline = makePipeline({ eventSource: "planner" })
    const { artifact } = await pipeline.emit(envelope({ id: "a" }), { correlationId: "run-1" })
    await pipeline.emit(envelope({ id: "b" }), { source: "reviewer" })
    const facts = { type: "PlanCard", title: "The plan", taskNodeId: "task-1" }
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      [
        "artifact:emitted",
        {
          artifactId: "a",
          ...facts,
          hash: artifact.hash,
          sizeBytes: artifact.sizeBytes,
          correlationId: "run-1",
          source: "planner",
        },
      ],
      ["artifact:emitted", expect.objectContaining({ artifactId: "b", source: "reviewer" })],
    ])
    for (const { type, data } of events) expect(() => parseEvent(type, data)).not.toThrow()
    expect(nodes[0]).toEqual({
      type: "artifact_emitted",
      artifactId: "a",
      artifactType: "PlanCard",
      title: "The plan",
      taskNodeId: "task-1",
      correlationId: "run-1",
      source: "planner",
    })
  })

  it("keeps a bad payload, tells why it is quarantined, and adds no node", async () => {
    const pipeline = makePipeline()
    const result = await pipeline.emit(envelope({ payload: { steps: "none" } }))
    expect(result).toMatchObject({ stored: true, valid: false, errors: [expect.stringMatching(/^steps: /)] })
    expect(result.artifactNodeId).toBeUndefined()
    expect(events).toMatchObject([
      { type: "artifact:quarantined", data: { artifactId: "plan-1", type: "PlanCard", errors: result.errors } },
    ])
    expect(() => parseEvent("artifact:quarantined", events[0]?.data)).not.toThrow()
    expect(nodes).toEqual([])
    expect(await registry.listQuarantined({ sessionId })).toHaveLength(1)
  })

  it("tells nobody of what can't be kept", async () => {
    await expect(makePipeline().emit({ ...envelope({}), id: "../x" })).rejects.toMatchObject({ code: "INVALID_INPUT" })
    expect(events).toEqual([])
    expect(nodes).toEqual([])
  })

  it("is content without a bus and without a task graph", async () => {
    const pipeline = new ArtifactPipeline({ registry })
    expect(await pipeline.emit(envelope({}))).toMatchObject({
      stored: true,
      valid: true,
      artifact: { sessionId: null },
    })
  })

  it("stores and tells once for the same key, one after the other and at once", async () => {
    const pipeline = makePipeline()
    const results = await Promise.all(
      ["a", "b", "c"].map((id) => pipeline.emit(envelope({ id }), { idempotencyKey: "once" })),
    )
    results.push(await pipeline.emit(envelope({ id: "d" }), { idempotencyKey: "once" }))
    const [first] = results
    for (const result of results) expect(result).toEqual(first)
    expect(await registry.list()).toHaveLength(1)
    expect(events).toHaveLength(1)
    expect(nodes).toHaveLength(1)
  })

  it("tells again in another process, which can't know whether the first one came that far", async () => {
    await makePipeline().emit(envelope({}), { idempotencyKey: "once" })
    await makePipeline().emit(envelope({ id: "retry" }), { idempotencyKey: "once" })
    expect(await registry.list()).toHaveLength(1)
    expect(events.map(({ data }) => (data as { artifactId: string }).artifactId)).toEqual(["plan-1", "plan-1"])
  })

  it("throws when the event can't be recorded, keeps the artifact, and tells of it when it is emitted again", async () => {
    let isDown = true
    const pipeline = makePipeline({
      eventBus: {
        async emit(type, data) {
          if (isDown) throw new KeepupError("UNAVAILABLE", "The disk is full.")
          events.push({ type, data, entry: undefined })
        },
      },
    })
    await expect(pipeline.emit(envelope({}))).rejects.toMatchObject({ code: "UNAVAILABLE" })
    expect(await registry.list()).toHaveLength(1)
    expect(nodes).toEqual([])
    isDown = false
    expect(await pipeline.emit(envelope({}))).toMatchObject({ stored: true, artifactNodeId: "node-1" })
    expect(await registry.list()).toHaveLength(1)
    expect(events).toHaveLength(1)
  })

  it.each([
    [
      "throws",
      () => {
        throw new Error("graph gone")
      },
    ],
    [
      "rejects",
      async () => {
        throw new Error("graph gone")
      },
    ],
  ])("goes on when the task graph %s, and reports it", async (_how, recordArtifact: () => never | Promise<never>) => {
    const reported: [KeepupError, Artifact][] = []
    const pipeline = makePipeline({
      taskGraph: { recordArtifact },
      onError: (error, artifact) => reported.push([error, artifact]),
    })
    const result = await pipeline.emit(envelope({}))
    expect(result).toMatchObject({ stored: true, valid: true, taskGraphError: { message: "graph gone" } })
    expect(result.artifactNodeId).toBeUndefined()
    expect(reported).toEqual([[result.taskGraphError, result.artifact]])
    expect(events).toHaveLength(1)
  })

  it("says in its result that the task graph failed, also when nobody listens or the listener fails", async () => {
    const taskGraph = {
      recordArtifact: (): string => {
        throw new Error("graph gone")
      },
    }
    const onError = () => {
      throw new Error("logger gone")
    }
    expect(await makePipeline({ taskGraph }).emit(envelope({}))).toMatchObject({ taskGraphError: { code: "INTERNAL" } })
    expect(await makePipeline({ taskGraph, onError }).emit(envelope({}))).toMatchObject({
      stored: true,
      taskGraphError: { message: "graph gone" },
    })
  })

  it("forgets the oldest of very many announcements and nothing else", async () => {
    const pipeline = makePipeline()
    const { artifact } = await pipeline.emit(envelope({}))
    for (let n = 0; n < 1_000; n++) await pipeline.announce({ ...artifact, id: `n${n}` as Artifact["id"] })
    await pipeline.announce({ ...artifact, id: "n500" as Artifact["id"] })
    expect(events).toHaveLength(1_001)
    await pipeline.announce(artifact)
    expect(events).toHaveLength(1_002)
  })
})

function makePipeline(change: Partial<CreateArtifactPipelineOptions> = {}): ArtifactPipeline {
  const eventBus = createEventBus({
    onListenerError: (error) => {
      throw error
    },
  })
  eventBus.on("artifact:*", (event) => void events.push(event))
  return createArtifactPipeline({
    registry,
    eventBus,
    taskGraph: { recordArtifact: async (record) => `node-${nodes.push(record)}` },
    sessionId,
    ...change,
  })
}

function envelope(change: Partial<ArtifactEnvelope>): ArtifactEnvelope {
  return {
    id: "plan-1",
    type: "PlanCard",
    schemaVersion: "1.0.0",
    title: "The plan",
    payload: { steps: [{ id: "1", title: "build" }] },
    taskNodeId: "task-1",
    createdAt: "2030-01-31T12:00:00Z",
    ...change,
  }
}
