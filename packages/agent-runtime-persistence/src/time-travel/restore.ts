/**
 * Makes a checkpoint the present: its files in the workspace, its entry as where history goes on. One transaction:
 * verify objects → lease → safety checkpoint → intent → files → verify → head. Whatever breaks it off, `settleRestores`
 * finishes it or takes it back. Nothing is erased: a restore appends, and its undo is one more restore.
 */
import {
  type Checkpoint,
  type CheckpointId,
  type EntryDraft,
  event,
  KeepupError,
  type Lease,
  type Restore,
  type RestoreId,
  type RestorePlan,
  type Session,
  toKeepupError,
} from "@ku0/agent-runtime-core"
import type { TakeCheckpointOptions } from "../checkpoint/checkpoint-manager.js"
import { appendEntries, lockSession } from "../session/append-entries.js"
import type { RestoreOutcome } from "../snapshot/restore.js"
import type { SqlRunner } from "../store/sql-driver.js"
import { countRemoved, type RemovedMarkers } from "./count-removed.js"
import { emptyPlan, pickPaths, type RestoreCheckpointOptions, refuseOther } from "./plan-restore.js"
import { requireSnapshot } from "./require-snapshot.js"
import { insertRestore, moveRestore, undoRecord } from "./restore-records.js"
import type { TimeTravelContext } from "./time-travel-context.js"
import { withLeases } from "./with-leases.js"

export interface RestoreResult {
  readonly restore: Restore
  readonly plan: RestorePlan
  readonly checkpoint: Checkpoint
  readonly safety: Checkpoint
}

/** `undoes` marks the restore as the undo of another one. */
export async function restoreCheckpoint(
  context: TimeTravelContext,
  options: RestoreCheckpointOptions,
  undoes: Restore | null = null,
): Promise<RestoreResult> {
  const { store } = context
  const { checkpoint } = options
  const session = await store.sessions.get(options.sessionId ?? checkpoint.sessionId)
  const mode = options.mode ?? "both"
  const commit = mode === "conversation" ? undefined : await requireSnapshot(context, checkpoint)
  return await withLeases(context, session, options.lease, async (lease) => {
    const intent: Restore = {
      id: store.context.ids.next() as RestoreId,
      sessionId: session.id,
      workspacePath: session.workspacePath,
      checkpointId: checkpoint.id,
      safetyCheckpointId: store.context.ids.next() as CheckpointId,
      mode,
      paths: options.paths ?? null,
      status: "started",
      undoes: undoes?.id ?? null,
      host: store.context.host.split("/")[0] as string,
      createdAt: store.context.clock.now(),
    }
    if (commit === undefined) {
      const safety = await keepSafety(context, intent, lease)
      await moveHead(context, intent, checkpoint, lease)
      return { restore: { ...intent, status: "applied" }, plan: emptyPlan, checkpoint, safety }
    }
    const undone = undoes === null ? undefined : await store.checkpoints.find(undoes.checkpointId)
    const files = { commit, undone: undone?.snapshot?.commit }
    const { plan, safety } = await restoreFiles(context, options, session, intent, files, lease)
    return { restore: { ...intent, status: "applied" }, plan, checkpoint, safety }
  })
}

async function restoreFiles(
  context: TimeTravelContext,
  options: RestoreCheckpointOptions,
  session: Session,
  intent: Restore,
  { commit, undone }: { readonly commit: string; readonly undone: string | undefined },
  lease: Lease,
): Promise<{ plan: RestorePlan; safety: Checkpoint }> {
  const git = context.manager.expectGit(session.workspacePath)
  const snapshots = await context.snapshots(session.workspacePath)
  let safety: Checkpoint | undefined
  let removed: Promise<RemovedMarkers> | undefined
  try {
    const { plan } = await snapshots.restore(commit, {
      ...pickPaths(options, intent.undoes !== null),
      ...(undone !== undefined && { undoes: undone }),
      id: intent.id,
      message: `before-restore: ${intent.id}`,
      safetyCheckpointId: intent.safetyCheckpointId,
      onFound: git.start,
      ...(options.signal && { signal: options.signal }),
      onPrepared: async (prepared) => {
        options.signal?.throwIfAborted()
        refuseOther(options, prepared.plan)
        safety = await keepSafety(context, intent, lease, { snapshot: prepared.safety, git })
        if (intent.mode === "files") return
        removed = whileDiskWorks(() => countHidden(context, intent, options.checkpoint))
        removed.catch(() => {}) // awaited when the files are there, if they ever are
      },
      onApplied: async (outcome) => {
        refuseFailures(outcome)
        await moveHead(context, intent, options.checkpoint, lease, removed)
      },
    })
    if (safety === undefined) throw new Error("BUG: restored without a safety checkpoint")
    const { write, delete: remove, untouched, notCaptured } = plan
    return { plan: { write, delete: remove, untouched, notCaptured }, safety }
  } catch (cause) {
    const error = explainDisk(cause)
    if (safety !== undefined)
      await takeBack(context, intent, lease, error).catch((failure) => throwBoth(error, failure))
    throw error
  }
}

/** What went wrong first is what the caller must hear; that it is not over yet as well. */
function throwBoth(error: unknown, failure: unknown): never {
  const { code, message } = toKeepupError(error)
  throw new KeepupError(code, `${message} It could not be taken back yet: ${toKeepupError(failure).message}`, {
    hint: "The next keepup command finishes the restore or takes it back, and says so.",
    cause: error,
  })
}

/** A full or read-only disk is nothing the user has to report. */
function explainDisk(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException
  const isFull = code === "ENOSPC" || code === "EDQUOT"
  if (!isFull && !["EROFS", "EACCES", "EPERM", "EBUSY"].includes(code as string)) return error
  return new KeepupError("UNAVAILABLE", `The files could not be written: ${message}.`, {
    hint: `${isFull ? "Free some disk space" : "Make them writable"} and try again. Everything is as it was.`,
    cause: error,
  })
}

