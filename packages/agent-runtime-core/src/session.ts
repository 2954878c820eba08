/** A session, its entries, and the states it can be in. */
import type { SessionId } from "./ids.js"

export const sessionStatuses = ["active", "paused", "completed", "failed", "stopped", "interrupted"] as const

/** What people see of a session's state. */
export type SessionStatus = (typeof sessionStatuses)[number]

/** Where a session stands, finer than its status: `active` is idle, running or restoring. */
export type SessionPhase = "idle" | "running" | "restoring" | Exclude<SessionStatus, "active">

/** Characters of a session's name. A longer one is cut when a session is made or imported; renaming to one is refused. */
export const longestSessionName = 500

export interface Session {
  readonly id: SessionId
  readonly name: string
  readonly status: SessionStatus
  readonly phase: SessionPhase
  readonly agentType: string
  readonly taskDescription: string
  readonly workspacePath: string
  readonly createdAt: number
  readonly updatedAt: number
  /** `seq` of the newest entry: the head. */
  readonly headSeq: number
  /** Messages in the history that leads to the head. */
  readonly messageCount: number
  readonly checkpointCount: number
  readonly parentSessionId: SessionId | null
  readonly forkedFromCheckpointId: string | null
  readonly metadata: Readonly<Record<string, unknown>>
}

/** Names one entry of one session. */
export interface EntryRef {
  readonly sessionId: SessionId
  readonly seq: number
}

/** One durable fact in a session's log. */
export interface Entry<Data = unknown> extends EntryRef {
  /** The event's name, `subject:fact`. */
  readonly type: string
  readonly version: number
  readonly data: Data
  readonly createdAt: number
  /** How many messages the history has up to and with this entry. */
  readonly messageIndex: number
  /** Where history continues from, if not at the entry before: a branch, a rewind, a restore. */
  readonly parent: EntryRef | null
}

/** An entry before it has its place in the log. */
export interface EntryDraft {
  readonly type: string
  readonly data: unknown
  readonly version?: number
  readonly createdAt?: number
  readonly parent?: EntryRef
}

export type SessionLogLevel = "debug" | "info" | "warn" | "error"

/** A line of `session_logs`: what keepup has to say about a session, for people. */
export interface SessionLogLine {
  readonly id: number
  readonly sessionId: SessionId
  readonly level: SessionLogLevel
  readonly message: string
  readonly createdAt: number
}
