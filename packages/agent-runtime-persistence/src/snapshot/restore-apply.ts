/**
 * Carries out a restore: all new content first, under temporary names and durable together; then a last look that
 * nothing changed since the safety snapshot; then renames and deletions; then the folders. Files that are as they
 * should be are not touched. No link is ever followed.
 */

import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, unlinkSync } from "node:fs"
import { type FileHandle, open, symlink } from "node:fs/promises"
import { KeepupError } from "@ku0/agent-runtime-core"
import { type BytePath, displayPath, foldersAbove, parentOf } from "./byte-path.js"
import { objectId } from "./git-objects.js"
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
  /** Called right before the first file is touched. Must not throw. */
  onTouch: () => void,
): Promise<AppliedRestore> {
  const { files, step } = environment
  files.refresh()
  noted.catch(() => {}) // it is awaited below, but staging may fail before
  const staging = files.resolve(stagingName)
  removeStaging(staging)
  step("restore:check")
  const writes = work.writes.filter((write) => needsWriting(environment, write))
  const deletes = work.deletes.filter(({ path, before }) => needsDeleting(environment, path, before))
  const failed: { path: string; reason: string }[] = []
  try {
    if (writes.length > 0) {
      step("restore:stage")
      mkdirSync(staging, 0o700)
      await stageAll(environment, writes, stagingName)
    }
    await noted
    step("restore:recheck")
    files.refresh()
    for (const { path, before } of writes) refuseChanged(environment, path, before)
    for (const { path, before } of deletes) refuseChanged(environment, path, before)
    step("restore:delete")
    onTouch()
    const touched = new Set<BytePath>()
    for (const { path } of deletes) remove(environment, path, touched)
    step("restore:folders")
    removeEmptyFolders(
      environment,
      work,
      deletes.map(({ path }) => path),
      touched,
    )
    step("restore:rename")
    for (const [i, write] of writes.entries()) {
      const reason = place(environment, `${stagingName}/${i}`, write.path, touched)
      if (reason !== undefined) failed.push({ path: displayPath(write.path), reason })
      if (i % 64 === 0) step("restore:renaming")
    }
    for (const folder of work.makeFolders) {
      if (!makeFolders(environment, folder, touched)) failed.push({ path: displayPath(folder), reason: "blocked" })
    }
    step("restore:sync")
    await inPool([...touched], async (folder) => {
      if (!lookAtDisk(files.resolve(folder))?.isDirectory()) return
      const handle = await open(files.resolve(folder), "r")
      await handle.sync().finally(() => handle.close())
    })
  } finally {
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

function needsWriting(environment: SnapshotEnvironment, write: RestoreWork["writes"][number]): boolean {
  const now = describe(environment, write.path)
  return now?.id !== write.entry.id || now.mode !== write.entry.mode
}

function needsDeleting(environment: SnapshotEnvironment, path: BytePath, before: FileEntry): boolean {
  const now = describe(environment, path)
  if (now === undefined) return false
  if (now.id === before.id && now.mode === before.mode) return true
  throw changed(path)
}

/** The entry a path would have in a snapshot taken now. */
function describe({ files }: SnapshotEnvironment, path: BytePath): FileEntry | undefined {
  const content = files.read(path)
  return content.kind === "content" ? { mode: content.mode, id: objectId("blob", content.data) } : undefined
}

/** Law: only what the safety snapshot holds may be overwritten or deleted. */
function refuseChanged(environment: SnapshotEnvironment, path: BytePath, before: FileEntry | undefined): void {
  const found = environment.files.look(path)
  if (found.kind === "absent" || found.kind === "folder") return
  const now = describe(environment, path)
  if (before === undefined || now?.id !== before.id || now.mode !== before.mode) throw changed(path)
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
  stagingName: string,
): Promise<void> {
  let staged = 0
  await inPool(writes, async ({ entry, path }, i) => {
    environment.onProgress?.(staged++, writes.length, "Writing files")
    const data = await environment.reader.get(entry.id, "blob")
    const temporary = environment.files.resolve(`${stagingName}/${i}`)
    if (entry.mode === "120000") await symlink(data, temporary)
    else await stageFile(temporary, data, entry, permissions(environment, path, entry))
  })
}

/** Sixteen at a time: the disk makes them durable together. */
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

async function stageFile(
  path: string | Buffer,
  data: Buffer,
  entry: FileEntry,
  mode: number | undefined,
): Promise<void> {
  let file: FileHandle | undefined
  try {
    file = await open(path, "wx", entry.mode === "100755" ? 0o777 : 0o666)
    await file.writeFile(data)
    if (mode !== undefined) await file.chmod(mode)
    await file.sync()
  } finally {
    await file?.close()
  }
}

/** A file that is replaced keeps its permissions, except that the executable bit is as it was captured. */
function permissions({ files }: SnapshotEnvironment, path: BytePath, entry: FileEntry): number | undefined {
  const stat = lookAtDisk(files.resolve(path))
  if (!stat?.isFile()) return undefined
  const plain = stat.mode & 0o666
  return entry.mode === "100755" ? plain | ((plain & 0o444) >> 2) | 0o100 : plain
}

function remove({ files }: SnapshotEnvironment, path: BytePath, touched: Set<BytePath>): void {
  try {
    unlinkSync(files.resolve(path))
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

function place(
  environment: SnapshotEnvironment,
  from: BytePath,
  to: BytePath,
  touched: Set<BytePath>,
): string | undefined {
  const { files } = environment
  if (!makeFolders(environment, parentOf(to), touched)) return "blocked"
  const target = files.resolve(to)
  if (lookAtDisk(target)?.isDirectory()) {
    if (readdirSync(target).length > 0) return "blocked"
    rmdirSync(target)
  }
  renameSync(files.resolve(from), target)
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
