import { describe, expect, test } from "vitest"
import { isKeepupError, type KeepupError } from "./errors.js"
import { eventTable } from "./events.js"
import { parseEvent, parseMessage } from "./parse-event.js"

const failure = { code: "UNAVAILABLE", message: "No room.", hint: "Free some." }
const restore = { restoreId: "r", checkpointId: "c", safetyCheckpointId: null, mode: "both" }

/** One valid example of each event. */
const examples: Record<string, object> = {
  "session:started": { name: "n", agentType: "a", taskDescription: "t", workspacePath: "/w" },
  "session:paused": {},
  "session:resumed": { checkpointId: "c" },
  "session:ended": { outcome: "completed" },
  "session:interrupted": { reason: "died" },
  "session:recovered": { inDoubt: ["c1"] },
  "session:restore-started": { ...restore, paths: ["a"] },
  "session:restore-failed": { restoreId: "r", error: failure },
  "run:started": { runId: "r" },
  "run:ended": { runId: "r", outcome: "completed", usage: { inputTokens: 1, cost: 0.5 } },
  "turn:started": { runId: "r", turn: 1 },
  "turn:ended": { runId: "r", turn: 1, outcome: "completed" },
  "phase:ended": { phase: "plan", durationMs: 1.5 },
  "negotiation:resolved": { section: "s", winner: "w" },
  "agent:spawned": { agentType: "a" },
  "task:completed": {},
  "message:added": { message: { role: "user", content: "hello" } },
  "tool:started": { callId: "c1", name: "read", arguments: { path: "a" } },
  "tool:ended": { callId: "c1", name: "read", outcome: "ok" },
  "tool:in-doubt": { callId: "c1", name: "read", arguments: null },
  "state:changed": { full: false, set: { plan: "hash" }, removed: [] },
  "checkpoint:created": { checkpointId: "c", number: 1, trigger: "manual", name: null },
  "checkpoint:failed": { trigger: "interval", error: failure },
  "checkpoint:pruned": { checkpointIds: ["c"], freedBytes: 0 },
  "checkpoint:restored": restore,
  "history:rewind": { reason: "manual", messageCount: 1, removedSummaries: 0, removedTruncationMarkers: 0 },
  "context:file-stale": {
    contextId: "default",
    path: "a",
    absolutePath: "/w/a",
    status: "stale",
    recordSource: "external_edit",
  },
  "artifact:emitted": { artifactId: "a", type: "PlanCard", title: "t", hash: "h", sizeBytes: 1 },
  "artifact:quarantined": { artifactId: "a", type: "PlanCard", errors: ["no title"] },
  "message:delta": { text: "he" },
  "tool:progress": { callId: "c1", text: "half" },
}

function refusal(act: () => unknown): KeepupError {
  try {
    act()
  } catch (error) {
    if (isKeepupError(error)) return error
    throw error
  }
  throw new Error("It was not refused.")
}

