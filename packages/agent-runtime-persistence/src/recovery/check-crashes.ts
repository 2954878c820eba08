/** What a process left that died: unfinished restores and rewinds, interrupted sessions, dead leases, notes. */
import { cleanupSessions } from "../session/cleanup-sessions.js"
import { isHeld, leaseName, sharedNow, toLeaseRow } from "../session/lease-row.js"
import { rewindMark } from "../session/session-marks.js"
import { isKeptHere } from "../time-travel/require-snapshot.js"
import { findRestore, listUnfinishedRestores } from "../time-travel/restore-records.js"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"
import { listUnfinishedImports } from "../transfer/import-mark.js"
import { type Finding, finding, guarded } from "./finding.js"
import { listWorkspaces } from "./list-workspaces.js"

export async function checkCrashes(context: TimeTravelContext): Promise<Finding[]> {
  const { store } = context
  const { driver, host } = store.context
  const found: Finding[] = []
  for (const { id, sessionId, workspacePath, safetyCheckpointId, host: home } of await listUnfinishedRestores(driver)) {
    if ((await store.leases.find(leaseName("session", sessionId))) !== undefined) continue // someone is at it
    const isHere = home === host.split("/")[0] || (await isKeptHere(context, workspacePath, safetyCheckpointId))
    const where = `restore ${id} of session ${sessionId} in ${workspacePath}`
    found.push(finding("restore-unfinished", where, `It was broken off on ${home}.`, isHere))
  }
  const sessions = await guarded("row-unreadable", "sessions", async () => {
    const { interrupted } = await cleanupSessions(store, { dryRun: true })
    const what = "The process that held it is gone."
    return interrupted.map(({ id }) => finding("session-interrupted", `session ${id}`, what, true))
  })
  found.push(...sessions.filter(({ code }) => code !== "row-unreadable")) // told by the check of sessions
  found.push(...(await findStaleLeases(context)), ...(await findRewinds(context)), ...(await findImports(context)))
  found.push(...(await findNotes(context)))
  return found
}

async function findStaleLeases({ store }: TimeTravelContext): Promise<Finding[]> {
  const { driver, host } = store.context
  const found: Finding[] = []
  const now = await sharedNow(store.context, driver)
  for (const lease of (await driver.all("SELECT * FROM leases WHERE holder_id IS NOT NULL")).map(toLeaseRow)) {
    if (await isHeld(lease, now, host)) continue
    const what = `Its holder, ${lease.purpose} (pid ${lease.pid}), is gone; it blocks nobody.`
    found.push(finding("lease-stale", lease.resource, what, true))
  }
  return found
}

async function findRewinds({ store }: TimeTravelContext): Promise<Finding[]> {
  const rows = await store.context.driver.all(
    "SELECT id FROM sessions WHERE forked_from_checkpoint_id IS NOT NULL AND deleted_at IS NULL AND metadata LIKE ?",
    [`%"${rewindMark}":%`],
  )
  return rows.map(({ id }) =>
    finding("rewind-unfinished", `session ${id}`, "It was being made by a rewind that has not ended.", true),
  )
}

async function findImports({ store }: TimeTravelContext): Promise<Finding[]> {
  return await guarded("row-unreadable", "sessions", async () => {
    const abandoned = (await listUnfinishedImports(store.context)).filter(({ isAbandoned }) => isAbandoned)
    const what = "It was being imported when the process ended; nobody sees it."
    return abandoned.map(({ sessionId }) => finding("import-unfinished", `session ${sessionId}`, what, true))
  })
}

/** Notes beside the snapshots of restores that have long ended, or that the store knows nothing of. */
async function findNotes(context: TimeTravelContext): Promise<Finding[]> {
  const found: Finding[] = []
  for (const { path } of await listWorkspaces(context.store)) {
    const snapshots = await context.snapshots(path).catch(() => undefined) // told by the check of snapshots
    if (snapshots === undefined) continue
    const where = `${snapshots.directory}/restores`
    const notes = await guarded("note-left", where, async () => {
      try {
        const list: Finding[] = []
        for (const { id } of snapshots.listUnfinishedRestores()) {
          const restore = await findRestore(context.store.context.driver, id)
          if (restore?.status === "started") continue
          const what = restore ? `Restore ${id} ended, its note did not.` : `The store does not know of restore ${id}.`
          list.push(finding("note-left", `${where}/${id}.json`, what, restore !== undefined))
        }
        return list
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error
        return [finding("note-left", where, `A note of a restore can't be read: ${error.message}.`)]
      }
    })
    found.push(...notes)
  }
  return found
}
