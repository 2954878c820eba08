import { describe, expect, test } from "vitest"
import { eventSchemas } from "./event-schemas.js"
import { findEventProblem } from "./event-shapes.js"
import { type EventName, eventTable } from "./events.js"
import { foldedEvents } from "./history.js"

type Fields = Record<string, unknown>

const failure = { code: "UNAVAILABLE", message: "No room.", hint: "Free some." }
const restored = { restoreId: "r", checkpointId: "c", safetyCheckpointId: null, mode: "both" }
const usage = { inputTokens: 1, outputTokens: 2, cost: 0.5 }
const call = { callId: "c1", name: "read" }
const tags = { summaryParent: "s", truncationParent: "t" }
const hides = { from: 1, to: 2 }

/** Examples with every field there is, also those that may be left out. */
const examples: readonly (readonly [string, Fields])[] = [
  [
    "session:started",
    {
      ...{ name: "n", agentType: "a", taskDescription: "t", workspacePath: "/w" },
      ...{ parent: { sessionId: "s", seq: 1 }, checkpointId: "c" },
    },
  ],
  ["session:paused", { reason: "r" }],
  ["session:resumed", { checkpointId: "c" }],
  ["session:ended", { outcome: "stopped", reason: "r" }],
  ["session:interrupted", { reason: "died", holder: "h" }],
  ["session:recovered", { inDoubt: ["c1", "c2"] }],
  ["session:restore-started", { ...restored, paths: ["a"] }],
  ["session:restore-failed", { restoreId: "r", error: failure }],
  ["run:started", { runId: "r", model: "m" }],
  ["run:ended", { runId: "r", outcome: "done", durationMs: 1.5, usage, error: failure }],
  ["message:added", { message: { role: "user", content: "hi", artifactIds: ["a"], ...tags } }],
  ["message:added", { message: { role: "system", content: "hi", ...tags } }],
  [
    "message:added",
    { message: { role: "assistant", content: "hi", toolCalls: [{ id: "c", name: "n", arguments: {} }], ...tags } },
  ],
  ["message:added", { message: { role: "tool", content: "", ...call, isError: true, artifactIds: ["a"], ...tags } }],
  ["message:added", { message: { role: "summary", content: "hi", summaryId: "s", hides, ...tags } }],
  ["message:added", { message: { role: "truncation", content: "hi", truncationId: "s", hides, ...tags } }],
  ["tool:started", { ...call, arguments: {}, facts: { a: 1 }, choice: "retry" }],
  ["tool:ended", { ...call, outcome: "paused", durationMs: 2, choice: "done" }],
  ["tool:in-doubt", { ...call, arguments: 7, known: { a: 1 } }],
  ["state:changed", { full: true, set: { a: "h" }, removed: ["b"], settled: { phase: "idle" } }],
  ["checkpoint:created", { checkpointId: "c", number: 1, trigger: "manual", name: "n" }],
  ["checkpoint:failed", { trigger: "interval", error: failure }],
  ["checkpoint:pruned", { checkpointIds: ["c"], freedBytes: 1 }],
  ["checkpoint:restored", restored],
]

const odd = [
  undefined,
  null,
  true,
  0,
  7,
  -1,
  1.5,
  2 ** 60,
  Number.NaN,
  "x",
  "ok",
  "files",
  [],
  [1],
  ["x"],
  {},
  { a: 1 },
]

/** The value, and itself with something odd at any place in it. */
function* twist(value: unknown): Generator<unknown> {
  yield* odd
  if (typeof value !== "object" || value === null) return
  for (const key of Object.keys(value)) {
    for (const other of twist((value as Fields)[key])) {
      yield Array.isArray(value) ? value.with(Number(key), other) : { ...value, [key]: other }
    }
  }
}

describe("findEventProblem", () => {
  test.each(examples)("says the same of %s as its schema", (type, example) => {
    const schema = eventSchemas[type as EventName]
    expect(findEventProblem(type, example)).toBeUndefined()
    const named = Object.keys(type === "message:added" ? {} : schema.shape)
    // a field the example lacks would never be twisted
    expect(named.filter((name) => !Object.hasOwn(example, name))).toEqual([])
    let refused = 0
    for (const data of twist(example)) {
      const { success } = schema.safeParse(data)
      expect(findEventProblem(type, data) === undefined, JSON.stringify(data)).toBe(success)
      if (!success) refused++
    }
    expect(refused).toBeGreaterThan(10)
  })

  test("looks at what folds, restores and checkpoints rely on, and at nothing else", () => {
    const checked = Object.keys(eventTable).filter((type) => findEventProblem(type, 7) !== undefined)
    expect(checked).toEqual([...new Set(examples.map(([type]) => type))])
    expect(checked).toEqual(expect.arrayContaining([...foldedEvents]))
    for (const type of ["phase:ended", "someone:else", "constructor:x", "__proto__", "toString"]) {
      expect(findEventProblem(type, null)).toBeUndefined()
    }
  })

  test("names the field and what it must be", () => {
    const said = (content: unknown) => findEventProblem("message:added", { message: { role: "user", content } })
    expect(said([{ type: "text" }])).toBe("message.content must be a text")
    expect(findEventProblem("message:added", null)).toBe("it must be an object")
    expect(findEventProblem("message:added", { message: { role: "god" } })).toMatch(
      /^message\.role must be one of user,/,
    )
    expect(findEventProblem("session:recovered", { inDoubt: ["a", 7] })).toBe("inDoubt.1 must be a text")
  })
})
