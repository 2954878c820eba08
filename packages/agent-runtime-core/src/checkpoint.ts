/** A place one can return to. */
import type { CheckpointId, SessionId } from "./ids.js"
import type { SkippedPath } from "./snapshot.js"

export const checkpointTriggers = [
  "run.ended",
  "turn.ended",
  "phase.ended",
  "negotiation.resolved",
  "tool.ended",
  "task.completed",
  "agent.spawned",
  "interval",
  "manual",
  "before-restore",
  "session.started",
  "exit",
] as const

/** Why a checkpoint was taken. */
export type CheckpointTrigger = (typeof checkpointTriggers)[number]

/** The part of a checkpoint that says which files it holds. */
export interface CheckpointSnapshot {
  readonly commit: string
  readonly filesChanged: number
  readonly insertions: number
  readonly deletions: number
  readonly skipped: readonly SkippedPath[]
}

/** What the workspace's own git repository looked like. */
export interface GitFacts {
  readonly branch: string | null
  readonly head: string | null
  readonly uncommitted: number
  readonly untracked: number
  /** A merge, rebase, cherry-pick, revert or bisect in progress. */
  readonly operation: string | null
}

export interface Checkpoint {
  readonly id: CheckpointId
  readonly number: number
  readonly name: string | null
  readonly note: string | null
  readonly trigger: CheckpointTrigger
  readonly sessionId: SessionId
  /** `seq` of the entry it points to; its state is the fold of the history up to there. */
  readonly entrySeq: number
  readonly messageIndex: number
  readonly createdAt: number
  readonly pinned: boolean
  readonly sizeBytes: number
  /** The host whose disk holds the snapshot. */
  readonly host: string
  readonly snapshot: CheckpointSnapshot | null
  readonly git: GitFacts | null
  readonly metadata: Readonly<Record<string, unknown>>
}
