/**
 * Carries out a restore whose content is staged: a last look that nothing changed since the safety snapshot; then
 * renames and deletions; then the folders. Files that are as they should be are not touched. No link is ever followed.
 */
import { closeSync, lstatSync, mkdirSync, openSync, readdirSync, rmdirSync } from "node:fs"
import { type BytePath, displayPath, foldersAbove, parentOf } from "./byte-path.js"
import { findOwner, giveTo } from "./file-owners.js"
import { encodeStat, type FileStat, isSettled, permissionsOf } from "./file-stat.js"
import { type HeldFiles, moveHeld, removeHeld } from "./held-files.js"
import { moveAcross } from "./move-across.js"
import type { RestoreWork } from "./restore-plan.js"
import {
  changed,
  describeFile,
  inPool,
  isSameEntry,
  makeDurable,
  type Seen,
  type StagedRestore,
} from "./restore-stage.js"
import type { SnapshotEnvironment } from "./snapshot-environment.js"
import type { FileEntry } from "./trees.js"
import { lookAtDisk } from "./workspace-files.js"

export interface AppliedRestore {
  readonly written: number
  readonly deleted: number
  /** Paths that could not be made as they should be, and why. */
  readonly failed: readonly { readonly path: string; readonly reason: string }[]
}

export interface RestoreWatch {
  /** Called right before the first file is touched. Must not throw. */
  readonly onTouch?: () => void
  /** Stops it before that, and its reason is thrown; from then on it is finished. */
  readonly signal?: AbortSignal | undefined
  /** Keeps what is replaced or removed, until the caller lets go of it. */
  readonly held: HeldFiles
}

/** Folders and files are opened when all names are changed, many at a time: what is held must leave room for them. */
const fewHeld = 16

/** Nothing of the user's is changed before `noted` resolves. What was staged is used up, whatever comes of it. */
export async function applyStaged(
  environment: SnapshotEnvironment,
  staged: StagedRestore,
  noted: Promise<void>,
  { onTouch, signal, held }: RestoreWatch,
): Promise<AppliedRestore> {
  const { files, step } = environment
  const { work, writes, deletes, seen, folder } = staged
  const failed: { path: string; reason: string }[] = []
  try {
    await noted // not looked at before: whatever is saved while the disk turns must be seen before anything is touched
    step("restore:recheck")
    files.refresh()
    for (const { path, before } of [...writes, ...deletes]) refuseChanged(environment, path, before, seen)
    signal?.throwIfAborted()
    step("restore:delete")
    onTouch?.()
    const touched = new Set<BytePath>()
    await inPool(deletes, async ({ path }) => {
      await held.makeRoom() // nothing comes between the look at a file and what is done to it
      if (!areFolders(environment, foldersAbove(path))) throw changed(path)
      refuseSwapped(environment, path, seen)
      remove(environment, path, touched, held)
    })
    step("restore:folders")
    removeEmptyFolders(
      environment,
      work,
      deletes.map(({ path }) => path),
      touched,
    )
    step("restore:rename")
    await inPool(writes, async (write, i) => {
      await held.makeRoom()
      const reason = await place(environment, `${folder}/${i}`, write.path, touched, seen, held)
      if (reason !== undefined) failed.push({ path: displayPath(write.path), reason })
      if (i % 64 === 0) step("restore:renaming")
    })
    for (const made of work.makeFolders) {
      if (!makeFolders(environment, made, touched)) failed.push({ path: displayPath(made), reason: "blocked" })
    }
    await held.makeRoom(fewHeld)
    step("restore:sync")
    const synced = inPool([...touched], async (path) => {
      if (!lookAtDisk(files.resolve(path))?.isDirectory()) return
      const descriptor = openSync(files.resolve(path), "r")
      await makeDurable(descriptor).finally(() => closeSync(descriptor))
    })
    synced.catch(() => {}) // awaited below, unless something else fails first
    step("restore:verify")
    files.refresh()
    for (const write of writes) {
      if (isSameEntry(describeFile(environment, write.path), write.entry)) continue
      const path = displayPath(write.path)
      if (!failed.some((one) => one.path === path)) failed.push({ path, reason: "differs" })
    }
    await synced
  } finally {
    staged.discard(held)
  }
  step("restore:done")
  return { written: writes.length, deleted: deletes.length, failed }
}

