/**
 * Removes checkpoint records by plan, with the entry that says so. That frees nothing on the disk: what only they kept
 * stays until `gc`, which measures what it frees.
 */
import type { Checkpoint, Lease, Session, SessionId } from "@ku0/agent-runtime-core"
import { appendEntries, lockSession } from "../session/append-entries.js"
import type { Store } from "../store/open-store.js"
import { toListedCheckpoint } from "../store/rows.js"

export interface PruneResult {
  readonly removed: readonly Checkpoint[]
}

export async function pruneCheckpoints(
  store: Store,
  session: Session,
  plan: readonly Checkpoint[],
  lease: Lease | undefined,
): Promise<PruneResult> {
  if (plan.length === 0) return { removed: [] }
  const { context } = store
  return await context.driver.transaction("prune", async (tx) => {
    const locked = await lockSession(context, tx, session.id)
    const removed: Checkpoint[] = []
    for (const checkpoint of plan) {
      // it may have been pinned since the plan was made, be the first or the newest by now, a session may have come from
      // it, or be on its way back to it
      const ofSession = "FROM session_checkpoints AS other WHERE other.session_id = session_checkpoints.session_id"
      const where = `id = ? AND pinned = 0 AND name IS NULL AND trigger_event <> 'manual'
        AND number > (SELECT MIN(other.number) ${ofSession}) AND number < (SELECT MAX(other.number) ${ofSession})
        AND NOT EXISTS (SELECT 1 FROM sessions WHERE forked_from_checkpoint_id = session_checkpoints.id)
        AND NOT EXISTS (SELECT 1 FROM restores WHERE status = 'started'
          AND (checkpoint_id = session_checkpoints.id OR safety_checkpoint_id = session_checkpoints.id))`
      const count = await tx.run(`DELETE FROM session_checkpoints WHERE ${where}`, [checkpoint.id])
      if (count > 0) removed.push(checkpoint)
    }
    if (removed.length === 0) return { removed }
    await tx.run("UPDATE sessions SET checkpoint_count = checkpoint_count - ? WHERE id = ?", [
      removed.length,
      session.id,
    ])
    const data = { checkpointIds: removed.map(({ id }) => id) }
    await appendEntries(
      context,
      tx,
      locked,
      [{ type: "checkpoint:pruned", data }],
      lease === undefined ? {} : { lease },
    )
    return { removed }
  })
}

/** The automatic checkpoints of a session, together with its first and newest one, oldest first. */
export async function listPrunable(store: Store, sessionId: SessionId): Promise<Checkpoint[]> {
  const rows = await store.context.driver.all(
    `SELECT * FROM session_checkpoints WHERE session_id = ?
       AND ((pinned = 0 AND name IS NULL AND trigger_event <> 'manual')
         OR number = (SELECT MIN(number) FROM session_checkpoints WHERE session_id = ?)
         OR number = (SELECT MAX(number) FROM session_checkpoints WHERE session_id = ?))
     ORDER BY number`,
    [sessionId, sessionId, sessionId],
  )
  return rows.map(toListedCheckpoint)
}

/** Checkpoints other sessions came from. */
export async function listBranchPoints(store: Store): Promise<Set<string>> {
  const rows = await store.context.driver.all(
    "SELECT forked_from_checkpoint_id AS id FROM sessions WHERE forked_from_checkpoint_id IS NOT NULL",
  )
  return new Set(rows.map(({ id }) => id as string))
}
