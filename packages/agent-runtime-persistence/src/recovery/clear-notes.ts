/**
 * Takes away what a restore left that was done when its process died: the note beside the snapshots, and the dead
 * lease on the workspace. Looks only where something died.
 */
import type { Session } from "@ku0/agent-runtime-core"
import { isHeld, leaseName, sharedNow, toLeaseRow } from "../session/lease-row.js"
import { removeJournal } from "../snapshot/restore-journal.js"
import { findRestore } from "../time-travel/restore-records.js"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"

const workspaceLease = leaseName("workspace", "")

/** Restores and interrupted sessions must have been settled before. */
export async function clearNotes(context: TimeTravelContext, interrupted: readonly Session[]): Promise<void> {
  const { driver, host } = context.store.context
  const paths = new Set<string>()
  for (const { workspacePath } of interrupted) {
    const any = await driver.get("SELECT 1 FROM restores WHERE workspace_path = ? LIMIT 1", [workspacePath])
    if (any !== undefined) paths.add(workspacePath)
  }
  const held = await driver.all("SELECT * FROM leases WHERE holder_id IS NOT NULL AND resource LIKE ?", [
    `${workspaceLease}%`,
  ])
  for (const lease of held.map(toLeaseRow)) {
    if (lease.host !== host || (await isHeld(lease, await sharedNow(context.store.context, driver), host))) continue
    const path = lease.resource.slice(workspaceLease.length)
    if (!(await clearWorkspace(context, path))) continue
    paths.delete(path)
    await driver.run("UPDATE leases SET holder_id = NULL WHERE resource = ? AND number = ?", [
      lease.resource,
      lease.number,
    ])
  }
  for (const path of paths) await clearWorkspace(context, path)
}

/** Removes the notes of restores that have ended. False where there is more to do, or its snapshots can't be opened now. */
export async function clearWorkspace(context: TimeTravelContext, path: string): Promise<boolean> {
  const snapshots = await context.snapshots(path).catch(() => undefined) // the next restore there will say why
  if (snapshots === undefined) return false
  await snapshots.sweepRestores().catch(() => {}) // whoever holds the snapshots now, or the next one, does it
  let isClear = true
  for (const { id } of snapshots.listUnfinishedRestores()) {
    const restore = await findRestore(context.store.context.driver, id)
    if (restore === undefined || restore.status === "started") isClear = false
    else removeJournal(snapshots.directory, id)
  }
  return isClear
}
