// file-size: one table of every question and answer between the page, other programs and the server
/**
 * What the server can be asked and what it answers. The page imports types only (`import type`), so that it does not
 * carry the schemas; the server parses every question with them, and a test holds every answer against them.
 *
 * Everyone sends `Authorization: Bearer TOKEN`, also for streams: those are read with `fetch`, because `EventSource`
 * can't send a header. The page gets its token once: it is opened as `/#code=CODE`, takes the code out of the address,
 * asks `POST /api/login {code}` and keeps the token of the answer in `sessionStorage`, which belongs to this host and
 * port alone (a cookie would be sent to every port of the host). Without a code it asks the person for the token.
 *
 * `{sid}` is a session's id or a part of it of four or more characters; `{cid}` a checkpoint's id or a part of it, its
 * number, its name, or `latest`. Answers are `{ok: true, …}`; a failure is `{ok: false, error}` with the status of its code.
 * Lists are bounded: `limit` is at most 1,000, and what follows is asked for with `before`, `after` or `offset`.
 */
import { checkpointTriggers, longestSessionName, sessionStatuses } from "@ku0/agent-runtime-core"
import { z } from "zod"

const text = z.string()
const count = z.number().int().nonnegative()
/** Milliseconds since 1970. */
const time = z.number().int()
const facts = z.record(z.string(), z.unknown())
const numberInQuery = (least: number, most: number) => z.coerce.number().int().min(least).max(most)
const limit = numberInQuery(1, 1_000).optional()

// ---- things ----

export const errorCodeSchema = z.enum([
  "INTERNAL",
  "INVALID_INPUT",
  "NOT_FOUND",
  "SESSION_RUNNING",
  "CONFLICT",
  "CORRUPT",
  "STORE_TOO_NEW",
  "UNAVAILABLE",
  "UNAUTHORIZED",
  "CANCELLED",
])

/** `details` of `SESSION_RUNNING` is a `Holder` as far as it is known. */
export const failureSchema = z.object({
  ok: z.literal(false),
  error: z.object({ code: errorCodeSchema, message: text, hint: text.optional(), details: facts.optional() }),
})

/** The process that has a lease: who changes a session or a workspace now, and since when. */
export const holderSchema = z.object({ purpose: text, pid: z.number().int(), host: text, since: time })

/** The running guard. Either one makes restore, undo and delete answer `SESSION_RUNNING`. */
export const guardSchema = z.object({ session: holderSchema.nullable(), workspace: holderSchema.nullable() })

export const sessionSchema = z.object({
  id: text,
  name: text,
  status: z.enum(sessionStatuses),
  agentType: text,
  taskDescription: text,
  workspacePath: text,
  createdAt: time,
  updatedAt: time,
  messageCount: count,
  checkpointCount: count,
  parentSessionId: text.nullable(),
  forkedFromCheckpointId: text.nullable(),
  metadata: facts,
})

/** A session in a list: with who holds it. */
export const listedSessionSchema = sessionSchema.extend({
  /** `seq` of the newest entry. */
  headSeq: count,
  holder: holderSchema.nullable(),
})

export const skippedSchema = z.object({
  path: text,
  reason: z.enum(["too-large", "unreadable", "vanished", "changing", "special", "time-budget", "outside", "ignored"]),
})

export const gitFactsSchema = z.object({
  branch: text.nullable(),
  head: text.nullable(),
  uncommitted: count,
  untracked: count,
  operation: text.nullable(),
})

export const checkpointSchema = z.object({
  id: text,
  number: count,
  name: text.nullable(),
  note: text.nullable(),
  trigger: z.enum(checkpointTriggers),
  sessionId: text,
  messageIndex: count,
  createdAt: time,
  pinned: z.boolean(),
  sizeBytes: count,
  snapshot: z
    .object({
      commit: text,
      filesChanged: count,
      insertions: count,
      deletions: count,
      /** What the checkpoint does not hold, and why. */
      skipped: z.array(skippedSchema),
    })
    .nullable(),
  git: gitFactsSchema.nullable(),
  metadata: facts,
})

export const entryRefSchema = z.object({ sessionId: text, seq: count })

