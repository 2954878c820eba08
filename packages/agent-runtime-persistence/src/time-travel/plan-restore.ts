/** What a restore would do, without doing it: the same plan that is carried out, and what the user should know first. */
import {
  type Checkpoint,
  type HeldLease,
  KeepupError,
  type RestoreMode,
  type RestorePlan,
  type SessionId,
} from "@ku0/agent-runtime-core"
import type { SnapshotStore } from "../snapshot/snapshot-store.js"
import { requireSnapshot } from "./require-snapshot.js"
import type { TimeTravelContext } from "./time-travel-context.js"

export interface RestoreCheckpointOptions {
  readonly checkpoint: Checkpoint
  /** The session that goes back; the checkpoint's own unless told. */
  readonly sessionId?: SessionId
  readonly mode?: RestoreMode
  /** Only these files and folders. */
  readonly paths?: readonly string[]
  /** A plan that someone has agreed to: refused if by now it would be another one. */
  readonly agreed?: Pick<RestorePlan, "write" | "delete">
  /** A lease of the caller on the session, if it has one. */
  readonly lease?: HeldLease
  /** Stops it as long as nothing was touched, and its reason is thrown. */
  readonly signal?: AbortSignal
}

/** The plan of a restore and what it means for others. */
export interface ShownPlan extends RestorePlan {
  /** Planned paths that someone changed since the session's newest checkpoint. They are kept in the safety checkpoint. */
  readonly changedSince: readonly string[]
  /** Messages that will no longer be in the history. */
  readonly messagesHidden: number
}

export const emptyPlan: RestorePlan = { write: [], delete: [], untouched: 0, notCaptured: [] }

export async function planRestore(context: TimeTravelContext, options: RestoreCheckpointOptions): Promise<ShownPlan> {
  const { checkpoint } = options
  const session = await context.store.sessions.get(options.sessionId ?? checkpoint.sessionId)
  const mode = options.mode ?? "both"
  const messagesHidden = mode === "files" ? 0 : Math.max(0, session.messageCount - checkpoint.messageIndex)
  if (mode === "conversation") return { ...emptyPlan, changedSince: [], messagesHidden }
  const commit = await requireSnapshot(context, checkpoint)
  const snapshots = await context.snapshots(session.workspacePath)
  const { write, delete: remove, untouched, notCaptured } = await snapshots.planRestore(commit, pickPaths(options))
  const plan = { write, delete: remove, untouched, notCaptured }
  return { ...plan, changedSince: await listChangedSince(context, snapshots, session.id, plan), messagesHidden }
}

/** What a person names must be somewhere; what an undo goes back to may be gone by now on both sides. */
export function pickPaths({ paths }: RestoreCheckpointOptions, isUndo = false) {
  return paths === undefined ? {} : { paths, requirePaths: !isUndo }
}

/** Nobody may carry out another plan than the one a person said yes to. */
export function refuseOther({ agreed }: RestoreCheckpointOptions, plan: RestorePlan): void {
  if (agreed === undefined) return
  const linesOf = (one: Pick<RestorePlan, "write" | "delete">) =>
    new Set([...one.write.map((path) => `write ${path}`), ...one.delete.map((path) => `delete ${path}`)])
  const [then, now] = [linesOf(agreed), linesOf(plan)]
  const [first] = [...[...then].filter((line) => !now.has(line)), ...[...now].filter((line) => !then.has(line))]
  if (first === undefined) return
  const path = first.slice(first.indexOf(" ") + 1)
  throw new KeepupError("CONFLICT", `${path} changed after the plan was shown.`, {
    hint: "Nothing was changed. Look at the plan once more.",
    details: { path },
  })
}

async function listChangedSince(
  context: TimeTravelContext,
  snapshots: SnapshotStore,
  sessionId: SessionId,
  plan: RestorePlan,
): Promise<string[]> {
  const planned = new Set([...plan.write, ...plan.delete])
  if (planned.size === 0) return []
  const newest = (await context.store.checkpoints.list(sessionId)).find(({ snapshot }) => snapshot !== null)
  if (newest?.snapshot == null || !snapshots.listCheckpoints().has(newest.id)) return []
  const changes = await snapshots.diff(newest.snapshot.commit, "workspace")
  return changes.map(({ path }) => path).filter((path) => planned.has(path))
}
