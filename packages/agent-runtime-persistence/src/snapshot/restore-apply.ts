/**
 * Carries out a restore: all new content first, under temporary names and durable together; then a last look that
 * nothing changed since the safety snapshot; then renames and deletions; then the folders. Files that are as they
 * should be are not touched. No link is ever followed.
 */

import {
  closeSync,
  fchmodSync,
  fsync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFile,
  writeSync,
} from "node:fs"
import { promisify } from "node:util"
import { KeepupError } from "@ku0/agent-runtime-core"
import { type BytePath, displayPath, foldersAbove, parentOf } from "./byte-path.js"
import { encodeStat, type FileStat, isSettled, permissionsOf } from "./file-stat.js"
import { objectId } from "./git-objects.js"
import { canHold, changeBeside, changeHeld, type HeldFiles, type NameChange } from "./held-files.js"
import { moveAcross } from "./move-across.js"
import { permissionsOfNew } from "./private-files.js"
import type { RestoreWork } from "./restore-plan.js"
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

const atOnce = 16

/**
 * `stagingName` is a folder in the workspace that no snapshot ever holds. Content is staged while the note of the
 * restore becomes durable; nothing of the user's is changed before `noted` resolves.
 */
export async function applyRestoreWork(
  environment: SnapshotEnvironment,
  work: RestoreWork,
  stagingName: string,
  noted: Promise<void>,
  { onTouch, signal, held }: RestoreWatch,
): Promise<AppliedRestore> {
  const { files, step } = environment
  files.refresh()
  noted.catch(() => {}) // it is awaited below, but staging may fail before
  const staging = files.resolve(stagingName)
  removeStaging(staging)
  step("restore:check")
  const seen: Seen = new Map()
  const writes = work.writes.filter((write) => needsWriting(environment, write, seen))
  const deletes = work.deletes.filter(({ path, before }) => needsDeleting(environment, path, before, seen))
  const failed: { path: string; reason: string }[] = []
  try {
    if (writes.length > 0) {
      step("restore:stage")
      mkdirSync(staging, 0o700)
      await stageAll(environment, writes, seen, stagingName, signal)
    }
    await noted
    step("restore:recheck")
    files.refresh()
    for (const { path, before } of [...writes, ...deletes]) refuseChanged(environment, path, before, seen)
    signal?.throwIfAborted()
    step("restore:delete")
    onTouch?.()
    const touched = new Set<BytePath>()
    const change = canHold(writes.length + deletes.length) ? changeHeld(held) : changeBeside
    await inPool(deletes, async ({ path }) => {
      refuseSwapped(environment, path, seen)
      await remove(environment, path, touched, change)
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
      const reason = await place(environment, `${stagingName}/${i}`, write.path, touched, seen, change)
      if (reason !== undefined) failed.push({ path: displayPath(write.path), reason })
      if (i % 64 === 0) step("restore:renaming")
    })
    for (const folder of work.makeFolders) {
      if (!makeFolders(environment, folder, touched)) failed.push({ path: displayPath(folder), reason: "blocked" })
    }
    step("restore:sync")
    await inPool([...touched], async (folder) => {
      if (!lookAtDisk(files.resolve(folder))?.isDirectory()) return
      const descriptor = openSync(files.resolve(folder), "r")
      await makeDurable(descriptor).finally(() => closeSync(descriptor))
    })
  } finally {
    held.hold(staging)
    removeStaging(staging)
  }
  step("restore:verify")
  files.refresh()
  for (const write of writes) {
    const path = displayPath(write.path)
    if (needsWriting(environment, write) && !failed.some((one) => one.path === path))
      failed.push({ path, reason: "differs" })
  }
  step("restore:done")
  return { written: writes.length, deleted: deletes.length, failed }
}

/** Whatever a killed restore left: only our own temporary files are in it. */
export function removeStaging(staging: string | Buffer): void {
  rmSync(staging, { recursive: true, force: true })
}

/** What was at a path when it was first looked at, and when that was. */
type Seen = Map<BytePath, FileEntry & { readonly stat: FileStat; readonly seenAt: number }>

function needsWriting(environment: SnapshotEnvironment, write: RestoreWork["writes"][number], seen?: Seen): boolean {
  const now = describe(environment, write.path, seen)
  return now?.id !== write.entry.id || now.mode !== write.entry.mode
}

function needsDeleting(environment: SnapshotEnvironment, path: BytePath, before: FileEntry, seen: Seen): boolean {
  const now = describe(environment, path, seen)
  if (now === undefined) return false
  if (now.id === before.id && now.mode === before.mode) return true
  throw changed(path)
}

/** The entry a path would have in a snapshot taken now. */
function describe({ files, now }: SnapshotEnvironment, path: BytePath, seen?: Seen): FileEntry | undefined {
  const seenAt = now()
  const content = files.read(path)
  if (content.kind !== "content") return undefined
  const entry = { mode: content.mode, id: objectId("blob", content.data) }
  seen?.set(path, { ...entry, stat: content.stat, seenAt })
  return entry
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
  const now = isKnown && isSettled(known.stat, known.seenAt) ? known : describe(environment, path, seen)
  if (before === undefined || now?.id !== before.id || now.mode !== before.mode) throw changed(path)
}