export const entrySchema = z.object({
  sessionId: text,
  seq: count,
  type: text,
  createdAt: time,
  messageIndex: count,
  /** Where history goes on from, if not at the entry before: a branch, a rewind, a restore. */
  parent: entryRefSchema.nullable(),
  /** By `type`, as core's `EventData`; of unknown events whatever they carry. Over 256 KB it is `{tooLarge: true, sizeBytes}`. */
  data: z.unknown(),
})

/** `message` is core's `Message`; a content over 256 KB is cut, and `cutBytes` says by how much. */
export const listedMessageSchema = z.object({
  index: count,
  entry: entryRefSchema,
  createdAt: time,
  message: z.looseObject({ role: text, content: text }),
  cutBytes: count.optional(),
})

export const logLineSchema = z.object({
  id: z.number().int(),
  level: z.enum(["debug", "info", "warn", "error"]),
  message: text,
  createdAt: time,
})

export const artifactSchema = z.object({
  id: text,
  sessionId: text.nullable(),
  type: text,
  title: text,
  mediaType: text,
  sizeBytes: count,
  hash: text,
  createdAt: time,
  /** Why it is kept apart, if its payload did not fit its schema. */
  quarantine: z.array(text).nullable(),
})

export const fileChangeSchema = z.object({
  path: text,
  status: z.enum(["added", "modified", "deleted", "renamed", "mode", "type"]),
  /** The old path of a renamed file. */
  from: text.optional(),
  insertions: count,
  deletions: count,
  binary: z.boolean(),
})

export const restoreSchema = z.object({
  /** Null in a dry run, and for a branch that leaves the files alone: there is nothing to undo. */
  id: text.nullable(),
  checkpointId: text,
  safetyCheckpointId: text.nullable(),
  sessionId: text,
  mode: z.enum(["files", "conversation", "both"]),
})

export const planSchema = z.object({
  write: z.array(text),
  delete: z.array(text),
  untouched: count,
  notCaptured: z.array(skippedSchema),
})

// ---- parameters ----

export const sessionParamsSchema = z.object({ sid: text.min(1).max(200) })
export const checkpointParamsSchema = sessionParamsSchema.extend({ cid: text.min(1).max(200) })
/** The path within the workspace, its segments encoded as in any address. */
export const filePathSchema = text.min(1).max(4_096)

// ---- GET /api/health · POST /api/login · POST /api/codes ----

export const healthSchema = z.object({
  ok: z.literal(true),
  version: text,
  pid: z.number().int(),
  host: text,
  startedAt: time,
  /** The workspace the server was started in: the page's first choice. */
  workspacePath: text,
})

/** The only routes without a token are login and proof. A code is good once, for ten minutes. */
export const loginBodySchema = z.strictObject({ code: text.min(1).max(200) })
export const loginSchema = z.object({ ok: z.literal(true), token: text })
/** POST /api/proof: shows who wants to send the token that this server, on this port, has it too. */
export const proofBodySchema = z.strictObject({ challenge: text.min(16).max(200) })
export const proofSchema = z.object({ ok: z.literal(true), proof: text })
/** A fresh code, for one more tab or browser: `keepup serve` asks for it when a server runs already. */
export const codeSchema = z.object({ ok: z.literal(true), code: text, expiresAt: time })

// ---- sessions ----

/** GET /api/sessions: newest first; `before` is the id of the last session one has. `q` looks in name, task, workspace and id. */
export const listSessionsQuerySchema = z.object({
  status: z.enum(sessionStatuses).optional(),
  workspace: text.min(1).max(4_096).optional(),
  q: text.max(200).optional(),
  limit,
  before: text.max(200).optional(),
})
export const sessionListSchema = z.object({
  ok: z.literal(true),
  sessions: z.array(listedSessionSchema),
  /** For `before`; null when there are no more. */
  next: text.nullable(),
})

/** GET /api/workspaces: those with sessions, the one changed last first. */
export const workspaceListSchema = z.object({
  ok: z.literal(true),
  workspaces: z.array(z.object({ path: text, sessionCount: count, updatedAt: time })),
})

