/**
 * After a crash: every restore that was started and not ended is finished or taken back. The note beside the files says
 * whether any file may have been touched; the record in the store says whether the head has moved.
 */
import { isKeepupError, KeepupError, type Restore, toKeepupError } from "@ku0/agent-runtime-core"
import { leaseName } from "../session/lease-row.js"
import type { RestoreOutcome } from "../snapshot/restore.js"
import { requireLogged } from "../time-travel/require-logged.js"
import { isKeptHere } from "../time-travel/require-snapshot.js"
import { failRestore, moveHead, refuseFailures, refuseLeftovers } from "../time-travel/restore.js"
import { findRestore, listUnfinishedRestores } from "../time-travel/restore-records.js"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"
import { withLeases } from "../time-travel/with-leases.js"

export interface SettledRestore {
  readonly restore: Restore
  /** `left`: someone else is at it, or it belongs to another machine. */
  readonly outcome: "finished" | "taken-back" | "left"
  readonly reason: string
}

export async function settleRestores(context: TimeTravelContext): Promise<SettledRestore[]> {
  const settled: SettledRestore[] = []
  const { driver, host } = context.store.context
  for (const restore of await listUnfinishedRestores(driver)) {
    if (await isGoingOn(context, restore)) continue
    if (restore.host !== host.split("/")[0] && !(await isOfThisStore(context, restore))) {
      settled.push({ restore, outcome: "left", reason: `It was started on ${restore.host}.` })
      continue
    }
    try {
      settled.push(await settle(context, restore))
    } catch (error) {
      if (!isKeepupError(error)) throw error
      settled.push({ restore, outcome: "left", reason: error.message })
    }
  }
  return settled
}

/** Whoever is surely at it right now will end it: nothing was broken off. */
async function isGoingOn({ store }: TimeTravelContext, { sessionId }: Restore): Promise<boolean> {
  const holder = (await store.leases.find(leaseName("session", sessionId)))?.holder
  return holder?.purpose === "restore" && holder.host === store.context.host
}

/** The machine may have had another name then: the snapshots the restore was prepared in tell whether they are these. */
function isOfThisStore(context: TimeTravelContext, restore: Restore): Promise<boolean> {
  return isKeptHere(context, restore.workspacePath, restore.safetyCheckpointId)
}

async function settle(context: TimeTravelContext, restore: Restore): Promise<SettledRestore> {
  const session = await context.store.sessions.get(restore.sessionId)
  return await withLeases(context, session, undefined, async (lease) => {
    const current = await findRestore(context.store.context.driver, restore.id)
    if (current?.status !== "started") return { restore, outcome: "left", reason: "Another process settled it." }
    await requireLogged(context.store.context.driver, current)
    const checkpoint = await context.store.checkpoints.find(restore.checkpointId)
    if (restore.mode === "conversation" && checkpoint !== undefined) {
      try {
        await moveHead(context, restore, checkpoint, lease)
        return { restore, outcome: "finished", reason: "Only the conversation was to go back." }
      } catch (error) {
        // What it was to undo may have been undone by someone else: it would never be finished.
        if (!isKeepupError(error) || error.code !== "CONFLICT") throw error
        await failRestore(context, restore, error, lease)
        return { restore, outcome: "taken-back", reason: error.message }
      }
    }
    const snapshots = await context.snapshots(restore.workspacePath)
    const journal = snapshots.listUnfinishedRestores().find(({ id }) => id === restore.id)
    if (journal === undefined) {
      await snapshots.sweepRestores().catch(() => {}) // the next snapshot does it
      const error = new KeepupError("CANCELLED", "It was broken off before any file was touched.")
      await failRestore(context, restore, error, lease)
      return { restore, outcome: "taken-back", reason: error.message }
    }
    try {
      if (checkpoint === undefined) throw new KeepupError("NOT_FOUND", "The checkpoint to go back to is gone.")
      const { plan } = await snapshots.finishRestore(journal, {
        onApplied: async (outcome) => {
          refuseFailures(outcome)
          await moveHead(context, restore, checkpoint, lease)
        },
      })
      return { restore, outcome: "finished", reason: `It was broken off in the middle.${nameLeft(plan)}` }
    } catch (cause) {
      const error = toKeepupError(cause)
      const { plan } = await snapshots.takeBackRestore(journal, refuseLeftovers)
      await failRestore(context, restore, error, lease)
      return { restore, outcome: "taken-back", reason: `${error.message}${nameLeft(plan)}` }
    }
  })
}

/** What someone changed after the crash is theirs, and no longer what the restore was about. */
function nameLeft({ changedMeanwhile }: RestoreOutcome["plan"]): string {
  const [first] = changedMeanwhile
  if (first === undefined) return ""
  const others = changedMeanwhile.length > 1 ? ` and ${changedMeanwhile.length - 1} other(s)` : ""
  return ` Changed since, and left as it is: ${first}${others}.`
}
