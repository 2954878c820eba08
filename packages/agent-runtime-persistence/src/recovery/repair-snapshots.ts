/** Keeps snapshots again that nothing keeps any more, puts lost content back, and then lets go of what is nobody's. */
import { lstatSync, rmdirSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { toKeepupError } from "@ku0/agent-runtime-core"
import { leaseName } from "../session/lease-row.js"
import { makeFolder, replaceFile } from "../snapshot/durable-file.js"
import { checkpointRef } from "../snapshot/refs.js"
import type { SnapshotStore } from "../snapshot/snapshot-store.js"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"
import { hasCommit, isYoung, listRubbish, listUnowned } from "./check-snapshots.js"
import { type KnownWorkspace, listWorkspaces } from "./list-workspaces.js"
import { listOtherUsers } from "./snapshot-users.js"

export interface RepairSnapshotsOptions {
  /** False: let go of nothing, because what the database says can't be trusted. */
  readonly mayForget: boolean
}

export async function repairSnapshots(context: TimeTravelContext, options: RepairSnapshotsOptions): Promise<string[]> {
  const done: string[] = []
  for (const known of await listWorkspaces(context.store)) {
    const snapshots = await context.snapshots(known.path).catch(() => undefined) // told by the check
    if (snapshots === undefined) continue
    try {
      done.push(...(await keepAgain(snapshots, known)))
      done.push(...(await putBack(snapshots)))
      if (await isQuiet(context, known)) {
        done.push(...removeRubbish(context, snapshots))
        const isShared = listOtherUsers(snapshots.directory, context.store).length > 0
        if (options.mayForget && !isShared) done.push(...(await letGo(context, snapshots, known)))
      }
    } catch (error) {
      done.push(`The snapshots of ${known.path} could not all be mended: ${toKeepupError(error).message}`)
    }
  }
  return done
}

async function keepAgain(snapshots: SnapshotStore, { rows }: KnownWorkspace): Promise<string[]> {
  const done: string[] = []
  const refs = snapshots.listCheckpoints()
  for (const { id, number, sessionId, commit } of rows) {
    if (refs.get(id) === commit || !(await hasCommit(snapshots, commit))) continue
    const path = join(snapshots.directory, checkpointRef(id))
    makeFolder(dirname(path))
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) rmdirSync(path)
    replaceFile(path, `${commit}\n`, { durable: true })
    done.push(`The snapshot of checkpoint #${number} of session ${sessionId} is kept again.`)
  }
  return done
}

async function putBack(snapshots: SnapshotStore): Promise<string[]> {
  if ((await snapshots.check()).isSound) return []
  const { repaired, mendedRefs } = await snapshots.repair()
  const found = "was found in the workspace or in its git repository, and put back"
  return [
    ...repaired.map((path) => `The lost content of ${path} ${found}.`),
    ...mendedRefs.map((name) => `The ref ${name} of the snapshots of ${snapshots.workspacePath} was made again.`),
  ]
}

/** Nobody is at work there now. */
async function isQuiet({ store }: TimeTravelContext, { path, rows }: KnownWorkspace): Promise<boolean> {
  const resources = [leaseName("workspace", path), ...new Set(rows.map((row) => leaseName("session", row.sessionId)))]
  for (const resource of resources) if ((await store.leases.find(resource)) !== undefined) return false
  return true
}

function removeRubbish({ store }: TimeTravelContext, snapshots: SnapshotStore): string[] {
  return listRubbish(snapshots, store.context.clock.now()).map((path) => {
    rmSync(path, { recursive: true, force: true })
    return `${path}, left by a process that was killed, was removed.`
  })
}

/** Only from a store that is whole, and never what someone may just be making. */
async function letGo(context: TimeTravelContext, snapshots: SnapshotStore, known: KnownWorkspace): Promise<string[]> {
  const now = context.store.context.clock.now()
  const all = await context.store.context.driver.all("SELECT id FROM session_checkpoints")
  // whatever workspace their sessions say they are in
  const keep = new Set([...all.map(({ id }) => id as string), ...known.lost])
  const unowned = listUnowned(snapshots, keep, now)
  if (unowned.length === 0 || !(await snapshots.check()).isSound) return []
  for (const id of snapshots.listCheckpoints().keys()) if (isYoung(id, now)) keep.add(id)
  await snapshots.gc(keep)
  return [`${unowned.length} snapshot(s) of ${known.path} that belong to no checkpoint were let go.`]
}