/** GET /api/sessions/{sid} */
export const sessionDetailSchema = z.object({
  ok: z.literal(true),
  session: sessionSchema,
  headSeq: count,
  guard: guardSchema,
  /** The newest ones, oldest first, as `keepup session show` has them; the graph has all. */
  checkpoints: z.array(checkpointSchema),
  /** Newest first. */
  logs: z.array(logLineSchema),
  /** "Stale file context detected: PATH. Reload before editing." Newest first, of the last 1,000 entries. */
  stale: z.array(z.object({ path: text, seq: count, createdAt: time })),
  /** Checkpoints keepup could not take since the newest one it has. Newest first, of the last 1,000 entries. */
  failed: z.array(z.object({ trigger: text, message: text, seq: count, createdAt: time })),
  /** The restore in this workspace that can be taken back now. */
  lastRestore: restoreSchema.extend({ createdAt: time }).nullable(),
})

/** PATCH /api/sessions/{sid}: a new name. Answers like DELETE and POST …/pause with the session. */
export const renameBodySchema = z.strictObject({ name: text.trim().min(1).max(longestSessionName) })
export const sessionAnswerSchema = z.object({ ok: z.literal(true), session: sessionSchema })

/** GET /api/sessions/{sid}/workspace: the folder as it is now. Starts git, so ask only when it is shown. */
export const workspaceNowSchema = z.object({
  ok: z.literal(true),
  path: text,
  isThere: z.boolean(),
  git: gitFactsSchema.nullable(),
  guard: guardSchema,
})

/** GET /api/sessions/{sid}/graph: the session with all it branched from and all that branched from it. */
export const graphQuerySchema = z.object({ limit: numberInQuery(1, 5_000).optional() })
export const graphNodeSchema = z.object({
  id: text,
  sessionId: text,
  number: count,
  name: text.nullable(),
  trigger: z.enum(checkpointTriggers),
  entrySeq: count,
  messageIndex: count,
  createdAt: time,
  pinned: z.boolean(),
  hasFiles: z.boolean(),
  filesChanged: count,
  /** The checkpoint before it in its own history, also across branches and restores; null for the first one. */
  parentId: text.nullable(),
})
export const graphSchema = z.object({
  ok: z.literal(true),
  /** Oldest first; the first one is the root. */
  sessions: z.array(
    listedSessionSchema.extend({
      /** The entry it goes on from. */
      origin: entryRefSchema.nullable(),
      /** The checkpoint it stands on: the newest in the history that leads to its head; of a fresh branch, its origin. */
      headCheckpointId: text.nullable(),
      /** How often it was restored within itself: places where its own history goes on from elsewhere. */
      jumps: z.array(z.object({ seq: count, to: entryRefSchema })),
    }),
  ),
  /** Oldest first. When there are more than `limit` (2,000 unless told), the newest ones, and `isCut` is true. */
  nodes: z.array(graphNodeSchema),
  isCut: z.boolean(),
})

/**
 * GET /api/sessions/{sid}/messages: by index, 1 is the first, along the history to the head or to a checkpoint.
 * `from` is the first index wanted; without it, the last `limit` (50 unless told, 200 at most). `around` centres on an index.
 */
export const messagesQuerySchema = z.object({
  checkpoint: text.min(1).max(200).optional(),
  from: numberInQuery(1, 1e9).optional(),
  around: numberInQuery(1, 1e9).optional(),
  limit: numberInQuery(1, 200).optional(),
})
export const messageListSchema = z.object({
  ok: z.literal(true),
  /** How many messages the history has. */
  total: count,
  messages: z.array(listedMessageSchema),
})

/** GET /api/sessions/{sid}/entries: its own entries by `seq`. `after` pages forward, `before` backward (newest first). */
export const entriesQuerySchema = z.object({
  after: numberInQuery(0, 1e15).optional(),
  before: numberInQuery(0, 1e15).optional(),
  limit,
})
export const entryListSchema = z.object({ ok: z.literal(true), entries: z.array(entrySchema), headSeq: count })

/**
 * GET /api/sessions/{sid}/events: a stream, `text/event-stream`. Begins after `Last-Event-ID` or `?after`, else at the
 * head. Frames:
 *   `id: SEQ` `event: entry`    data: Entry. Every one, once, in order.
 *   `event: session`            data: SessionNow, first of all and whenever it changes. No id.
 *   `event: gone`               data: {}. The session was deleted; the stream ends.
 *   `: ` a comment every 15 s, so that a dead connection is noticed.
 * When the stream ends or breaks, ask again with the last id seen: nothing is missed, nothing comes twice.
 */
