/** The ports: what keepup needs of a store. Persistence implements them; everything else is handed them. */
import type { Artifact } from "./artifact.js"
import type { Checkpoint, CheckpointSnapshot, CheckpointTrigger, GitFacts } from "./checkpoint.js"
import type { SessionState } from "./history.js"
import type { CheckpointId, SessionId } from "./ids.js"
import type { Message } from "./messages.js"
import type { Entry, EntryDraft, EntryRef, Session, SessionLogLevel, SessionLogLine, SessionStatus } from "./session.js"

/** The right to change a session or a workspace now. */
export interface Lease {
  /** `session:ID` or `workspace:PATH`. */
  readonly resource: string
  /** Grows with every change of holder; a write with an older number is refused. */
  readonly number: number
  readonly holder: LeaseHolder
}

export interface LeaseHolder {
  /** Unique to one taking of the lease. */
  readonly id: string
  readonly host: string
  readonly pid: number
  /** When the process started, as the system tells it: a reused pid has another one. */
  readonly processStart: string
  /** What the holder does, for people: `run`, `restore`. */
  readonly purpose: string
  readonly acquiredAt: number
}

export interface CreateSessionOptions {
  readonly workspacePath: string
  readonly name?: string
  readonly agentType?: string
  readonly taskDescription?: string
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Makes the session a branch: its history continues from this entry. */
  readonly parent?: EntryRef
  readonly forkedFromCheckpointId?: CheckpointId
}

export interface ListSessionsOptions {
  readonly status?: SessionStatus | readonly SessionStatus[]
  readonly workspacePath?: string
  /** Words that all must occur in its name, task, workspace, agent or id. */
  readonly search?: string
  /** At most this many, 50 unless told, 1,000 at most. */
  readonly limit?: number
  /** Only sessions made before this one. */
  readonly before?: SessionId
}

export interface SessionStore {
  create(options: CreateSessionOptions): Promise<Session>
  get(id: SessionId): Promise<Session>
  find(id: SessionId): Promise<Session | undefined>
  /** A session by id or by a unique part of it, of four or more characters. */
  resolve(reference: string): Promise<Session>
  /** Newest first. */
  list(options?: ListSessionsOptions): Promise<Session[]>
  rename(id: SessionId, name: string): Promise<Session>
  /** Merges keys into the metadata; `undefined` removes one. */
  updateMetadata(id: SessionId, change: Readonly<Record<string, unknown>>): Promise<Session>
  /** Takes the session away. Its entries stay as long as a branch shares them. */
  delete(id: SessionId): Promise<void>
  addLog(id: SessionId, level: SessionLogLevel, message: string): Promise<void>
  /** Newest first. */
  listLogs(id: SessionId, options?: { limit?: number; before?: number }): Promise<SessionLogLine[]>
}

export interface AppendOptions {
  /** Where the first entry must stand. Appending the same entries there again is accepted, other ones are a `CONFLICT`. */
  readonly at?: number
  /** The lease under which the caller writes. Without one, a live lease of someone else refuses the append. */
  readonly lease?: Lease
  /** State of the same step, handed over in the same transaction, as an entry behind the others. */
  readonly state?: Readonly<Record<string, unknown>>
}

export interface ReadOptions {
  /** Only entries of these types. */
  readonly types?: readonly string[]
  readonly after?: number
  readonly before?: number
  readonly limit?: number
  readonly direction?: "forward" | "backward"
}

export interface SessionLog {
  /** Appends in one transaction. When it returns, the entries are on disk. */
  append(sessionId: SessionId, drafts: readonly EntryDraft[], options?: AppendOptions): Promise<Entry[]>
  /** A session's own entries by `seq`, those it shares with its parent not included. */
  read(sessionId: SessionId, options?: ReadOptions): Promise<Entry[]>
  head(sessionId: SessionId): Promise<EntryRef>
  /** The history that leads to an entry, oldest first, in pages, across branches. */
  history(to: EntryRef, options?: { types?: readonly string[] }): AsyncIterable<Entry>
  /** The newest messages of a history, oldest of them first. The cost does not grow with the history. */
  lastMessages(to: EntryRef, count: number): Promise<{ entry: EntryRef; index: number; message: Message }[]>
  fold(to: EntryRef): Promise<SessionState>
  /** New entries as they are appended, by this or another process, until the signal aborts. */
  tail(sessionId: SessionId, options: { after: number; signal: AbortSignal; pollMs?: number }): AsyncIterable<Entry>
}

