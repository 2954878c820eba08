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
  return readSession(row, wholeNumber)
}

/** Reads a column that holds a whole number; `what` names its row for people. */
type ReadNumber = (row: SqlRow, column: string, what: string) => number

function readSession(row: SqlRow, number: ReadNumber): Session {
  const what = `session ${row["id"]}`
  return {
    id: row["id"] as SessionId,
    name: String(row["name"]),
    status: row["status"] as SessionStatus,
    phase: row["phase"] as SessionPhase,
    agentType: String(row["agent_type"]),
    taskDescription: String(row["task_description"]),
    workspacePath: String(row["workspace_path"]),
    createdAt: number(row, "created_at", what),
    updatedAt: number(row, "updated_at", what),
    headSeq: number(row, "head_seq", what),
    messageCount: number(row, "message_count", what),
    checkpointCount: number(row, "checkpoint_count", what),
    parentSessionId: row["parent_session_id"] as SessionId | null,
    forkedFromCheckpointId: row["forked_from_checkpoint_id"] as string | null,
    metadata: parseJson(row["metadata"], `metadata of ${what}`) as Record<string, unknown>,
  }
}

/** For lists: one row that can't be read must not hide all others. It is shown, and says so. */
export function toListedSession(row: SqlRow): Session {
  return listed(row, readSession, (metadata) => ({ name: `${row["name"]} (damaged)`, metadata }))
}

/** The same; it counts as pinned, so that nothing of it is taken away. */
export function toListedCheckpoint(row: SqlRow): Checkpoint {
  return listed(row, readCheckpoint, (metadata) => ({ snapshot: null, pinned: 1, metadata }))
}

function listed<Item>(
  row: SqlRow,
  read: (row: SqlRow, number: ReadNumber) => Item,
  instead: (metadata: string) => SqlRow,
): Item {
  try {
    return read(row, wholeNumber)
  } catch (error) {
    if (!isKeepupError(error)) throw error
    const metadata = JSON.stringify({ [damagedMark]: `${error.message} ${error.hint ?? ""}`.trim() })
    return read({ ...row, ...instead(metadata) }, wholeNumberOrZero)
  }
}

/** What no writer ever wrote there: it is refused before anyone counts or tells the time with it. */
function wholeNumber(row: SqlRow, column: string, what: string): number {
  const value = Number(row[column])
  if (Number.isSafeInteger(value)) return value
  throw new KeepupError("CORRUPT", `The ${column} of ${what} is not a whole number.`, {
    hint: "Run `keepup doctor` to see what is affected; nothing was changed.",
  })
}

function wholeNumberOrZero(row: SqlRow, column: string): number {
  const value = Number(row[column])
  return Number.isSafeInteger(value) ? value : 0
}

/** `data` is the entry's JSON text, wherever it was kept. */
export function toEntry(row: SqlRow, data: unknown): Entry {
  const parentSeq = row["parent_seq"]
  const what = `entry ${row["seq"]} of session ${row["session_id"]}`
  return {
    sessionId: row["session_id"] as SessionId,
    seq: Number(row["seq"]),
    type: String(row["type"]),
    version: Number(row["version"]),
    data: parseJson(data, what),
    createdAt: wholeNumber(row, "created_at", what),
    messageIndex: Number(row["message_index"]),
    parent: parentSeq === null ? null : { sessionId: row["parent_session_id"] as SessionId, seq: Number(parentSeq) },
  }
}

export function toCheckpoint(row: SqlRow): Checkpoint {
  return readCheckpoint(row, wholeNumber)
}

function readCheckpoint(row: SqlRow, number: ReadNumber): Checkpoint {
  const what = `checkpoint ${row["id"]}`
  return {
    id: row["id"] as CheckpointId,
    number: number(row, "number", what),
    name: row["name"] as string | null,
    note: row["note"] as string | null,
    trigger: row["trigger_event"] as Checkpoint["trigger"],
    sessionId: row["session_id"] as SessionId,
    entrySeq: number(row, "entry_seq", what),
    messageIndex: number(row, "message_index", what),
    createdAt: number(row, "created_at", what),
    pinned: row["pinned"] === 1,
    sizeBytes: number(row, "size_bytes", what),
    host: String(row["host"]),
    snapshot: row["snapshot"] === null ? null : (parseJson(row["snapshot"], what) as Checkpoint["snapshot"]),
    git:
      row["git_uncommitted"] === null
        ? null
        : {
            branch: row["git_branch"] as string | null,
            head: row["git_head"] as string | null,
            uncommitted: number(row, "git_uncommitted", what),
            untracked: number(row, "git_untracked", what),
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
    createdAt: wholeNumberOrZero(row, "created_at"), // one wrong time must not hide all other lines
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
