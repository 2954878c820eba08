/** Looking at a checkpoint without going there: its files, what changed, the messages around it, its state. */
import { type Checkpoint, type EntryRef, KeepupError, type Message } from "@ku0/agent-runtime-core"
import type { SnapshotChange } from "../snapshot/diff-snapshots.js"
import type { SnapshotFile, SnapshotStore } from "../snapshot/snapshot-store.js"
import { requireSnapshot } from "./require-snapshot.js"
import type { TimeTravelContext } from "./time-travel-context.js"

export interface MessageNear {
  readonly index: number
  readonly message: Message
}

/** What differs from one checkpoint to another, or to the workspace as it is now. */
export async function diffCheckpoints(
  context: TimeTravelContext,
  from: Checkpoint,
  to: Checkpoint | "workspace",
): Promise<SnapshotChange[]> {
  const { snapshots, commit } = await openFiles(context, from)
  return await snapshots.diff(commit, to === "workspace" ? to : await requireSnapshot(context, to))
}

/** The same as a patch git can read. */
export async function patchBetween(
  context: TimeTravelContext,
  from: Checkpoint,
  to: Checkpoint | "workspace",
  paths?: readonly string[],
): Promise<Buffer> {
  const { snapshots, commit } = await openFiles(context, from)
  return await snapshots.patch(commit, to === "workspace" ? to : await requireSnapshot(context, to), paths)
}

export async function listCheckpointFiles(context: TimeTravelContext, checkpoint: Checkpoint): Promise<SnapshotFile[]> {
  const { snapshots, commit } = await openFiles(context, checkpoint)
  return await snapshots.listFiles(commit)
}

export async function readCheckpointFile(
  context: TimeTravelContext,
  checkpoint: Checkpoint,
  path: string,
): Promise<Buffer> {
  const { snapshots, commit } = await openFiles(context, checkpoint)
  return await snapshots.readFile(commit, path)
}

/** Writes all files of a checkpoint into an empty folder; the workspace is not touched. */
export async function writeCheckpointFiles(
  context: TimeTravelContext,
  checkpoint: Checkpoint,
  folder: string,
): Promise<number> {
  const { snapshots, commit } = await openFiles(context, checkpoint)
  return await snapshots.writeAllTo(commit, folder)
}

/** The last messages before a checkpoint and the first ones after it in its session. */
export async function messagesAround(
  { store }: TimeTravelContext,
  checkpoint: Checkpoint,
  count: number,
): Promise<{ before: MessageNear[]; after: MessageNear[] }> {
  const before = await store.log.lastMessages(refOf(checkpoint), count)
  const after: MessageNear[] = []
  for (let seq = checkpoint.entrySeq; after.length < count; ) {
    const page = await store.log.read(checkpoint.sessionId, { after: seq, limit: 200 })
    for (const entry of page) {
      if (entry.parent !== null || after.length === count) return { before, after } // from there on it is another history
      if (entry.type !== "message:added") continue
      after.push({ index: entry.messageIndex, message: (entry.data as { message: Message }).message })
    }
    if (page.length === 0) break
    seq = (page.at(-1) as EntryRef).seq
  }
  return { before, after }
}

export function refOf({ sessionId, entrySeq }: Checkpoint): EntryRef {
  return { sessionId, seq: entrySeq }
}

async function openFiles(
  context: TimeTravelContext,
  checkpoint: Checkpoint,
): Promise<{ snapshots: SnapshotStore; commit: string }> {
  const commit = await requireSnapshot(context, checkpoint)
  const { workspacePath } = await context.store.sessions.get(checkpoint.sessionId)
  const snapshots = await context.snapshots(workspacePath)
  if (snapshots.listCheckpoints().has(checkpoint.id)) return { snapshots, commit }
  throw new KeepupError(
    "CORRUPT",
    `The snapshot of checkpoint #${checkpoint.number} is missing from ${snapshots.directory}.`,
    {
      hint: "Run `keepup doctor --repair`.",
    },
  )
}