/** Law: only what the safety snapshot holds may be overwritten or deleted. */
function refuseChanged(
  environment: SnapshotEnvironment,
  path: BytePath,
  before: FileEntry | undefined,
  seen: Seen,
): void {
  const found = environment.files.look(path)
  if (found.kind === "absent" || found.kind === "folder") {
    seen.delete(path)
    return
  }
  const known = seen.get(path)
  if (found.kind === "file" && hasOtherPermissions(known, found.stat)) throw changed(path)
  const isKnown = known !== undefined && found.kind === "file" && found.stat === known.stat
  const now = isKnown && isSettled(known.stat, known.seenAt) ? known : describeFile(environment, path, seen)
  if (!isSameEntry(now, before)) throw changed(path)
}

/**
 * The same right before a name changes: among thousands of files, someone may have saved one since all of them were
 * checked. Times alone may differ: files that share their content on disk change each other's.
 * @returns whether there is a folder
 */
function refuseSwapped(environment: SnapshotEnvironment, path: BytePath, seen: Seen): boolean {
  const stat = lstatSync(environment.files.resolve(path), { bigint: true, throwIfNoEntry: false })
  if (stat === undefined || stat.isDirectory()) return stat !== undefined
  const known = seen.get(path)
  const current = encodeStat(stat)
  if (known?.stat === current && isSettled(known.stat, known.seenAt)) return false
  if (known === undefined || hasOtherPermissions(known, current)) throw changed(path)
  const now = describeFile(environment, path)
  if (!isSameEntry(now, known)) throw changed(path)
  return false
}

/** The new file was given those the old one had when it was first looked at. */
function hasOtherPermissions(known: { readonly stat: FileStat } | undefined, now: FileStat): boolean {
  return permissionsOf(now) !== (known && permissionsOf(known.stat))
}

/** As of now: a folder may have become a link since all were checked, and what is behind it is not ours. One that is gone is no harm. */
function areFolders({ files }: SnapshotEnvironment, folders: readonly BytePath[]): boolean {
  return folders.every((folder) => lookAtDisk(files.resolve(folder))?.isDirectory() !== false)
}

function remove({ files }: SnapshotEnvironment, path: BytePath, touched: Set<BytePath>, held: HeldFiles): void {
  try {
    removeHeld(held, files.resolve(path))
    touched.add(parentOf(path))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
  }
}

/** Folders that deletions left empty go too, unless the target has them; a folder with anything in it stays. */
function removeEmptyFolders(
  { files }: SnapshotEnvironment,
  work: RestoreWork,
  deleted: readonly BytePath[],
  touched: Set<BytePath>,
): void {
  const keep = new Set<BytePath>(work.makeFolders)
  const candidates = new Set<BytePath>(work.removeFolders)
  for (const path of [...deleted, ...work.removeFolders])
    for (const folder of foldersAbove(path)) candidates.add(folder)
  for (const folder of [...candidates].sort((a, b) => b.length - a.length)) {
    if (keep.has(folder)) continue
    try {
      rmdirSync(files.resolve(folder))
      touched.add(parentOf(folder))
      touched.delete(folder)
    } catch {
      // It is not empty, or not there, or not a folder: all three mean it stays as it is.
    }
  }
}

async function place(
  environment: SnapshotEnvironment,
  from: BytePath,
  to: BytePath,
  touched: Set<BytePath>,
  seen: Seen,
  held: HeldFiles,
): Promise<string | undefined> {
  const { files } = environment
  if (!makeFolders(environment, parentOf(to), touched)) return "blocked"
  const target = files.resolve(to)
  const lookAgain = () => refuseSwapped(environment, to, seen)
  if (lookAgain()) {
    if (readdirSync(target).length > 0) return "blocked"
    rmdirSync(target)
    lookAgain()
  }
  try {
    moveHeld(held, files.resolve(from), target)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error
    await moveAcross(files, from, to, { held, lookAgain })
  }
  touched.add(parentOf(to))
  return undefined
}

/** False when something that is not a folder is in the way. */
function makeFolders({ files }: SnapshotEnvironment, folder: BytePath, touched: Set<BytePath>): boolean {
  if (folder === "") return true
  for (const path of [...foldersAbove(folder), folder]) {
    const stat = lookAtDisk(files.resolve(path))
    if (stat?.isDirectory()) continue
    if (stat !== undefined) return false
    mkdirSync(files.resolve(path))
    giveTo(files.resolve(path), findOwner(files, path))
    touched.add(parentOf(path))
  }
  return true
}
