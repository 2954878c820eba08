/**
 * Sessions and named checkpoints in five calls: create, save, load, list, resume. Thin over the runtime: what they keep
 * is what every other part of keepup sees.
 */
import {
  type Checkpoint,
  type CreateSessionOptions,
  type Lease,
  type Message,
  messagesForModel,
  type RestoreMode,
  type Session,
  type SessionId,
} from "@ku0/agent-runtime-core"
import { recoverSession, restoreCheckpoint } from "@ku0/agent-runtime-persistence"
import type { Runtime } from "./open-runtime.js"

/** What an agent hands over with a checkpoint. Other keys are kept as they are. */
export interface CheckpointState {
  readonly taskState?: unknown
  readonly progress?: unknown
  readonly memoryReferences?: unknown
  /** Open files with cursor positions. */
  readonly openFiles?: unknown
  readonly [key: string]: unknown
}

export interface LoadedCheckpoint extends CheckpointState {
  readonly checkpoint: Checkpoint
  /** Everything that was handed over, by key. */
  readonly state: Readonly<Record<string, unknown>>
  /** What a model would see of the conversation there. */
  readonly messages: readonly Message[]
  readonly gitBranch: string | null
  /** Changed or untracked files in the workspace's own repository. */
  readonly hasUncommitted: boolean
}

export interface ResumedSession {
  readonly session: Session
  readonly state: Readonly<Record<string, unknown>>
  readonly messages: readonly Message[]
  /** Where it was brought back to, if anywhere. */
  readonly checkpoint: Checkpoint | undefined
}

export interface ResumeSessionOptions {
  /** `#3`, a name, `latest`, or a part of an id. Where the session stands unless told. */
  readonly checkpoint?: string
  /** What to bring back; files and conversation where the checkpoint has files. */
  readonly mode?: RestoreMode
}

export type NewSession = Omit<CreateSessionOptions, "workspacePath" | "parent" | "forkedFromCheckpointId"> & {
  readonly workspacePath?: string
}

/** Makes a session in the runtime's workspace. */
export async function createSession(runtime: Runtime, options: NewSession = {}): Promise<Session> {
  return await runtime.store.sessions.create({ workspacePath: runtime.workspacePath, ...options })
}

/** Keeps the session's place, its files, git facts and this state under a name that is free in the session. */
export async function saveCheckpoint(
  runtime: Runtime,
  sessionId: SessionId,
  name: string,
  state: CheckpointState = {},
  options: { readonly lease?: Lease } = {},
): Promise<Checkpoint> {
  const lease = options.lease && { lease: options.lease }
  return (await runtime.manager.take({ sessionId, trigger: "manual", name, state, ...lease })) as Checkpoint
}

/** What a checkpoint holds. Nothing is changed: `resumeSession` and `restoreCheckpoint` go there. */
export async function loadCheckpoint(
  { store }: Runtime,
  sessionId: SessionId,
  reference: string,
): Promise<LoadedCheckpoint> {
  const checkpoint = await store.checkpoints.resolve(sessionId, reference)
  const at = { sessionId: checkpoint.sessionId, seq: checkpoint.entrySeq }
  const state = await store.state.get(at)
  const { git } = checkpoint
  return {
    checkpoint,
    state,
    messages: messagesForModel(await store.log.fold(at)),
    taskState: state["taskState"] ?? state["task"],
    progress: state["progress"],
    memoryReferences: state["memoryReferences"] ?? state["memory"],
    openFiles: state["openFiles"],
    gitBranch: git?.branch ?? null,
    hasUncommitted: git !== null && git.uncommitted + git.untracked > 0,
  }
}

/** Newest first, at most `limit`; `before` is a checkpoint's number. */
export async function listCheckpoints(
  { store }: Runtime,
  sessionId: SessionId,
  options: { readonly limit?: number; readonly before?: number } = {},
): Promise<Checkpoint[]> {
  return await store.checkpoints.list(sessionId, options)
}

/**
 * Makes a session ready to go on, from where it stands or from a checkpoint: one that died is recovered first, one that
 * runs is refused with `SESSION_RUNNING`.
 */
export async function resumeSession(
  runtime: Runtime,
  reference: string,
  from?: string | ResumeSessionOptions,
): Promise<ResumedSession> {
  const { store } = runtime
  const { id, status } = await store.sessions.resolve(reference)
  const options: ResumeSessionOptions = typeof from === "string" ? { checkpoint: from } : (from ?? {})
  const checkpoint =
    options.checkpoint === undefined ? undefined : await store.checkpoints.resolve(id, options.checkpoint)
  if (status === "interrupted") await recoverSession(runtime, id)
  if (checkpoint !== undefined) {
    const mode = options.mode ?? (checkpoint.snapshot === null ? "conversation" : "both")
    await restoreCheckpoint(runtime, { checkpoint, sessionId: id, mode })
  }
  await store.log.append(id, [
    { type: "session:resumed", data: checkpoint === undefined ? {} : { checkpointId: checkpoint.id } },
  ])
  const head = await store.log.head(id)
  return {
    session: await store.sessions.get(id),
    state: await store.state.get(head),
    messages: messagesForModel(await store.log.fold(head)),
    checkpoint,
  }
}