describe("parseEvent", () => {
  test.each(Object.keys(eventTable))("accepts %s as it is, with its extra keys", (name) => {
    const data = { ...examples[name], ofTomorrow: [1] }
    expect(parseEvent(name, data)).toEqual({ type: name, data })
  })

  test.each(Object.keys(eventTable).filter((name) => Object.keys(examples[name] ?? {}).length > 0))(
    "refuses %s without an object as its data",
    (name) => {
      for (const data of [undefined, null, "text", 1, []]) {
        expect(refusal(() => parseEvent(name, data))).toMatchObject({ code: "INVALID_INPUT" })
      }
    },
  )

  test("reads a prune of before, which claimed bytes, and one of today", () => {
    for (const data of [{ checkpointIds: ["c"], freedBytes: 1_004_410 }, { checkpointIds: ["c"] }])
      expect(parseEvent("checkpoint:pruned", data).data).toBe(data)
    expect(refusal(() => parseEvent("checkpoint:pruned", { freedBytes: 1 })).message).toContain("checkpointIds")
  })

  test("takes a dot for a colon", () => {
    expect(parseEvent("run.ended", examples["run:ended"]).type).toBe("run:ended")
  })

  test("keeps an unknown event with all it carries", () => {
    const data = JSON.parse('{"degrees": 21, "__proto__": {"a": 1}}')
    const parsed = parseEvent("weather.changed", data)
    expect(parsed.type).toBe("weather:changed")
    expect(JSON.stringify(parsed.data)).toBe('{"degrees":21,"__proto__":{"a":1}}')
  })

  test("keeps state keys with names that objects are born with", () => {
    const data = JSON.parse('{"full":true,"set":{"__proto__":"h1","constructor":"h2"},"removed":[]}')
    expect(JSON.stringify(parseEvent("state:changed", data).data)).toBe(JSON.stringify(data))
    const bad = JSON.parse('{"full":true,"set":{"constructor":1},"removed":[]}')
    expect(refusal(() => parseEvent("state:changed", bad)).message).toContain("set.constructor")
  })

  test("accepts a call without arguments, which JSON leaves out when they are undefined", () => {
    const data = JSON.parse(JSON.stringify({ callId: "c1", name: "now", arguments: undefined }))
    expect(parseEvent("tool:started", data)).toEqual({ type: "tool:started", data })
    const message = { role: "assistant", content: "", toolCalls: [{ id: "c1", name: "now" }] }
    expect(parseMessage(message)).toEqual(message)
  })

  test.each(["run", "Run:ended", "", 7, 7n, undefined, null, {}])(
    "refuses %o as a name and says how names look",
    (name) => {
      const error = refusal(() => parseEvent(name, {}))
      expect(error.code).toBe("INVALID_INPUT")
      expect(error.message).toMatch(/^Not an event name: .+\.$/s)
      expect(error.hint).toContain("subject:fact")
    },
  )

  test.each([["text"], [null], [undefined], [[1]]])("refuses %o as the data of an unknown event", (data) => {
    expect(refusal(() => parseEvent("weather:changed", data)).message).toBe(
      "The data of weather:changed must be a JSON object.",
    )
  })

  test("says what is wrong and where", () => {
    const error = refusal(() => parseEvent("turn:ended", { runId: 1, turn: -1, outcome: "done" }))
    expect(error.code).toBe("INVALID_INPUT")
    expect(error.message).toMatch(/^Not a valid data of turn:ended: runId: .+; turn: .+\.$/)
    expect(error.details).toEqual({ problems: [expect.stringMatching(/^runId: /), expect.stringMatching(/^turn: /)] })
    expect(refusal(() => parseEvent("run:ended", 7)).message).toContain("(top): ")
  })

  test("names at most five problems in the message and all of them in the details", () => {
    const error = refusal(() => parseEvent("session:recovered", { inDoubt: [1, 2, 3, 4, 5, 6, 7] }))
    expect(error.message.split("; ")).toHaveLength(5)
    expect(error.details?.problems).toHaveLength(7)
  })
})

describe("parseMessage", () => {
  test.each([
    { role: "user", content: "a", artifactIds: ["i"] },
    { role: "system", content: "a" },
    { role: "assistant", content: "", toolCalls: [{ id: "c1", name: "read", arguments: { path: "a" } }] },
    { role: "tool", callId: "c1", name: "read", content: "x", isError: true },
    { role: "summary", content: "s", summaryId: "S", hides: { from: 1, to: 2 }, summaryParent: "S2" },
    { role: "truncation", content: "t", truncationId: "T", hides: { from: 1, to: 2 }, truncationParent: "T2" },
  ])("accepts a message of role $role", (message) => {
    expect(parseMessage(message)).toEqual(message)
  })

  test.each([
    ["an unknown role", { role: "robot", content: "a" }, "role"],
    ["no content", { role: "user" }, "content"],
    ["a call without an id", { role: "assistant", content: "", toolCalls: [{ name: "read" }] }, "toolCalls.0.id"],
    ["a range in parts", { role: "summary", content: "", summaryId: "S", hides: { from: 1.5, to: 2 } }, "hides.from"],
    ["nothing at all", undefined, "(top)"],
  ])("refuses %s and names the place", (_, message, place) => {
    const error = refusal(() => parseMessage(message))
    expect(error.code).toBe("INVALID_INPUT")
    expect(error.message).toContain(`Not a valid message: ${place}: `)
  })
})
