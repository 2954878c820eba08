/** What each event carries. Loaded only where events come in from outside; inside, the derived types are trusted. */
import { z } from "zod"

const text = z.string()
const count = z.number().int().nonnegative()
const entryRef = z.object({ sessionId: text, seq: count })
const range = z.object({ from: count, to: count })
const failure = z.object({ code: text, message: text, hint: text.optional() })
const usage = z.object({ inputTokens: count.optional(), outputTokens: count.optional(), cost: z.number().optional() })
const outcome = z.enum(["completed", "failed", "stopped"])
const tags = { summaryParent: text.optional(), truncationParent: text.optional() }
const artifactIds = z.array(text).optional()
const facts = z.record(text, z.unknown())
const choice = z.enum(["skip", "retry", "done", "fail"])
const toolCall = z.object({ id: text, name: text, arguments: z.unknown().optional() })

/** A message as it comes in from outside. */
export const messageSchema = z.discriminatedUnion("role", [
  z.object({ role: z.literal("user"), content: text, artifactIds, ...tags }),
  z.object({ role: z.literal("system"), content: text, ...tags }),
  z.object({ role: z.literal("assistant"), content: text, toolCalls: z.array(toolCall).optional(), ...tags }),
  z.object({
    role: z.literal("tool"),
    callId: text,
    name: text,
    content: text,
    isError: z.boolean().optional(),
    artifactIds,
    ...tags,
  }),
  z.object({ role: z.literal("summary"), content: text, summaryId: text, hides: range, ...tags }),
  z.object({ role: z.literal("truncation"), content: text, truncationId: text, hides: range, ...tags }),
])

/** Event name → schema of its data. Extra keys are kept: events of newer versions and of other agents pass through. */
export const eventSchemas = {
  "session:started": z.looseObject({
    name: text,
    agentType: text,
    taskDescription: text,
    workspacePath: text,
    parent: entryRef.optional(),
    checkpointId: text.optional(),
  }),
  "session:paused": z.looseObject({ reason: text.optional() }),
  "session:resumed": z.looseObject({ checkpointId: text.optional() }),
  "session:ended": z.looseObject({ outcome, reason: text.optional() }),
  "session:interrupted": z.looseObject({ reason: text, holder: text.optional() }),
  "session:recovered": z.looseObject({ inDoubt: z.array(text) }),
  "session:restore-started": z.looseObject({
    restoreId: text,
    checkpointId: text,
    safetyCheckpointId: text.nullable(),
    mode: z.enum(["files", "conversation", "both"]),
    /** Only these, or `null` for all; logs of before don't say. */
    paths: z.array(text).nullable().optional(),
  }),
  "session:restore-failed": z.looseObject({ restoreId: text, error: failure }),
  "run:started": z.looseObject({ runId: text, model: text.optional() }),
  "run:ended": z.looseObject({
    runId: text,
    outcome: text,
    durationMs: z.number().optional(),
    usage: usage.optional(),
    error: failure.optional(),
  }),
  "turn:started": z.looseObject({ runId: text, turn: count }),
  "turn:ended": z.looseObject({
    runId: text,
    turn: count,
    outcome: text,
    usage: usage.optional(),
    error: failure.optional(),
  }),
  "phase:ended": z.looseObject({ phase: text, durationMs: z.number().optional() }),
  "negotiation:resolved": z.looseObject({ section: text.optional(), winner: text.optional() }),
  "agent:spawned": z.looseObject({ agentType: text, sessionId: text.optional(), task: text.optional() }),
  "task:completed": z.looseObject({ taskId: text.optional(), title: text.optional() }),
  "message:added": z.looseObject({ message: messageSchema }),
  "tool:started": z.looseObject({
    callId: text,
    name: text,
    arguments: z.unknown().optional(),
    /** What the tool saw of its targets before it began. */
    facts: facts.optional(),
    /** Set when a call in doubt is run again. */
    choice: choice.optional(),
  }),
  "tool:ended": z.looseObject({
    callId: text,
    name: text,
    /** `paused`: it has no result yet, and goes on where it is when the session is resumed. */
    outcome: z.enum(["ok", "error", "cancelled", "skipped", "paused"]),
    durationMs: z.number().optional(),
    /** Set when a call in doubt was settled without running it again. */
    choice: choice.optional(),
  }),
  "tool:in-doubt": z.looseObject({
    callId: text,
    name: text,
    arguments: z.unknown().optional(),
    /** What is known about it: what the tool sees, and whether that changed since the call began. */
    known: facts.optional(),
  }),
  "state:changed": z.looseObject({
    full: z.boolean(),
    set: z.record(text, text),
    removed: z.array(text),
    settled: z.looseObject({ phase: text }).optional(),
  }),
  "checkpoint:created": z.looseObject({
    checkpointId: text,
    number: count,
    trigger: text,
    name: text.nullable(),
  }),
  "checkpoint:failed": z.looseObject({ trigger: text, error: failure }),
  "checkpoint:pruned": z.looseObject({
    checkpointIds: z.array(text),
    /** In old entries: what the checkpoints once added, of which others may have kept all. Nothing was freed: `gc` does. */
    freedBytes: count.optional(),
  }),
  "checkpoint:restored": z.looseObject({
    restoreId: text,
    checkpointId: text,
    safetyCheckpointId: text.nullable(),
    mode: z.enum(["files", "conversation", "both"]),
  }),
  "history:rewind": z.looseObject({
    reason: text,
    checkpointId: text.optional(),
    messageCount: count,
    removedSummaries: count,
    removedTruncationMarkers: count,
  }),
  "context:file-stale": z.looseObject({
    contextId: text,
    path: text,
    absolutePath: text,
    status: z.literal("stale"),
    recordSource: text,
  }),
  "artifact:emitted": z.looseObject({ artifactId: text, type: text, title: text, hash: text, sizeBytes: count }),
  "artifact:quarantined": z.looseObject({ artifactId: text, type: text, errors: z.array(text) }),
  "message:delta": z.looseObject({ text, turn: count.optional(), attempt: count.optional() }),
  "tool:progress": z.looseObject({ callId: text, text }),
} as const
