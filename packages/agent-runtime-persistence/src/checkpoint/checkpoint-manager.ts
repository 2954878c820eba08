/**
 * Takes checkpoints: one call makes one record of history position, state, snapshot, git facts and trigger. Objects and
 * ref come first, then one transaction for row and entry. If the files can't be captured the checkpoint is still kept,
 * and says so: the conversation is never lost because of the files.
 */
import {
  type Checkpoint,
  type CheckpointId,
  type CheckpointSnapshot,
  type CheckpointTrigger,
  type EntryDraft,
  errorToJson,
  type GitFacts,
  type KeepupError,
  type Lease,
  type Session,
  type SessionId,
  type Snapshot,
  toKeepupError,
} from "@ku0/agent-runtime-core"
import type { HandoffKeeper } from "../handoff/keep-handoff.js"
import type { FoundSnapshot } from "../snapshot/capture.js"
import type { SnapshotStore } from "../snapshot/snapshot-store.js"
import { prepareState } from "../state/state-store.js"
import type { Store } from "../store/open-store.js"
import type { SqlRunner } from "../store/sql-driver.js"
import { defaultRetention, planPrune, type RetentionPolicy } from "./checkpoint-retention.js"
import { parseNewName } from "./checkpoint-store.js"
import { deriveGitFacts } from "./derive-git-facts.js"
import { describeGap } from "./describe-gap.js"
import { listBranchPoints, listPrunable, type PruneResult, pruneCheckpoints } from "./prune-checkpoints.js"

/** What a manager needs of the snapshots of one workspace. */
export type SnapshotSource = Pick<SnapshotStore, "capture" | "captureIfChanged" | "diff">

export interface CheckpointManagerOptions {
  readonly store: Store
  /** The snapshots of a workspace. Without it, checkpoints hold no files and say so. */
  readonly snapshots?: (workspacePath: string) => Promise<SnapshotSource>
  readonly gitFacts?: (workspacePath: string) => Promise<GitFacts | null>
  /** Changes when git's facts may have changed although no file did. With it they are not read again for nothing. */
  readonly gitSignature?: (workspacePath: string) => string | undefined
  readonly retention?: RetentionPolicy
  /** Writes the handoff file after each checkpoint. That this file changed alone asks for no other one. */
  readonly handoff?: HandoffKeeper
  /** Told what the user should know: a snapshot that failed. Must not throw. */
  readonly onWarning?: (message: string, checkpoint: Checkpoint) => void
}

export interface TakeCheckpointOptions {
  readonly sessionId: SessionId
  /** The session, if it was just read. */
  readonly session?: Session
  readonly trigger: CheckpointTrigger
  readonly name?: string
  readonly note?: string
  /** Entries of the same step, kept in the same transaction. */
  readonly entries?: readonly EntryDraft[]
  /** State of the same step, kept in the same transaction. */
  readonly state?: Readonly<Record<string, unknown>>
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly lease?: Lease
  readonly id?: CheckpointId
  /** Files that were captured already, under this checkpoint's id. */
  readonly snapshot?: Snapshot
  /** What `expectGit` gave when the capture of those files began. */
  readonly git?: ExpectedGit
  /** What stands or falls with it: done after it, in the same transaction. */
  readonly alongside?: (tx: SqlRunner) => Promise<void>
  /** False: take none if neither the log nor the files changed since the newest one. */
  readonly allowEmpty?: boolean
  /** True: take none if the files are those of the session's newest one, whatever was said since. */
  readonly onlyForFiles?: boolean
  /** Stops it as long as files are read: no checkpoint is taken, and its reason is thrown. */
  readonly signal?: AbortSignal
}

interface GitReading {
  readonly facts: GitFacts | null
  readonly error?: KeepupError
}

/** Git's facts of a checkpoint whose files are being captured. */
export interface ExpectedGit {
  /** Works them out or reads them now, if the files are known to have changed. */
  start(found: FoundSnapshot): void
  /** They belong to this snapshot; null where there is none. Those of the same files are not read again. */
  finish(files: { readonly snapshot: Snapshot | null } | "unchanged"): Promise<GitReading>
}

/** Entries that say nothing about what the agent did. */
const bookkeeping: ReadonlySet<string> = new Set([
  "checkpoint:created",
  "checkpoint:failed",
  "checkpoint:pruned",
  "run:ended",
  "session:ended",
  "session:paused",
  "turn:ended",
])

