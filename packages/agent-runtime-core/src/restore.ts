/** A restore on record: what was made the present, and how to take that back. */
import type { CheckpointId, RestoreId, SessionId } from "./ids.js"

/** What a restore brings back. */
export type RestoreMode = "files" | "conversation" | "both"

/** `started` until it is done; a crash in between is settled by the next start. */
export type RestoreStatus = "started" | "applied" | "taken-back" | "undone"

export interface Restore {
  readonly id: RestoreId
  readonly sessionId: SessionId
  readonly workspacePath: string
  readonly checkpointId: CheckpointId
  /** Holds everything as it was before. */
  readonly safetyCheckpointId: CheckpointId
  readonly mode: RestoreMode
  /** Only these files and folders, if not all. */
  readonly paths: readonly string[] | null
  readonly status: RestoreStatus
  /** The restore this one takes back. */
  readonly undoes: RestoreId | null
  readonly host: string
  readonly createdAt: number
}
