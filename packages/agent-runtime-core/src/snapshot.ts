/** The workspace's files at one moment, what differs between two moments, and what a restore would do. */

/** Why a path of the workspace is not in a snapshot. */
export type SkipReason =
  | "too-large"
  | "unreadable"
  | "vanished"
  | "changing"
  | "special"
  | "time-budget"
  | "outside"
  | "ignored"

export interface SkippedPath {
  /** Relative to the workspace; "." stands for all of it. */
  readonly path: string
  readonly reason: SkipReason
}

export interface Snapshot {
  /** The commit in the shadow repository. */
  readonly commit: string
  /** The commit before it in the same workspace, if any. */
  readonly base: string | null
  readonly tree: string
  /** Compared with the base; all counts of a first snapshot are 0. */
  readonly filesChanged: number
  readonly insertions: number
  readonly deletions: number
  readonly skipped: readonly SkippedPath[]
  readonly createdAt: number
  /** `exact`: every file was looked at. `hinted`: only where something was said to have happened. `stopped`: time ran out. */
  readonly scan: "exact" | "hinted" | "stopped"
  /** What it added to the store, in bytes. */
  readonly sizeBytes: number
  /** False while some content still lies only in the user's own repository. */
  readonly owned: boolean
}

export type FileStatus = "added" | "modified" | "deleted" | "renamed" | "mode" | "type"

export interface FileChange {
  readonly path: string
  readonly status: FileStatus
  /** The old path of a renamed file. */
  readonly from?: string
  readonly insertions: number
  readonly deletions: number
  readonly binary: boolean
}

/** What a restore writes, deletes, and leaves alone. Paths are relative to the workspace, with forward slashes. */
export interface RestorePlan {
  readonly write: readonly string[]
  readonly delete: readonly string[]
  /** Number of captured paths that are already as they should be. */
  readonly untouched: number
  readonly notCaptured: readonly SkippedPath[]
}