export const eventsQuerySchema = z.object({ after: numberInQuery(0, 1e15).optional() })
export const sessionNowSchema = z.object({ session: sessionSchema, headSeq: count, guard: guardSchema })

/**
 * GET /api/events: the same over all sessions, for the list. Frames:
 *   `event: ready`      data: {}. From here on no change is missed: load the list now (also after a reconnect).
 *   `event: session`    data: ListedSession, when it was made or changed.
 *   `event: deleted`    data: {id}.
 */
export const sessionDeletedSchema = z.object({ id: text })

/** GET /api/sessions/{sid}/logs: newest first; `before` is a line's id. */
export const logsQuerySchema = z.object({ limit, before: numberInQuery(0, 1e15).optional() })
export const logListSchema = z.object({ ok: z.literal(true), logs: z.array(logLineSchema) })

/** GET /api/sessions/{sid}/artifacts: newest first; `before` is an artifact's id. */
export const artifactsQuerySchema = z.object({ limit, before: text.max(500).optional() })
export const artifactListSchema = z.object({
  ok: z.literal(true),
  artifacts: z.array(artifactSchema),
  next: text.nullable(),
})
/** GET /api/artifacts/{aid} and …/{aid}/content; the content comes as bytes, text and images with their type. */
export const artifactParamsSchema = z.object({ aid: text.min(1).max(500) })
export const artifactAnswerSchema = z.object({ ok: z.literal(true), artifact: artifactSchema })

// ---- checkpoints ----

/** GET /api/sessions/{sid}/checkpoints: the newest `limit` (1,000 unless told), oldest first; `before` is a number. */
export const checkpointsQuerySchema = z.object({ limit, before: numberInQuery(1, 1e9).optional() })
export const checkpointListSchema = z.object({
  ok: z.literal(true),
  session: sessionSchema,
  checkpoints: z.array(checkpointSchema),
  /** For `before`; null when there are no older ones. */
  next: count.nullable(),
})

/** POST /api/sessions/{sid}/checkpoints */
export const createCheckpointBodySchema = z.strictObject({
  name: text.trim().min(1).max(200).optional(),
  note: text.max(10_000).optional(),
  state: facts.optional(),
})
export const checkpointAnswerSchema = z.object({ ok: z.literal(true), checkpoint: checkpointSchema })

/** GET …/{cid} */
export const checkpointDetailSchema = checkpointAnswerSchema.extend({
  session: sessionSchema,
  entrySeq: count,
  /** As in the graph. `GET …/{parentId}/diff?to={cid}` is what changed since. */
  parentId: text.nullable(),
  /** False when its files are on another machine or gone; `filesProblem` says it in words. */
  hasFiles: z.boolean(),
  filesProblem: text.nullable(),
})

/** PATCH …/{cid} */
export const changeCheckpointBodySchema = z.strictObject({ pinned: z.boolean() })

/** GET …/{cid}/state: what the agent handed over, key by key, and how it changed since the parent. */
export const stateListSchema = z.object({
  ok: z.literal(true),
  keys: z.array(z.object({ key: text, change: z.enum(["same", "added", "changed", "removed"]) })),
})
/** GET …/{cid}/state/{key}: one value, and the parent's. One over 1 MB is left out: `isTooLarge`. */
export const stateParamsSchema = checkpointParamsSchema.extend({ key: text.min(1).max(1_000) })
const stateValue = z.object({ value: z.unknown(), sizeBytes: count, isTooLarge: z.boolean() }).nullable()
export const stateValueSchema = z.object({ ok: z.literal(true), key: text, now: stateValue, before: stateValue })

/**
 * GET …/{cid}/diff: the list of changed files from this checkpoint to `to`: a checkpoint of this session by any
 * reference, one of another session by its id, or the workspace as it is now when `to` is not given.
 * `offset` pages (`limit` 500 unless told). A page after the first belongs to the same look: send its `look` along.
 */