export interface CreateCheckpointOptions {
  readonly sessionId: SessionId
  readonly trigger: CheckpointTrigger
  readonly id?: CheckpointId
  readonly name?: string
  readonly note?: string
  readonly snapshot?: CheckpointSnapshot | null
  readonly git?: GitFacts | null
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Bytes its snapshot added; the state's are counted here. */
  readonly sizeBytes?: number
  /** Entries of the same step: appended first, in the same transaction. */
  readonly entries?: readonly EntryDraft[]
  /** State of the same step: handed over in the same transaction. */
  readonly state?: Readonly<Record<string, unknown>>
  readonly lease?: Lease
}

export interface CheckpointStore {
  /** One record: entries, state, row and `checkpoint:created`, all or nothing. */
  create(options: CreateCheckpointOptions): Promise<Checkpoint>
  get(id: CheckpointId): Promise<Checkpoint>
  find(id: CheckpointId): Promise<Checkpoint | undefined>
  /** `#3`, a name, `latest`, an id, or a unique part of one. */
  resolve(sessionId: SessionId, reference: string): Promise<Checkpoint>
  /** Newest first. */
  list(sessionId: SessionId, options?: { limit?: number; before?: number }): Promise<Checkpoint[]>
  setPinned(id: CheckpointId, pinned: boolean): Promise<Checkpoint>
  /** Removes the records and says so in the log, which keeps its entries; numbers are not used again. */
  delete(ids: readonly CheckpointId[], options?: { lease?: Lease }): Promise<number>
}

export interface TakeLeaseOptions {
  /** What it is taken for, shown to whoever is refused: `run`, `restore`. */
  readonly purpose: string
  /** How a refusal begins, in words of the caller. */
  readonly refusal?: string
}

export interface LeaseStore {
  /** Takes the lease or throws `SESSION_RUNNING` with the holder in `details`. A dead holder is replaced. */
  take(resource: string, options: TakeLeaseOptions): Promise<HeldLease>
  /** The live holder, if any. */
  find(resource: string): Promise<Lease | undefined>
}

export interface HeldLease extends Lease {
  /** Aborts when the lease is lost: someone else took it after we were silent for too long. */
  readonly lost: AbortSignal
  /** Gives it back. Safe to call twice. */
  release(): Promise<void>
}

export interface StateStore {
  /** Hands over state: keys given replace what was there, `undefined` removes a key, the others stay. */
  put(
    sessionId: SessionId,
    change: Readonly<Record<string, unknown>>,
    options?: AppendOptions,
  ): Promise<{ changed: string[]; entry: EntryRef | undefined }>
  /** All state at an entry. */
  get(at: EntryRef): Promise<Record<string, unknown>>
  /** State key → hash of its value at an entry. */
  keys(at: EntryRef): Promise<Record<string, string>>
}

export interface ArtifactStore {
  /**
   * Keeps content and facts, the content first; when it returns, both are on disk. Keeping the same artifact again (its
   * id, or its idempotency key within the same session or within none) returns the one that is there, unchanged. A known
   * id with another content, type, schema version or session is a `CONFLICT`.
   */
  put(artifact: Omit<Artifact, "hash" | "sizeBytes">, content: Uint8Array): Promise<Artifact>
  get(id: string): Promise<Artifact>
  find(id: string): Promise<Artifact | undefined>
  /** The content, proven to have the artifact's hash, or `CORRUPT`. */
  read(id: string): Promise<Uint8Array>
  /** Newest first, at most `limit` (50 unless told, 1,000 at most); `before` is an artifact's id. */
  list(options?: { sessionId?: SessionId; quarantined?: boolean; limit?: number; before?: string }): Promise<Artifact[]>
}