export function createCheckpointManager(options: CheckpointManagerOptions) {
  const { store } = options
  /** Workspace → the newest git facts, and what they were read with. */
  const lastGit = new Map<string, { signature: string; commit: string; facts: GitFacts | null }>()
  const toldUnreadable = new Set<string>()

  /** `undefined` only if nothing changed, and that was asked for. */
  async function take(request: TakeCheckpointOptions): Promise<Checkpoint | undefined> {
    if (request.name !== undefined) parseNewName(request.name) // before the files are read for nothing
    const session = request.session ?? (await store.sessions.get(request.sessionId))
    const id = request.id ?? (store.context.ids.next() as CheckpointId)
    const since = await findSince(session, request)
    const [files, git] = await captureAll(session, id, request, since)
    if (files === "unchanged") return undefined
    const { snapshot, error } = files
    // Nothing was said, and what the files are can't be told any more than the last time.
    if (error !== undefined && since?.snapshot === null) return undefined
    // Time ran out once more, and there was nothing to see that the newest one does not say.
    if (snapshot != null && snapshot.commit === since?.snapshot?.commit) return undefined
    const problem = error?.message ?? (snapshot && describeGap(snapshot, toldUnreadable)) ?? git.error?.message
    const { allowEmpty: _, onlyForFiles: __, git: ___, signal: ____, session: _____, ...record } = request
    const checkpoint = await store.checkpoints.create({
      ...record,
      id,
      snapshot: snapshot && pickSnapshot(snapshot),
      git: git.facts,
      sizeBytes: snapshot?.sizeBytes ?? 0,
      metadata: {
        ...request.metadata,
        ...(snapshot && { shadowCheckpoint: shadowOf(snapshot, messageOf(request)) }),
        ...(error && { snapshotError: errorToJson(error) }),
        ...(git.error && { gitError: errorToJson(git.error) }),
      },
    })
    if (problem !== undefined) await warn(checkpoint, problem)
    // not before a restore: it has made its plan, and nothing may change under it
    if (request.trigger !== "before-restore") await options.handoff?.keep(session, checkpoint)
    return checkpoint
  }

  /** Files and git facts together. */
  async function captureAll(session: Session, id: CheckpointId, request: TakeCheckpointOptions, since?: Checkpoint) {
    const expected = request.git ?? expectGit(session.workspacePath)
    const files = await captureFiles(session, id, request, since, expected.start)
    return [files, await expected.finish(files)] as const
  }

  /** Begins to read git's facts, unless they may still be the last ones: those are taken over from there. */
  function expectGit(workspacePath: string): ExpectedGit {
    const signature = options.gitSignature?.(workspacePath)
    const last = lastGit.get(workspacePath)
    const known = signature !== undefined && last?.signature === signature ? last : undefined
    let reading: Promise<GitReading> | undefined
    let derived: GitFacts | undefined
    const start = () => {
      reading ??= readGit(workspacePath)
      return reading
    }
    /** Undefined when git did something meanwhile. */
    function derive({ facts }: { facts: GitFacts | null }, { changes }: FoundSnapshot): GitFacts | undefined {
      const now = deriveGitFacts(workspacePath, facts, changes)
      return now !== undefined && options.gitSignature?.(workspacePath) === signature ? now : undefined
    }
    if (known === undefined) start()
    return {
      start(found) {
        if (!found.isNew) return
        derived = known !== undefined && found.since === known.commit ? derive(known, found) : undefined
        if (derived === undefined) start()
      },
      async finish(files) {
        const commit = files === "unchanged" ? known?.commit : completeCommit(files.snapshot)
        if (known !== undefined && commit === known.commit) return { facts: known.facts }
        const git = commit !== undefined && derived !== undefined ? { facts: derived } : await start()
        if (signature === undefined || commit === undefined || git.error !== undefined) lastGit.delete(workspacePath)
        else lastGit.set(workspacePath, { signature, commit, facts: git.facts })
        return git
      },
    }
  }

  /** The files, or why there are none. A failure here is kept on the record, not thrown. */
  async function captureFiles(
    session: Session,
    id: CheckpointId,
    request: TakeCheckpointOptions,
    since: Checkpoint | undefined,
    onFound: (found: FoundSnapshot) => void,
  ) {
    if (request.snapshot !== undefined) return { snapshot: request.snapshot }
    if (options.snapshots === undefined) return { snapshot: null }
    try {
      const source = await options.snapshots(session.workspacePath)
      const { signal } = request
      const wanted = { message: messageOf(request), checkpointId: id, share: true, onFound, ...(signal && { signal }) }
      const known = since?.snapshot?.commit
      if (known !== undefined && (await isOnlyHandoff(source, known, session))) return "unchanged" as const
      const snapshot = await (known === undefined
        ? source.capture(wanted)
        : source.captureIfChanged({ ...wanted, since: known }))
      return snapshot === null ? ("unchanged" as const) : { snapshot }
    } catch (error) {
      request.signal?.throwIfAborted()
      return { snapshot: null, error: toKeepupError(error) }
    }
  }

  async function isOnlyHandoff(source: SnapshotSource, since: string, { workspacePath }: Session): Promise<boolean> {
    const { handoff } = options
    if (handoff === undefined) return false
    const changes = await source.diff(since, "workspace")
    return changes.length > 0 && changes.every(({ path }) => handoff.isAsKept(workspacePath, path))
  }

  async function readGit(workspacePath: string): Promise<GitReading> {
    try {
      return { facts: (await options.gitFacts?.(workspacePath)) ?? null }
    } catch (error) {
      return { facts: null, error: toKeepupError(error) }
    }
  }

  /** Whether the request itself brings something that is not in the log yet. */
  async function hasNews({ sessionId, entries = [], state = {} }: TakeCheckpointOptions): Promise<boolean> {
    if (entries.length > 0) return true
    if (Object.keys(state).length === 0) return false
    const keys = await store.state.keys(await store.log.head(sessionId))
    return (await prepareState(state)).some(({ key, blob }) => keys[key] !== blob?.hash)
  }

  /** The checkpoint that would do as well, if the files are still its own. */
  async function findSince(session: Session, request: TakeCheckpointOptions): Promise<Checkpoint | undefined> {
    const { allowEmpty = true, onlyForFiles = false } = request
    if (onlyForFiles) return (await store.checkpoints.list(session.id, { limit: 1 }))[0]
    return allowEmpty || (await hasNews(request)) ? undefined : await findUnchangedSince(session)
  }

  /** The newest checkpoint, if nothing but checkpoints happened in the session since. */
  async function findUnchangedSince(session: Session): Promise<Checkpoint | undefined> {
    const [newest] = await store.checkpoints.list(session.id, { limit: 1 })
    if (newest === undefined) return undefined
    const later = await store.log.read(session.id, { after: newest.entrySeq, limit: 100 })
    return later.length < 100 && later.every(({ type }) => bookkeeping.has(type)) ? newest : undefined
  }

  async function warn(checkpoint: Checkpoint, message: string): Promise<void> {
    const text = `Checkpoint #${checkpoint.number} is not complete: ${message}`
    await store.sessions.addLog(checkpoint.sessionId, "warn", text)
    options.onWarning?.(text, checkpoint)
  }

  /** Applies retention to one session and says what went. */
  async function prune(sessionId: SessionId, policy?: RetentionPolicy, lease?: Lease): Promise<PruneResult> {
    const session = await store.sessions.get(sessionId)
    const plan = await planFor(sessionId, policy)
    return await pruneCheckpoints(store, session, plan, lease)
  }

  async function planFor(sessionId: SessionId, policy?: RetentionPolicy): Promise<Checkpoint[]> {
    const facts = { now: store.context.clock.now(), branchPoints: await listBranchPoints(store) }
    return planPrune(await listPrunable(store, sessionId), policy ?? options.retention ?? defaultRetention, facts)
  }

  return {
    take,
    expectGit,
    prune,
    /** What `prune` would remove. */
    planPrune: planFor,
    list: store.checkpoints.list,
    get: store.checkpoints.get,
    find: store.checkpoints.find,
    resolve: store.checkpoints.resolve,
    setPinned: store.checkpoints.setPinned,
  }
}

export type CheckpointManager = ReturnType<typeof createCheckpointManager>

/** The commit, if it says everything about the files: one that leaves some out says nothing about those. */
function completeCommit(snapshot: Snapshot | null): string | undefined {
  return snapshot === null || snapshot.skipped.length > 0 ? undefined : snapshot.commit
}

function messageOf({ trigger, name }: TakeCheckpointOptions): string {
  return name === undefined ? trigger : `${trigger}: ${name}`
}

function pickSnapshot({ commit, filesChanged, insertions, deletions, skipped }: Snapshot): CheckpointSnapshot {
  return { commit, filesChanged, insertions, deletions, skipped }
}

function shadowOf({ commit, base, createdAt }: Snapshot, message: string) {
  return { commit, base, message, createdAt }
}
