/**
 * Whether this machine has a checkpoint's files. Machines change their names, and a state directory is carried to
 * another one: what lies here decides, and the name only tells where else to look.
 */
import { type Checkpoint, type CheckpointId, KeepupError } from "@ku0/agent-runtime-core"
import type { TimeTravelContext } from "./time-travel-context.js"

/** The commit that holds a checkpoint's files, on this machine, or why there is none. */
export async function requireSnapshot(context: TimeTravelContext, checkpoint: Checkpoint): Promise<string> {
  const here = context.store.context.host.split("/")[0] as string
  if (checkpoint.snapshot === null) {
    const error = checkpoint.metadata["snapshotError"] as { message?: string } | undefined
    throw new KeepupError("UNAVAILABLE", `Checkpoint #${checkpoint.number} holds no files.`, {
      hint: error?.message
        ? `They could not be captured: ${error.message} The conversation can still be restored alone.`
        : "Restore the conversation alone, or choose another checkpoint.",
    })
  }
  if (checkpoint.host === here) return checkpoint.snapshot.commit
  const { workspacePath } = await context.store.sessions.get(checkpoint.sessionId)
  if (await isKeptHere(context, workspacePath, checkpoint.id)) return checkpoint.snapshot.commit
  throw new KeepupError(
    "UNAVAILABLE",
    `The files of checkpoint #${checkpoint.number} are on ${checkpoint.host}, not on ${here}.`,
    {
      hint: "Restore it there, or restore the conversation alone.",
      details: { host: checkpoint.host },
    },
  )
}

/** Whether the snapshot of a checkpoint lies on this machine, whatever the machine was called when it was taken. */
export async function isKeptHere(
  context: TimeTravelContext,
  workspacePath: string,
  id: CheckpointId,
): Promise<boolean> {
  const snapshots = await context.snapshots(workspacePath).catch(() => undefined) // there is no such workspace here
  return snapshots?.listCheckpoints().has(id) === true
}