export const diffQuerySchema = z.object({
  to: text.min(1).max(200).optional(),
  /** Only paths that hold this text. */
  q: text.max(200).optional(),
  offset: numberInQuery(0, 1e9).optional(),
  limit,
  look: text.max(100).optional(),
})
export const diffListSchema = z.object({
  ok: z.literal(true),
  files: z.array(fileChangeSchema),
  /** Of all files that match, not only of this page. */
  total: count,
  insertions: count,
  deletions: count,
  look: text,
})
/** GET …/{cid}/diff/{path}: one file of it as a patch git can read. Over 1 MB it is cut at a line and `isCut` is true. */
export const diffFileQuerySchema = z.object({ to: text.min(1).max(200).optional(), from: text.max(4_096).optional() })
export const diffFileSchema = z.object({ ok: z.literal(true), path: text, patch: text, isCut: z.boolean() })

/**
 * GET …/{cid}/files: the files as of then. With `folder` (empty for the top) what lies directly in it, folders first;
 * without, all paths. `after` is the last path one has.
 */
export const filesQuerySchema = z.object({
  folder: text.max(4_096).optional(),
  q: text.max(200).optional(),
  after: text.max(4_096).optional(),
  limit,
})
export const listedFileSchema = z.object({
  path: text,
  kind: z.enum(["file", "program", "link", "folder"]),
})
export const fileListSchema = z.object({
  ok: z.literal(true),
  files: z.array(listedFileSchema),
  total: count,
  /** For `after`; null when there are no more. */
  next: text.nullable(),
})
/**
 * GET …/{cid}/files/{path}: the bytes of one file as of then. `Content-Type` is `text/plain; charset=utf-8`, an image's
 * type, or `application/octet-stream`; of a link it is where the link points, never what lies there. `X-Keepup-Kind`
 * says which kind it is.
 */

/** POST …/{cid}/restore. With `dryRun` nothing is changed and `applied` is false. `branch`: as a new session, named so or as usual. */
export const restoreBodySchema = z.strictObject({
  mode: z.enum(["files", "conversation", "both"]).optional(),
  /** Only these files and folders, relative to the workspace. */
  paths: z.array(filePathSchema).min(1).max(10_000).optional(),
  branch: z.union([text.trim().min(1).max(500), z.boolean()]).optional(),
  dryRun: z.boolean().optional(),
  /** At most so many paths in each list of the plan; `counts` tells how many there are. All unless told. */
  planLimit: count.max(100_000).optional(),
})
export const restoreAnswerSchema = z.object({
  ok: z.literal(true),
  restore: restoreSchema,
  plan: planSchema,
  counts: z.object({ write: count, delete: count, notCaptured: count }),
  applied: z.boolean(),
  /** Dry run only: messages that leave the conversation (the log keeps them). */
  messagesHidden: count.optional(),
  /** Dry run only: paths of the plan that changed since the newest checkpoint, by a person or another program. */
  changedSince: z.array(text).optional(),
  /** The new session of a branch. */
  session: sessionSchema.optional(),
})
/** POST /api/restores/{id}/undo answers like a restore. */
export const undoParamsSchema = z.object({ id: text.min(1).max(200) })

/**
 * POST …/{cid}/replay: nothing is executed. `show` answers a page of the entries behind the checkpoint up to `to` (the
 * head unless told), by position: `offset` 0 is the first one, so that a scrubber can go anywhere. `verify` proves
 * that the entries lead to the recorded state.
 */
export const replayBodySchema = z.strictObject({
  to: text.min(1).max(200).optional(),
  mode: z.enum(["show", "verify"]).default("show"),
  offset: count.max(1e9).optional(),
  limit: count.min(1).max(1_000).optional(),
})
export const replayAnswerSchema = z.object({
  ok: z.literal(true),
  mode: z.enum(["show", "verify"]),
  /** How many entries the replay has. */
  total: count,
  /** When its first and its last entry were recorded. */
  startedAt: time.nullable(),
  endedAt: time.nullable(),
  offset: count,
  entries: z.array(entrySchema),
  /** Of `verify`: what was compared, and what does not fit (empty when all is well). */
  verified: z
    .object({ entries: count, messages: count, toolCalls: count, checkpoints: count, problems: z.array(text) })
    .optional(),
})

