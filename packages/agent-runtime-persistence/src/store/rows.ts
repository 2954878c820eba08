/** One function per table from a row to what core calls it. */
import {
  type Checkpoint,
  type CheckpointId,
  type Entry,
  isKeepupError,
  KeepupError,
  type Session,
  type SessionId,
  type SessionLogLine,
  type SessionPhase,
  type SessionStatus,
} from "@ku0/agent-runtime-core"
import { damagedMark } from "../session/session-marks.js"
import { deepestJson, isNestedDeeper } from "./json-depth.js"
import type { SqlRow } from "./sql-driver.js"

export function toSession(row: SqlRow): Session {
  return {
    id: row["id"] as SessionId,
    name: String(row["name"]),
    status: row["status"] as SessionStatus,
    phase: row["phase"] as SessionPhase,
    agentType: String(row["agent_type"]),
    taskDescription: String(row["task_description"]),
    workspacePath: String(row["workspace_path"]),
    createdAt: Number(row["created_at"]),
    updatedAt: Number(row["updated_at"]),
    headSeq: Number(row["head_seq"]),
    messageCount: Number(row["message_count"]),
    checkpointCount: Number(row["checkpoint_count"]),
    parentSessionId: row["parent_session_id"] as SessionId | null,
    forkedFromCheckpointId: row["forked_from_checkpoint_id"] as string | null,
    metadata: parseJson(row["metadata"], `metadata of session ${row["id"]}`) as Record<string, unknown>,
  }
}

/** For lists: one row that can't be read must not hide all others. It is shown, and says so. */
export function toListedSession(row: SqlRow): Session {
  return listed(row, toSession, (metadata) => ({ name: `${row["name"]} (damaged)`, metadata }))
}

/** The same; it counts as pinned, so that nothing of it is taken away. */
export function toListedCheckpoint(row: SqlRow): Checkpoint {
  return listed(row, toCheckpoint, (metadata) => ({ snapshot: null, pinned: 1, metadata }))
}

function listed<Item>(row: SqlRow, read: (row: SqlRow) => Item, instead: (metadata: string) => SqlRow): Item {
  try {
    return read(row)
  } catch (error) {
    if (!isKeepupError(error)) throw error
    return read({
      ...row,
      ...instead(JSON.stringify({ [damagedMark]: `${error.message} ${error.hint ?? ""}`.trim() })),
    })
  }
}

/** `data` is the entry's JSON text, wherever it was kept. */
export function toEntry(row: SqlRow, data: unknown): Entry {
  const parentSeq = row["parent_seq"]
  return {
    sessionId: row["session_id"] as SessionId,
    seq: Number(row["seq"]),
    type: String(row["type"]),
    version: Number(row["version"]),
    data: parseJson(data, `entry ${row["seq"]} of session ${row["session_id"]}`),
    createdAt: Number(row["created_at"]),
    messageIndex: Number(row["message_index"]),
    parent: parentSeq === null ? null : { sessionId: row["parent_session_id"] as SessionId, seq: Number(parentSeq) },
  }
}

export function toCheckpoint(row: SqlRow): Checkpoint {
  const what = `checkpoint ${row["id"]}`
  return {
    id: row["id"] as CheckpointId,
    number: Number(row["number"]),
    name: row["name"] as string | null,
    note: row["note"] as string | null,
    trigger: row["trigger_event"] as Checkpoint["trigger"],
    sessionId: row["session_id"] as SessionId,
    entrySeq: Number(row["entry_seq"]),
    messageIndex: Number(row["message_index"]),
    createdAt: Number(row["created_at"]),
    pinned: row["pinned"] === 1,
    sizeBytes: Number(row["size_bytes"]),
    host: String(row["host"]),
    snapshot: row["snapshot"] === null ? null : (parseJson(row["snapshot"], what) as Checkpoint["snapshot"]),
    git:
      row["git_uncommitted"] === null
        ? null
        : {
            branch: row["git_branch"] as string | null,
            head: row["git_head"] as string | null,
            uncommitted: Number(row["git_uncommitted"]),
            untracked: Number(row["git_untracked"]),
            operation: row["git_operation"] as string | null,
          },
    metadata: parseJson(row["metadata"], what) as Record<string, unknown>,
  }
}

export function toSessionLogLine(row: SqlRow): SessionLogLine {
  return {
    id: Number(row["id"]),
    sessionId: row["session_id"] as SessionId,
    level: row["level"] as SessionLogLine["level"],
    message: String(row["message"]),
    createdAt: Number(row["created_at"]),
  }
}

export function parseJson(text: unknown, what: string): unknown {
  try {
    return JSON.parse(text as string)
  } catch (cause) {
    throw new KeepupError("CORRUPT", `The ${what} is not JSON.`, {
      hint: "Run `keepup doctor` to see what is affected; nothing was changed.",
      cause,
    })
  }
}

/** What `JSON.parse` gives back, or `INVALID_INPUT` for what has no JSON form or is nested deeper than may be kept. */
export function toJson(value: unknown, what: string): string {
  let text: string | undefined
  let why = ""
  let cause: unknown
  try {
    text = JSON.stringify(value)
  } catch (error) {
    why = ` (${(error as Error).message})`
    cause = error
  }
  if (text === undefined) {
    throw new KeepupError("INVALID_INPUT", `The ${what} has no JSON form${why}.`, {
      hint: "Nothing was kept. Hand over plain objects, lists, texts and numbers.",
      cause,
    })
  }
  if (!isNestedDeeper(text, deepestJson)) return text
  throw new KeepupError("INVALID_INPUT", `The ${what} is nested more than ${deepestJson} levels deep.`, {
    hint: "Nothing was kept. Hand over something flatter, or the whole as a text.",
  })
}

/** Text as both databases can hold it: no NUL, no half surrogates. */
export function plainText(text: string): string {
  return text.replace(/\p{Surrogate}|\0/gu, "\uFFFD")
}
