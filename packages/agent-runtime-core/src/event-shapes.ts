/**
 * What the data of an event must look like, for those events that folds, restores and checkpoints rely on: the same as the
 * schemas say, in plain code. It runs at every append, also in hooks that must not wait for zod to load.
 */
import type { EventName } from "./events.js"

/** `undefined`, or which field is wrong and what it must be. */
type Shape = (value: unknown, field: string) => string | undefined
type Fields = Readonly<Record<string, unknown>>

/** Why `data` can't be the data of such an event, or `undefined`. All other events may carry anything. */
export function findEventProblem(type: string, data: unknown): string | undefined {
  return Object.hasOwn(shapes, type) ? (shapes as Readonly<Record<string, Shape>>)[type]?.(data, "") : undefined
}

function test(what: string, fits: (value: unknown) => boolean): Shape {
  return (value, field) => (fits(value) ? undefined : `${field || "it"} must be ${what}`)
}

const anything: Shape = () => undefined
const text = test("a text", (value) => typeof value === "string")
const truth = test("true or false", (value) => typeof value === "boolean")
const number = test("a number", Number.isFinite)
const count = test("a whole number from 0 on", (value) => Number.isSafeInteger(value) && (value as number) >= 0)
const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const isNothing = (value: unknown): value is undefined => value === undefined

function oneOf(...words: readonly string[]): Shape {
  return test(`one of ${words.join(", ")}`, (value) => words.includes(value as string))
}

function optional(shape: Shape): Shape {
  return (value, field) => (isNothing(value) ? undefined : shape(value, field))
}

function nullable(shape: Shape): Shape {
  return (value, field) => (value === null ? undefined : shape(value, field))
}

function listOf(shape: Shape): Shape {
  return (value, field) => {
    if (!Array.isArray(value)) return `${field} must be a list`
    for (let index = 0; index < value.length; index++) {
      const problem = shape(value[index], `${field}.${index}`)
      if (problem !== undefined) return problem
    }
    return undefined
  }
}

/** Fields of any name. */
function recordOf(shape: Shape): Shape {
  return (value, field) => {
    if (!isFields(value)) return `${field} must be an object`
    for (const key of Object.keys(value)) {
      const problem = shape(value[key], `${field}.${key}`)
      if (problem !== undefined) return problem
    }
    return undefined
  }
}

/** Fields that are not named may be anything. */
function object(fields: Readonly<Record<string, Shape>>): Shape {
  const named = Object.entries(fields)
  return (value, field) => {
    if (!isFields(value)) return `${field || "it"} must be an object`
    for (const [name, shape] of named) {
      const problem = shape(value[name], field === "" ? name : `${field}.${name}`)
      if (problem !== undefined) return problem
    }
    return undefined
  }
}

const failure = object({ code: text, message: text, hint: optional(text) })
const tokens = { inputTokens: optional(count), outputTokens: optional(count) }
const usage = object({ ...tokens, cost: optional(number) })
const choice = oneOf("skip", "retry", "done", "fail")
const said = { content: text, summaryParent: optional(text), truncationParent: optional(text) }
const artifactIds = optional(listOf(text))
const hides = object({ from: count, to: count })
const toolCalls = optional(listOf(object({ id: text, name: text })))
const call = { callId: text, name: text }
const restored = {
  restoreId: text,
  checkpointId: text,
  safetyCheckpointId: nullable(text),
  mode: oneOf("files", "conversation", "both"),
}

/** Role → the message. */
const messages: Readonly<Record<string, Shape>> = {
  user: object({ ...said, artifactIds }),
  system: object(said),
  assistant: object({ ...said, toolCalls }),
  tool: object({ ...said, ...call, isError: optional(truth), artifactIds }),
  summary: object({ ...said, summaryId: text, hides }),
  truncation: object({ ...said, truncationId: text, hides }),
}
const role = oneOf(...Object.keys(messages))

const message: Shape = (value, field) => {
  if (!isFields(value)) return `${field} must be an object`
  return role(value["role"], `${field}.role`) ?? messages[value["role"] as string]?.(value, field)
}

const shapes = {
  "session:started": object({
    name: text,
    agentType: text,
    taskDescription: text,
    workspacePath: text,
    parent: optional(object({ sessionId: text, seq: count })),
    checkpointId: optional(text),
  }),
  "session:paused": object({ reason: optional(text) }),
  "session:resumed": object({ checkpointId: optional(text) }),
  "session:ended": object({ outcome: oneOf("completed", "failed", "stopped"), reason: optional(text) }),
  "session:interrupted": object({ reason: text, holder: optional(text) }),
  "session:recovered": object({ inDoubt: listOf(text) }),
  "session:restore-started": object({ ...restored, paths: optional(nullable(listOf(text))) }),
  "session:restore-failed": object({ restoreId: text, error: failure }),
  "run:started": object({ runId: text, model: optional(text) }),
  "run:ended": object({
    runId: text,
    outcome: text,
    durationMs: optional(number),
    usage: optional(usage),
    error: optional(failure),
  }),
  "message:added": object({ message }),
  "tool:started": object({
    ...call,
    arguments: anything,
    facts: optional(recordOf(anything)),
    choice: optional(choice),
  }),
  "tool:ended": object({
    ...call,
    outcome: oneOf("ok", "error", "cancelled", "skipped", "paused"),
    durationMs: optional(number),
    choice: optional(choice),
  }),
  "tool:in-doubt": object({ ...call, arguments: anything, known: optional(recordOf(anything)) }),
  "state:changed": object({
    full: truth,
    set: recordOf(text),
    removed: listOf(text),
    settled: optional(object({ phase: text })),
  }),
  "checkpoint:created": object({ checkpointId: text, number: count, trigger: text, name: nullable(text) }),
  "checkpoint:failed": object({ trigger: text, error: failure }),
  "checkpoint:pruned": object({ checkpointIds: listOf(text), freedBytes: optional(count) }),
  "checkpoint:restored": object(restored),
} satisfies Partial<Record<EventName, Shape>>