// ---- compare ----

/** GET /api/compare: `from` and `to` are ids of checkpoints or sessions; a session stands for its head. */
export const compareQuerySchema = z.object({ from: text.min(1).max(200), to: text.min(1).max(200) })
const sideSchema = z.object({
  session: sessionSchema,
  /** The checkpoint, or the one the session stands on, as `headCheckpointId` in the graph. */
  checkpoint: checkpointSchema.nullable(),
  messageCount: count,
})
export const compareSchema = z.object({
  ok: z.literal(true),
  from: sideSchema,
  to: sideSchema,
  /** The last entry both histories have, and how many messages they share up to it. */
  common: z.object({ entry: entryRefSchema, messageIndex: count, checkpointId: text.nullable() }).nullable(),
  /** State keys that differ. */
  state: z.array(z.object({ key: text, change: z.enum(["added", "changed", "removed"]) })),
  /** Whether `…/diff` can compare their files: same workspace, both with files on this machine. */
  canDiff: z.boolean(),
})

// ---- types ----

export type Failure = z.infer<typeof failureSchema>
export type Holder = z.infer<typeof holderSchema>
export type Guard = z.infer<typeof guardSchema>
export type SessionJson = z.infer<typeof sessionSchema>
export type ListedSession = z.infer<typeof listedSessionSchema>
export type CheckpointJson = z.infer<typeof checkpointSchema>
export type SkippedJson = z.infer<typeof skippedSchema>
export type GitFactsJson = z.infer<typeof gitFactsSchema>
export type EntryJson = z.infer<typeof entrySchema>
export type ListedMessage = z.infer<typeof listedMessageSchema>
export type LogLine = z.infer<typeof logLineSchema>
export type ArtifactJson = z.infer<typeof artifactSchema>
export type FileChangeJson = z.infer<typeof fileChangeSchema>
export type RestoreJson = z.infer<typeof restoreSchema>
export type PlanJson = z.infer<typeof planSchema>
export type Health = z.infer<typeof healthSchema>
export type Login = z.infer<typeof loginSchema>
export type Code = z.infer<typeof codeSchema>
export type ListSessionsQuery = z.input<typeof listSessionsQuerySchema>
export type SessionList = z.infer<typeof sessionListSchema>
export type WorkspaceList = z.infer<typeof workspaceListSchema>
export type SessionDetail = z.infer<typeof sessionDetailSchema>
export type SessionAnswer = z.infer<typeof sessionAnswerSchema>
export type WorkspaceNow = z.infer<typeof workspaceNowSchema>
export type Graph = z.infer<typeof graphSchema>
export type GraphNode = z.infer<typeof graphNodeSchema>
export type GraphSession = Graph["sessions"][number]
export type MessageList = z.infer<typeof messageListSchema>
export type EntryList = z.infer<typeof entryListSchema>
export type SessionNow = z.infer<typeof sessionNowSchema>
export type SessionDeleted = z.infer<typeof sessionDeletedSchema>
export type LogList = z.infer<typeof logListSchema>
export type ArtifactList = z.infer<typeof artifactListSchema>
export type ArtifactAnswer = z.infer<typeof artifactAnswerSchema>
export type CheckpointList = z.infer<typeof checkpointListSchema>
export type CheckpointAnswer = z.infer<typeof checkpointAnswerSchema>
export type CheckpointDetail = z.infer<typeof checkpointDetailSchema>
export type CreateCheckpointBody = z.infer<typeof createCheckpointBodySchema>
export type StateList = z.infer<typeof stateListSchema>
export type StateValue = z.infer<typeof stateValueSchema>
export type DiffList = z.infer<typeof diffListSchema>
export type DiffFile = z.infer<typeof diffFileSchema>
export type ListedFile = z.infer<typeof listedFileSchema>
export type FileList = z.infer<typeof fileListSchema>
export type RestoreBody = z.infer<typeof restoreBodySchema>
export type RestoreAnswer = z.infer<typeof restoreAnswerSchema>
export type ReplayBody = z.input<typeof replayBodySchema>
export type ReplayAnswer = z.infer<typeof replayAnswerSchema>
export type Compare = z.infer<typeof compareSchema>
