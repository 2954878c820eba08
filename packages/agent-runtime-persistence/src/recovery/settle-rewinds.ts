/**
 * After a crash in the middle of a rewind: a branch whose files were brought back stays, one whose files were not is
 * taken away again. The mark in its metadata says that it was on its way, and who was at it.
 */
import type { Session } from "@ku0/agent-runtime-core"
import { isProcessAlive, type ProcessIdentity } from "../session/process-identity.js"
import { rewindMark } from "../session/session-marks.js"
import { toListedSession } from "../store/rows.js"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"

/** Returns the branches that were taken away. Restores must have been settled before. */
export async function settleRewinds({ store }: TimeTravelContext): Promise<Session[]> {
  const { driver } = store.context
  const removed: Session[] = []
  const rows = await driver.all(
    "SELECT * FROM sessions WHERE forked_from_checkpoint_id IS NOT NULL AND deleted_at IS NULL AND metadata LIKE ?",
    [`%"${rewindMark}":%`],
  )
  for (const row of rows) {
    const session = toListedSession(row) // one that can't be read has no mark, and is left to the doctor
    const holder = session.metadata[rewindMark] as ProcessIdentity | undefined
    if (holder === undefined || (await isProcessAlive(holder, store.context.host)) !== false) continue
    const restore = await driver.get("SELECT status FROM restores WHERE session_id = ? ORDER BY ordinal LIMIT 1", [
      session.id,
    ])
    if (restore?.["status"] === "started") continue
    if (restore === undefined || restore["status"] === "taken-back") {
      await store.sessions.delete(session.id)
      removed.push(session)
    } else await store.sessions.updateMetadata(session.id, { [rewindMark]: undefined })
  }
  return removed
}
