/**
 * A session in one file: gzip'd JSON lines. The first says what it is, the last counts what came before and holds its
 * SHA-256. In between: sessions, then entries (each after the one it continues from), values before the entry that names
 * them, checkpoints, logs, artifacts, and the objects of the snapshots, children before their parents.
 */
import type { Artifact, Checkpoint, EntryRef, SessionId, SessionLogLevel, SessionStatus } from "@ku0/agent-runtime-core"
import { deepestJson } from "../store/json-depth.js"

export const transferFormat = "keepup-session"
export const transferVersion = 1

export interface HeaderRecord {
  readonly format: typeof transferFormat
  readonly version: number
  readonly createdAt: number
  /** The session the file is about; all others are there because it shares their entries. */
  readonly sessionId: SessionId
  readonly redacted: boolean
  /** Whether the files of the checkpoints are in it. */
  readonly snapshots: boolean
}

export interface SessionRecord {
  readonly record: "session"
  readonly id: SessionId
  readonly name: string
  readonly agentType: string
  readonly taskDescription: string
  readonly status: SessionStatus
  readonly workspacePath: string
  readonly createdAt: number
  readonly updatedAt: number
  /** How many of its entries are in the file: all, or as many as are shared. */
  readonly headSeq: number
  readonly lastCheckpointNumber: number
  readonly parentSessionId: SessionId | null
  readonly forkedFromCheckpointId: string | null
  readonly metadata: Readonly<Record<string, unknown>>
}

export interface EntryRecord {
  readonly record: "entry"
  readonly sessionId: SessionId
  readonly seq: number
  readonly type: string
  readonly version: number
  readonly createdAt: number
  readonly messageIndex: number
  readonly parent: EntryRef | null
  /** Its data, or the hash of the content that holds it. */
  readonly data?: unknown
  readonly dataHash?: string
}

export interface CheckpointRecord extends Omit<Checkpoint, "host"> {
  readonly record: "checkpoint"
}

export interface LogRecord {
  readonly record: "log"
  readonly sessionId: SessionId
  readonly level: SessionLogLevel
  readonly message: string
  readonly createdAt: number
}

export interface ArtifactRecord extends Artifact {
  readonly record: "artifact"
  readonly sessionId: SessionId
}

/** Bytes by their SHA-256: a state, a large entry, an artifact. Chunks follow until the size is reached. */
export interface ContentRecord {
  readonly record: "content"
  readonly hash: string
  readonly sizeBytes: number
}

/** An object of a snapshot by its git id. Chunks follow until the size is reached. */
export interface ObjectRecord {
  readonly record: "object"
  readonly id: string
  readonly type: "blob" | "tree" | "commit"
  readonly sizeBytes: number
}

export type ChunkRecord =
  | { readonly record: "chunk"; readonly text: string }
  | { readonly record: "chunk"; readonly base64: string }

export type DataRecord =
  | SessionRecord
  | EntryRecord
  | CheckpointRecord
  | LogRecord
  | ArtifactRecord
  | ContentRecord
  | ObjectRecord

export type RecordName = DataRecord["record"]
export type TransferCounts = Readonly<Record<RecordName, number>>

export interface EndRecord {
  readonly record: "end"
  readonly counts: TransferCounts
  /** Of every byte before this line. */
  readonly sha256: string
}

export const recordNames: readonly RecordName[] = [
  "session",
  "entry",
  "checkpoint",
  "log",
  "artifact",
  "content",
  "object",
]

export function emptyCounts(): Record<RecordName, number> {
  return { session: 0, entry: 0, checkpoint: 0, log: 0, artifact: 0, content: 0, object: 0 }
}

/** More than any real session has; what is above is refused before it can fill memory or disk. */
export const limits = {
  counts: {
    session: 10_000,
    entry: 20_000_000,
    checkpoint: 1_000_000,
    log: 1_000_000,
    artifact: 200_000,
    content: 2_000_000,
    object: 5_000_000,
  } satisfies TransferCounts,
  lineBytes: 32 << 20,
  contentBytes: 512 * 1024 * 1024,
  /** A folder's list of names, or a commit. */
  treeBytes: 64 << 20,
  /** Arrays and objects inside each other, in a record around what can be kept. */
  depth: deepestJson + 1,
  /** Of a checkpoint, a message, a version: the next ones are numbers that every database and reader can hold too. */
  number: 2 ** 31 - 1,
  /** How far the last number of a checkpoint may be ahead of the entries that are there. */
  numberAhead: 1_000_000_000,
  /** What a checkpoint may say of its size. */
  sizeBytes: 2 ** 40,
  /** Entries whose JSON has more characters are kept as contents. */
  inlineCharacters: 1_000_000,
  chunkBytes: 192 * 1024,
} as const

/** How many bytes a file of this size may unfold to, unless the caller allows more. */
export function defaultMaxBytes(fileBytes: number): number {
  const gibibyte = 2 ** 30
  return Math.min(16 * gibibyte, gibibyte + 200 * fileBytes)
}
