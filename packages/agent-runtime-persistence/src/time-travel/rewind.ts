/** A rewind is a restore as a new session that shares the history up to the checkpoint. The original stays as it is. */
import type { Checkpoint, Restore, RestoreMode, RestorePlan, Session } from "@ku0/agent-runtime-core"
import { running } from "../session/check-lease.js"
import { leaseName } from "../session/lease-row.js"
import { ownProcess } from "../session/process-identity.js"
import { rewindMark, withoutMarks } from "../session/session-marks.js"
import { cutSessionName } from "../session/session-name.js"
import { emptyPlan } from "./plan-restore.js"
import { requireSnapshot } from "./require-snapshot.js"
import { restoreCheckpoint } from "./restore.js"
import { hasUnfinishedRestore } from "./restore-records.js"
import type { TimeTravelContext } from "./time-travel-context.js"
import { restoreRefusal } from "./with-leases.js"

export interface RewindOptions {
  readonly checkpoint: Checkpoint
  /** The new session's name; `{name} (rewind from #{n})` unless told. */
  readonly name?: string
  /** `conversation` leaves the files as they are. */
  readonly mode?: RestoreMode
  readonly paths?: readonly string[]
  /** A plan that someone has agreed to: refused if by now it would be another one. */
  readonly agreed?: Pick<RestorePlan, "write" | "delete">
  /** Stops it as long as nothing was touched, and its reason is thrown. */
  readonly signal?: AbortSignal
}

export interface RewindResult {
  readonly session: Session
  readonly checkpoint: Checkpoint
  readonly restore: Restore | null
  readonly plan: RestorePlan
}

export async function rewindToCheckpoint(context: TimeTravelContext, options: RewindOptions): Promise<RewindResult> {
  const { store } = context
  const { checkpoint } = options
  const origin = await store.sessions.get(checkpoint.sessionId)
  const withFiles = options.mode !== "conversation"
  if (withFiles) {
    await requireSnapshot(context, checkpoint)
    await refuseRunning(context, origin)
  }
  const metadata = withoutMarks(origin.metadata)
  const session = await store.sessions.create({
    workspacePath: origin.workspacePath,
    name: options.name ?? rewindName(origin.name, checkpoint.number),
    agentType: origin.agentType,
    taskDescription: origin.taskDescription,
    metadata: withFiles
      ? { ...metadata, [rewindMark]: { ...(await ownProcess()), host: store.context.host } }
      : metadata,
    parent: { sessionId: checkpoint.sessionId, seq: checkpoint.entrySeq },
    forkedFromCheckpointId: checkpoint.id,
  })
  if (!withFiles) return { session, checkpoint, restore: null, plan: emptyPlan }
  const restored = await restoreCheckpoint(context, {
    ...{ checkpoint, sessionId: session.id, mode: "files" },
    ...(options.paths && { paths: options.paths }),
    ...(options.agreed && { agreed: options.agreed }),
    ...(options.signal && { signal: options.signal }),
  }).catch(async (error) => {
    await dropBranch(context, session).catch(() => undefined) // its mark tells the next start to do it
    throw error
  })
  const whole = await store.sessions.updateMetadata(session.id, { [rewindMark]: undefined })
  return { session: whole, checkpoint, restore: restored.restore, plan: restored.plan }
}

/** A branch whose files are not there would be a lie. One whose restore is not over yet is settled with it. */
async function dropBranch({ store }: TimeTravelContext, { id }: Session): Promise<void> {
  if (await hasUnfinishedRestore(store.context.driver, id)) return
  await store.sessions.delete(id)
}

/** Rewinding a rewind names the place it goes back to, and does not pile up suffixes. */
export function rewindName(name: string, number: number): string {
  return cutSessionName(name.replace(/( \(rewind from #\d+\))+$/, ""), ` (rewind from #${number})`)
}

/** The files belong to whoever runs in them. */
async function refuseRunning({ store }: TimeTravelContext, origin: Session): Promise<void> {
  const lease = await store.leases.find(leaseName("session", origin.id))
  if (lease === undefined) return
  throw running({ resource: lease.resource, ...lease.holder }, restoreRefusal)
}