/** The files could not all be made as they should be: everything goes back to how it was, and the caller hears why. */
async function takeBack(context: TimeTravelContext, intent: Restore, lease: Lease, cause: unknown): Promise<void> {
  const snapshots = await context.snapshots(intent.workspacePath)
  for (const journal of snapshots.listUnfinishedRestores()) {
    if (journal.id === intent.id) await snapshots.takeBackRestore(journal, refuseLeftovers)
  }
  await failRestore(context, intent, toKeepupError(cause), lease)
}

/** Records that a restore did not happen. */
export async function failRestore(
  { store }: TimeTravelContext,
  intent: Restore,
  error: KeepupError,
  lease: Lease,
): Promise<void> {
  const { code, message } = error
  await store.context.driver.transaction("restore-failed", async (tx) => {
    const session = await lockSession(store.context, tx, intent.sessionId)
    await moveRestore(tx, intent.id, "started", "taken-back")
    const failed = event("session:restore-failed", { restoreId: intent.id, error: { code, message } })
    await appendEntries(store.context, tx, session, [failed], { lease })
  })
}

/** Intent before act. */
async function announceRestore(
  { store }: TimeTravelContext,
  tx: SqlRunner,
  intent: Restore,
  lease: Lease,
): Promise<void> {
  const { id: restoreId, checkpointId, safetyCheckpointId, mode } = intent
  const paths = intent.paths && [...intent.paths]
  const session = await lockSession(store.context, tx, intent.sessionId)
  const [target] = await tx.all("SELECT 1 FROM session_checkpoints WHERE id = ?", [checkpointId])
  if (target === undefined) {
    throw new KeepupError("NOT_FOUND", "The checkpoint to go back to was just removed. Nothing was changed.", {
      hint: "`keepup checkpoint list` shows what you can go back to.",
    })
  }
  await insertRestore(tx, intent)
  const started = event("session:restore-started", { restoreId, checkpointId, safetyCheckpointId, mode, paths })
  await appendEntries(store.context, tx, session, [started], { lease })
}

/** The pointer comes last. With the conversation, history goes on from the checkpoint's entry; `counted` may tell what that hides. */
export async function moveHead(
  context: TimeTravelContext,
  intent: Restore,
  checkpoint: Checkpoint,
  lease: Lease,
  counted?: Promise<RemovedMarkers>,
): Promise<void> {
  const { id: restoreId, checkpointId, safetyCheckpointId, mode } = intent
  const removed = mode === "files" ? undefined : await (counted ?? countHidden(context, intent, checkpoint))
  const { store } = context
  await store.context.driver.transaction("restore-head", async (tx) => {
    const session = await lockSession(store.context, tx, intent.sessionId)
    await moveRestore(tx, intent.id, "started", "applied")
    if (intent.undoes !== null) await undoRecord(tx, intent.undoes)
    const drafts: EntryDraft[] = [event("checkpoint:restored", { restoreId, checkpointId, safetyCheckpointId, mode })]
    if (removed !== undefined) {
      const data = { reason: "checkpoint_restore", checkpointId, messageCount: checkpoint.messageIndex, ...removed }
      const parent = { sessionId: checkpoint.sessionId, seq: checkpoint.entrySeq }
      drafts.unshift({ ...event("history:rewind", data), parent })
    }
    await appendEntries(store.context, tx, session, drafts, { lease })
  })
  for (const wake of store.context.onAppended) wake(intent.sessionId)
}

async function countHidden({ store }: TimeTravelContext, intent: Restore, checkpoint: Checkpoint) {
  const then = { sessionId: checkpoint.sessionId, seq: checkpoint.entrySeq }
  return await countRemoved(store.context.driver, await store.log.head(intent.sessionId), then)
}

/** Later, when the files are on their way to the disk and nobody else has anything to do. */
async function whileDiskWorks<Result>(work: () => Promise<Result>): Promise<Result> {
  await new Promise((next) => setImmediate(next))
  return await work()
}

/**
 * The safety checkpoint and the intent in one step: from here on a crash is known of. `captured` is what a restore of
 * files has captured already, under the same lock as its plan; one that leaves the files alone has nothing.
 */
async function keepSafety(
  context: TimeTravelContext,
  intent: Restore,
  lease: Lease,
  captured: Pick<TakeCheckpointOptions, "snapshot" | "git"> = {},
): Promise<Checkpoint> {
  const safety = await context.manager.take({
    ...{ sessionId: intent.sessionId, trigger: "before-restore", id: intent.safetyCheckpointId, lease, ...captured },
    alongside: (tx) => announceRestore(context, tx, intent, lease),
  })
  return safety as Checkpoint
}

export function refuseFailures({ failed }: RestoreOutcome): void {
  const [first] = failed
  if (first === undefined) return
  throw new KeepupError(
    "CONFLICT",
    `${failed.length} path(s) could not be restored: ${first.path} (${first.reason}).`,
    {
      hint: "Everything was put back as it was. Close programs that hold these files, then try again.",
      details: { failed },
    },
  )
}

/** Taken back is only what is back: until every file is, the note stays, and the next start tries again. */
export const refuseLeftovers = {
  async onApplied({ failed }: RestoreOutcome): Promise<void> {
    const [first] = failed
    if (first === undefined) return
    throw new KeepupError(
      "CONFLICT",
      `${failed.length} path(s) could not be put back: ${first.path} (${first.reason}).`,
      {
        hint: "They are kept in the safety checkpoint. Clear the way; the next keepup command goes on.",
        details: { failed },
      },
    )
  },
}
