/** The snapshots of every workspace: each checkpoint's files are there and whole, and nothing is left of a crash. */
import { lstatSync, readdirSync } from "node:fs"
import { join } from "node:path"
import type { SnapshotStore } from "../snapshot/snapshot-store.js"
import { isWorkspaceThere, missingWorkspace } from "../snapshot/workspace-root.js"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"
import { type Finding, finding, guarded } from "./finding.js"
import { listWorkspaces, type SnapshotRow } from "./list-workspaces.js"
import { listOtherUsers } from "./snapshot-users.js"

/** Something younger may belong to someone who is just at it. */
const youngMs = 3_600_000

export async function checkSnapshots(context: TimeTravelContext): Promise<Finding[]> {
  const found: Finding[] = []
  for (const { path, rows, lost } of await listWorkspaces(context.store)) {
    const where = `workspace ${path}`
    let snapshots: SnapshotStore | undefined
    found.push(
      ...(await guarded("workspace-missing", where, async () => {
        snapshots = await context.snapshots(path)
        return []
      })),
    )
    if (snapshots === undefined) continue
    const opened = snapshots
    if (opened.isGone || !isWorkspaceThere(opened.workspacePath))
      found.push(finding("workspace-missing", where, missingWorkspace(path).message))
    // the objects first: after that nothing is taken from memory
    const objects = await guarded("snapshot-damaged", where, () => checkObjects(opened, rows, where))
    found.push(...(await guarded("snapshot-damaged", where, () => checkRefs(opened, rows, where))), ...objects)
    const keep = new Set([...rows.map(({ id }) => id), ...lost])
    const unowned = safely(() => listUnowned(opened, keep, context.store.context.clock.now()))
    if (unowned.length > 0 && listOtherUsers(opened.directory, context.store).length === 0) {
      const what = `${unowned.length} snapshot(s) belong to no checkpoint any more.`
      found.push(finding("ref-unowned", where, what, true))
    }
    found.push(...findRubbish(opened, context.store.context.clock.now()))
  }
  return found
}

async function checkRefs(snapshots: SnapshotStore, rows: readonly SnapshotRow[], where: string): Promise<Finding[]> {
  const refs = snapshots.listCheckpoints()
  const found: Finding[] = []
  for (const { id, number, commit, sessionId, isElsewhere } of rows) {
    if (refs.get(id) === commit) continue
    const name = `checkpoint #${number} (${id}) of session ${sessionId}, ${where}`
    if (await hasCommit(snapshots, commit)) {
      found.push(
        finding("ref-missing", name, `Nothing keeps its snapshot ${commit} any more, but it is still there.`, true),
      )
    } else if (!isElsewhere) found.push(finding("snapshot-missing", name, `Its snapshot ${commit} is gone.`))
  }
  return found
}

/** Whether the snapshot, with everything in it, can still be read. */
export async function hasCommit(snapshots: SnapshotStore, commit: string): Promise<boolean> {
  try {
    await snapshots.listFiles(commit)
    return true
  } catch {
    return false // not there, or not whole: which of them `snapshots.check` tells
  }
}

async function checkObjects(snapshots: SnapshotStore, rows: readonly SnapshotRow[], where: string): Promise<Finding[]> {
  const { damaged, problems } = await snapshots.check()
  const found = damaged.map(({ checkpoint, paths }) => {
    const row = rows.find(({ id }) => id === checkpoint)
    const name = row === undefined ? checkpoint : `checkpoint #${row.number} (${row.id}) of session ${row.sessionId}`
    const lost = paths[0] === "." ? "its list of files" : `${paths.length} file(s): ${paths.slice(0, 3).join(", ")}`
    return finding("snapshot-damaged", `${name}, ${where}`, `Its snapshot has lost ${lost}.`, true)
  })
  if (found.length > 0) return found
  return problems.map((line) => finding("snapshot-damaged", where, `git says: ${line}.`, true))
}

/** Refs of no checkpoint that are old enough to be nobody's. */
export function listUnowned(snapshots: SnapshotStore, keep: ReadonlySet<string>, now: number): string[] {
  return [...snapshots.listCheckpoints().keys()].filter((id) => !keep.has(id) && !isYoung(id, now))
}

/** By the time in the id; one without a time is taken for young, and stays. */
export function isYoung(id: string, now: number): boolean {
  const time = /([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/.exec(id)
  return time === null || now - Number.parseInt(`${time[1]}${time[2]}`, 16) < youngMs
}

const lockFile = /\.lock$/
const temporaryFile = /^tmp_|^tmp-ref-|\.tmp$/
const stagingFolder = /^\.keepup-restore-[0-9a-f-]{36}$/

function findRubbish(snapshots: SnapshotStore, now: number): Finding[] {
  return listRubbish(snapshots, now).map((path) => {
    const isLock = lockFile.test(path)
    const what = isLock ? "A lock that a killed git left." : "A file that a killed process left."
    return finding("rubbish-left", path, what, true)
  })
}

/** Locks and temporary files in the store, and what waits in the workspace for a restore nobody knows of. */
export function listRubbish(snapshots: SnapshotStore, now: number): string[] {
  const { directory, workspacePath } = snapshots
  const isOld = (path: string) => now - (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now) > youngMs
  const inStore = [
    directory,
    join(directory, "objects/pack"),
    join(directory, "objects/info"),
    join(directory, "restores"),
  ]
  const found = inStore.flatMap((folder) =>
    safely(() => readdirSync(folder))
      .filter((name) => lockFile.test(name) || temporaryFile.test(name))
      .map((name) => join(folder, name)),
  )
  const noted = new Set(safely(() => snapshots.listUnfinishedRestores().map(({ id }) => `.keepup-restore-${id}`)))
  const staged = safely(() => readdirSync(workspacePath))
    .filter((name) => stagingFolder.test(name) && !noted.has(name))
    .map((name) => join(workspacePath, name))
  return [...found, ...staged].filter(isOld)
}

function safely<Item>(list: () => Item[]): Item[] {
  try {
    return list()
  } catch {
    return [] // it can't be read; other checks say so
  }
}