/**
 * The same right before a name changes: among thousands of files, someone may have saved one since all of them were
 * checked. Times alone may differ: files that share their content on disk change each other's.
 */
function refuseSwapped(environment: SnapshotEnvironment, path: BytePath, seen: Seen): void {
  const stat = lstatSync(environment.files.resolve(path), { bigint: true, throwIfNoEntry: false })
  if (stat === undefined || stat.isDirectory()) return
  const known = seen.get(path)
  const current = encodeStat(stat)
  if (known?.stat === current) return
  if (known === undefined || hasOtherPermissions(known, current)) throw changed(path)
  const now = describe(environment, path)
  if (now?.id !== known.id || now.mode !== known.mode) throw changed(path)
}

/** The new file was given those the old one had when it was first looked at. */
function hasOtherPermissions(known: { readonly stat: FileStat } | undefined, now: FileStat): boolean {
  return permissionsOf(now) !== (known && permissionsOf(known.stat))
}

function changed(path: BytePath): KeepupError {
  return new KeepupError("CONFLICT", `${displayPath(path)} changed while it was being restored.`, {
    hint: "Nothing was overwritten. Try again when nothing else writes to the workspace.",
    details: { path: displayPath(path) },
  })
}

async function stageAll(
  environment: SnapshotEnvironment,
  writes: RestoreWork["writes"],
  seen: Seen,
  stagingName: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  let staged = 0
  await inPool(writes, async ({ entry, path, isPrivate }, i) => {
    signal?.throwIfAborted()
    environment.onProgress?.(staged++, writes.length, "Writing files")
    const data = await environment.reader.get(entry.id, "blob")
    const temporary = environment.files.resolve(`${stagingName}/${i}`)
    if (entry.mode === "120000") symlinkSync(data, temporary)
    else
      await stageFile(temporary, data, keptPermissions(seen.get(path), entry), permissionsOfNew(entry.mode, isPrivate))
  })
}

/** Sixteen at a time: the disk makes them durable together, and gives up the old files beside one another. */
async function inPool<T>(items: readonly T[], work: (item: T, index: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    try {
      for (let i = next++; i < items.length; i = next++) await work(items[i] as T, i)
    } catch (error) {
      next = items.length // the others end what they are at, so that nothing is written behind our back
      throw error
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: Math.min(atOnce, items.length) }, worker))
  for (const end of ends) if (end.status === "rejected") throw end.reason
}

/**
 * Only what makes the disk turn waits on another thread: a thread for each small step would take longer. The file never
 * has more permissions than it is to have in the end.
 */
async function stageFile(
  path: string | Buffer,
  data: Buffer,
  kept: number | undefined,
  permissionsIfNew: number,
): Promise<void> {
  const descriptor = openSync(path, "wx", kept ?? permissionsIfNew)
  try {
    await writeAll(descriptor, data)
    if (kept !== undefined) fchmodSync(descriptor, kept) // the umask took some away
    await makeDurable(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const makeDurable = promisify(fsync)
const writeBeside = promisify(writeFile) as (descriptor: number, data: Buffer) => Promise<void>
const largeFile = 256 << 10

async function writeAll(descriptor: number, data: Buffer): Promise<void> {
  if (data.length > largeFile) await writeBeside(descriptor, data)
  else for (let at = 0; at < data.length; ) at += writeSync(descriptor, data, at)
}

/** A file that is replaced keeps its permissions, except that the executable bit is as it was captured. */
function keptPermissions(now: { readonly stat: FileStat } | undefined, entry: FileEntry): number | undefined {
  const permissions = now && permissionsOf(now.stat)
  if (permissions === undefined) return undefined
  const isExecutable = entry.mode === "100755"
  if (isExecutable === ((permissions & 0o100) !== 0)) return permissions
  const plain = permissions & 0o666
  return isExecutable ? plain | ((plain & 0o444) >> 2) | 0o100 : plain
}

async function remove(
  { files }: SnapshotEnvironment,
  path: BytePath,
  touched: Set<BytePath>,
  change: NameChange,
): Promise<void> {
  try {
    await change.remove(files.resolve(path))
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
  change: NameChange,
): Promise<string | undefined> {
  const { files } = environment
  if (!makeFolders(environment, parentOf(to), touched)) return "blocked"
  const target = files.resolve(to)
  if (lookAtDisk(target)?.isDirectory()) {
    if (readdirSync(target).length > 0) return "blocked"
    rmdirSync(target)
  }
  refuseSwapped(environment, to, seen)
  try {
    await change.move(files.resolve(from), target)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error
    await moveAcross(files, from, to, change)
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
    touched.add(parentOf(path))
  }
  return true
}
