/** Takes a restore back: every file and the head as they were before it. It is a restore itself, so it can't lose anything. */
import { type HeldLease, KeepupError, type Restore } from "@ku0/agent-runtime-core"
import { requireLogged } from "./require-logged.js"
import { type RestoreResult, restoreCheckpoint } from "./restore.js"
import { findLastRestore, findRestore } from "./restore-records.js"
import type { TimeTravelContext } from "./time-travel-context.js"

export interface UndoRestoreOptions {
  /** A restore by its id, or the newest one of a workspace that can be taken back. */
  readonly restoreId?: string
  readonly workspacePath?: string
  readonly lease?: HeldLease
  /** Stops it as long as nothing was touched, and its reason is thrown. */
  readonly signal?: AbortSignal
}

export async function undoRestore(context: TimeTravelContext, options: UndoRestoreOptions): Promise<RestoreResult> {
  const restore = await find(context, options)
  if (restore.status !== "applied") {
    throw new KeepupError("CONFLICT", `Restore ${restore.id} can't be undone: it is ${restore.status}.`)
  }
  await requireLogged(context.store.context.driver, restore)
  const checkpoint = await context.store.checkpoints.find(restore.safetyCheckpointId)
  if (checkpoint === undefined) {
    throw new KeepupError("NOT_FOUND", `What was there before restore ${restore.id} is not kept any more.`, {
      hint: "Its safety checkpoint was deleted, or pruned after seven days. `keepup checkpoint list` shows what there is.",
    })
  }
  const request = {
    checkpoint,
    sessionId: restore.sessionId,
    mode: restore.mode,
    ...(restore.paths !== null && { paths: restore.paths }),
    ...(options.lease && { lease: options.lease }),
    ...(options.signal && { signal: options.signal }),
  }
  return await restoreCheckpoint(context, request, restore)
}

/** The restore that `undoRestore` would take back in a workspace, if there is one. */
export async function findUndoable({ store }: TimeTravelContext, workspacePath: string): Promise<Restore | undefined> {
  return await findLastRestore(store.context.driver, workspacePath)
}

async function find({ store }: TimeTravelContext, options: UndoRestoreOptions): Promise<Restore> {
  const { driver } = store.context
  const { restoreId, workspacePath } = options
  if (restoreId !== undefined) {
    const restore = await findRestore(driver, restoreId)
    if (restore !== undefined) return restore
    throw new KeepupError("NOT_FOUND", `There is no restore ${restoreId}.`)
  }
  const last = workspacePath === undefined ? undefined : await findLastRestore(driver, workspacePath)
  if (last !== undefined) return last
  throw new KeepupError("NOT_FOUND", "There is no restore to undo in this workspace.", {
    hint: "`keepup checkpoint list` shows what you can go back to.",
  })
}
