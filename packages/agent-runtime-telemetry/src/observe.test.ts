import { createEventBus } from "@ku0/agent-runtime-core"
import { describe, expect, it } from "vitest"
import { createLogger } from "./logger.js"
import { createMetrics } from "./metrics.js"
import { type ObservedEvent, observeEvents } from "./observe.js"

function start() {
  let now = 0
  const clock = { now: () => now }
  const lines: Record<string, unknown>[] = []
  const logger = createLogger({ write: (line) => lines.push(JSON.parse(line)), clock })
  const metrics = createMetrics({ clock })
  let listener: ((event: ObservedEvent) => void) | undefined
  const stop = observeEvents({
    subscribe: (hear) => {
      listener = hear
      return () => {
        listener = undefined
      }
    },
    logger,
    metrics,
    clock,
  })
  const emit = (type: string, data: unknown, at = now, seq?: number) => {
    now = at
    listener?.({ type, data, entry: seq === undefined ? undefined : { sessionId: "s1", seq } })
  }
  return { emit, lines, metrics, stop }
}

describe("observeEvents", () => {
  it("tells ids, counts, paths and durations", () => {
    const { emit, lines } = start()
    emit(
      "checkpoint:created",
      { checkpointId: "c1", number: 3, trigger: "run.ended", name: "before the rewrite" },
      5,
      9,
    )
    emit("context:file-stale", { contextId: "x", path: "src/a.ts", absolutePath: "/w/src/a.ts", status: "stale" })
    emit("checkpoint:pruned", { checkpointIds: ["a", "b"], freedBytes: 10, pinned: false })
    expect(lines).toEqual([
      {
        time: 5,
        level: "info",
        message: "checkpoint:created",
        checkpointId: "c1",
        number: 3,
        trigger: "run.ended",
        sessionId: "s1",
        seq: 9,
      },
      {
        time: 5,
        level: "warn",
        message: "context:file-stale",
        contextId: "x",
        path: "src/a.ts",
        absolutePath: "/w/src/a.ts",
        status: "stale",
      },
      { time: 5, level: "info", message: "checkpoint:pruned", "checkpointIds.count": 2, freedBytes: 10, pinned: false },
    ])
  })

  it("never tells what was said, written or named by a person", () => {
    const { emit, lines } = start()
    const private_ = "PRIVATE words"
    emit("session:started", { name: private_, taskDescription: private_, agentType: private_, workspacePath: "/w" })
    emit("message:added", { message: { role: "user", content: private_ }, [private_]: 1 })
    emit("tool:started", { callId: "t1", name: "write-file", arguments: { path: "a", content: private_ } })
    emit("tool:ended", { callId: `${private_} id`, name: private_, outcome: private_, output: private_ })
    emit("checkpoint:failed", {
      trigger: "interval",
      error: { code: "UNAVAILABLE", message: private_, hint: private_ },
    })
    emit("other:thing", { id: private_, path: `${private_}\n`, text: private_, error: null })
    emit(private_, private_)
    expect(JSON.stringify(lines)).not.toContain("PRIVATE")
    expect(lines.map(({ message, tool, errorCode, level }) => [message, tool, errorCode, level])).toEqual([
      ["session:started", undefined, undefined, "info"],
      ["message:added", undefined, undefined, "info"],
      ["tool:started", "write-file", undefined, "info"],
      ["tool:ended", undefined, undefined, "info"],
      ["checkpoint:failed", undefined, "UNAVAILABLE", "warn"],
      ["other:thing", undefined, undefined, "info"],
      ["(unnamed)", undefined, undefined, "info"],
    ])
  })

  it("counts every event and does not log streams", () => {
    const { emit, lines, metrics } = start()
    for (let index = 0; index < 3; index++) emit("message:delta", { text: "x" })
    emit("tool:progress", { callId: "t1", text: "x" })
    expect(lines).toEqual([])
    expect(metrics.snapshot().counters).toEqual({ "events.message:delta": 3, "events.tool:progress": 1 })
  })

  it("times pairs by what they are about, and believes an end that says how long it took", () => {
    const { emit, lines, metrics } = start()
    emit("run:started", { runId: "r1" }, 0, 1)
    emit("tool:started", { callId: "a" }, 10, 2)
    emit("tool:started", { callId: "b" }, 20, 3)
    emit("tool:ended", { callId: "a", outcome: "ok" }, 50, 4)
    emit("tool:ended", { callId: "b", outcome: "error", durationMs: 7 }, 60, 5)
    emit("tool:ended", { callId: "unknown", outcome: "ok" }, 60, 6)
    emit("run:ended", { runId: "r1", outcome: "failed" }, 100, 7)
    const { timers } = metrics.snapshot()
    expect(timers.tool).toMatchObject({ count: 2, min: 7, max: 40 })
    expect(timers.run).toMatchObject({ count: 1, total: 100 })
    expect(lines.at(-1)).toMatchObject({ level: "warn", durationMs: 100, seq: 7 })
  })

  it("forgets the oldest of too many beginnings without an end", () => {
    const { emit, metrics } = start()
    for (let call = 0; call <= 1000; call++) emit("tool:started", { callId: `c${call}` }, call)
    emit("tool:ended", { callId: "c0" }, 2000)
    emit("tool:ended", { callId: "c1" }, 2000)
    expect(metrics.snapshot().timers.tool?.count).toBe(1)
  })

  it("stops when told", () => {
    const { emit, lines, stop } = start()
    stop()
    emit("run:started", { runId: "r1" })
    expect(lines).toEqual([])
  })

  it("listens to the bus of the runtime", async () => {
    const bus = createEventBus({ onListenerError: (error) => expect(error).toBeUndefined() })
    const metrics = createMetrics({ clock: { now: () => 0 } })
    const logger = createLogger({ write: () => {}, clock: { now: () => 0 } })
    const stop = observeEvents({
      subscribe: (listener) => bus.on("*", listener),
      logger,
      metrics,
      clock: { now: () => 0 },
    })
    await bus.emit("run:started", { runId: "r1" })
    stop()
    expect(metrics.snapshot().counters).toEqual({ "events.run:started": 1 })
  })
})
