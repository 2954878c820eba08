/**
 * The new content of a restore, written beside the user's files under names of its own and durable. Nothing of the
 * user's is touched, so it may be done while the restore is put on record; it is looked at again before it is used.
 */
import {
  closeSync,
  fchmodSync,
  fsync,
  mkdirSync,
  openSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFile,
  writeSync,
} from "node:fs"
import { setImmediate as yieldToOthers } from "node:timers/promises"
import { promisify } from "node:util"
import { KeepupError } from "@ku0/agent-runtime-core"
import { monotonicNow } from "../store/monotonic-time.js"
import { type BytePath, displayPath } from "./byte-path.js"
import { findOwner, giveTo, type Owner } from "./file-owners.js"
import { type FileStat, permissionsOf } from "./file-stat.js"
import { objectId } from "./git-objects.js"
import type { HeldFiles } from "./held-files.js"
import { permissionsOfNew } from "./private-files.js"
import { readAhead } from "./read-ahead.js"
import { abandonJournal, listPrepared, noteLeftover, stagingName } from "./restore-journal.js"
import type { RestoreWork } from "./restore-plan.js"
import type { KnownFile } from "./scan-state.js"
import type { SnapshotEnvironment } from "./snapshot-environment.js"
import type { FileEntry } from "./trees.js"
import { lookAtFolder } from "./workspace-files.js"

export interface StagedRestore {
  readonly work: RestoreWork
  /** Those that are not as they should be already; the content of each has its number as name in the folder. */
  readonly writes: RestoreWork["writes"]
  readonly deletes: RestoreWork["deletes"]
  readonly seen: Seen
  /** In the workspace; no snapshot ever holds it. */
  readonly folder: BytePath
  /** Removes what is left of it, or leaves a note for who sweeps. Does not throw. */
  discard(held?: HeldFiles): void
}

/** What was at a path when it was first looked at, and when that was. */
export type Seen = Map<BytePath, KnownFile>

export interface StageOptions {
  /** The restore's. */
  readonly id: string
  /** What the safety snapshot saw. It need not be read again here: that is done before anything is touched. */
  readonly captured?: ReadonlyMap<BytePath, KnownFile | "gone"> | undefined
  readonly signal?: AbortSignal | undefined
}

/** Leaves nothing behind when it fails. The caller holds the lock. */
export async function stageRestore(
  environment: SnapshotEnvironment,
  work: RestoreWork,
  { id, captured, signal }: StageOptions,
): Promise<StagedRestore> {
  const { files, step } = environment
  const folder = stagingName(id)
  files.refresh()
  step("restore:check")
  const seen: Seen = new Map()
  const describe = (path: BytePath): FileEntry | undefined => {
    const known = captured?.get(path)
    if (typeof known !== "object") return describeFile(environment, path, seen)
    seen.set(path, known)
    return known
  }
  const writes = work.writes.filter(({ path, entry }) => !isSameEntry(describe(path), entry))
  const deletes = work.deletes.filter(({ path, before }) => needsDeleting(path, before, describe(path)))
  const isNeeded = writes.length > 0
  const discard = (held?: HeldFiles) => {
    if (!isNeeded) return
    held?.hold(files.resolve(folder))
    try {
      removeStaging(environment, id)
    } catch {
      noteLeftover(environment.store, id) // the files are what counts, and why they are not there
    }
  }
  if (isNeeded) {
    try {
      removeStaging(environment, id) // of the same restore, broken off
      step("restore:stage")
      mkdirSync(files.resolve(folder), 0o700)
      await stageAll(environment, writes, seen, folder, signal)
    } catch (error) {
      discard()
      throw error
    }
  }
  return { work, writes, deletes, seen, folder, discard }
}

/** Whatever a killed restore left: only our own temporary files are in it. */
export function removeStaging({ files }: SnapshotEnvironment, id: string): void {
  const folder = files.resolve(stagingName(id))
  try {
    rmdirSync(folder) // nearly always it is empty or not there
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") rmSync(folder, { recursive: true, force: true })
  }
}

/** What killed restores left that were not yet on record. Whoever holds the lock knows that nobody is at it. */
export function sweepStaging(environment: SnapshotEnvironment): void {
  if (environment.isGone || lookAtFolder(environment.files.resolve("")) === undefined) return // it may come back
  for (const id of listPrepared(environment.store)) {
    try {
      removeStaging(environment, id)
      abandonJournal(environment.store, id)
    } catch {
      // It may belong to another user. It is no part of any snapshot, and no reason not to take one.
    }
  }
}

export function isSameEntry(now: FileEntry | undefined, other: FileEntry | undefined): boolean {
  return now !== undefined && now.id === other?.id && now.mode === other.mode
}

function needsDeleting(path: BytePath, before: FileEntry, now: FileEntry | undefined): boolean {
  if (now === undefined) return false
  if (isSameEntry(now, before)) return true
  throw changed(path)
}

/** The entry a path would have in a snapshot taken now. */
export function describeFile({ files, now }: SnapshotEnvironment, path: BytePath, seen?: Seen): FileEntry | undefined {
  const seenAt = now()
  const content = files.read(path)
  if (content.kind !== "content") return undefined
  const entry = { mode: content.mode, id: objectId("blob", content.data) }
  seen?.set(path, { ...entry, stat: content.stat, seenAt })
  return entry
}

export function changed(path: BytePath): KeepupError {
  return new KeepupError("CONFLICT", `${displayPath(path)} changed while it was being restored.`, {
    hint: "Nothing was overwritten. Try again when nothing else writes to the workspace.",
    details: { path: displayPath(path) },
  })
}

/** From so many files on it is worth asking for the whole disk. */
const manyFiles = 64
/** The disk begins to write each time so many more are there, while the rest is still being made. */
const partOfMany = 1_000

async function stageAll(
  environment: SnapshotEnvironment,
  writes: RestoreWork["writes"],
  seen: Seen,
  folder: BytePath,
  signal: AbortSignal | undefined,
): Promise<void> {
  const places: (string | Buffer)[] = []
  const isMany = writes.length >= manyFiles
  let staged = 0
  const ids = writes.map(({ entry }) => entry.id)
  const readOne = (id: string) => environment.reader.get(id, "blob")
  const read = isMany ? await readAhead(environment.reader, ids, readOne) : (i: number) => readOne(ids[i] as string)
  const stop = new AbortController()
  let isWriting = false
  const beginToWrite = () => {
    if (isWriting) return
    isWriting = true
    void environment.syncDisk(environment.files.root, stop.signal).finally(() => {
      isWriting = false
    })
  }
  await inPool(writes, async ({ entry, path, isPrivate }, i) => {
    signal?.throwIfAborted()
    if (i > 0 && i % partOfMany === 0) beginToWrite()
    environment.onProgress?.(staged++, writes.length, "Writing files")
    const data = await read(i)
    const place = environment.files.resolve(`${folder}/${i}`)
    const owner = findOwner(environment.files, path, seen.get(path)?.stat)
    if (entry.mode === "120000") {
      symlinkSync(data, place)
      giveTo(place, owner)
      return
    }
    const permissions = [keptPermissions(seen.get(path), entry), permissionsOfNew(entry.mode, isPrivate)] as const
    await stageFile(place, data, { permissions, owner }, !isMany)
    if (isMany) places.push(place)
  }).finally(() => stop.abort())
  if (isMany) await makeAllDurable(environment, places)
}

/** File by file and all of the disk at once: what is done first counts. */
async function makeAllDurable(
  { files, syncDisk }: SnapshotEnvironment,
  places: readonly (string | Buffer)[],
): Promise<void> {
  const stop = new AbortController()
  let isDurable = false
  void syncDisk(files.root, stop.signal).then((isDone) => {
    isDurable = isDone
  })
  try {
    await inPool(places, async (place) => {
      if (isDurable) return
      const descriptor = openSync(place, "r")
      await makeDurable(descriptor).finally(() => closeSync(descriptor))
    })
  } finally {
    stop.abort()
  }
}

const atOnce = 16
const yieldMs = 15

/**
 * Sixteen at a time: the disk makes them durable together, and gives up the old files beside one another. The program
 * stays responsive, also where nothing has to be waited for.
 */
export async function inPool<T>(items: readonly T[], work: (item: T, index: number) => Promise<void>): Promise<void> {
  let next = 0
  let lastYield = monotonicNow()
  const worker = async () => {
    try {
      for (let i = next++; i < items.length; i = next++) {
        await work(items[i] as T, i)
        if (monotonicNow() - lastYield < yieldMs) continue
        await yieldToOthers()
        lastYield = monotonicNow() // not before: all of them stop for the others
      }
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
  {
    permissions: [kept, permissionsIfNew],
    owner,
  }: { readonly permissions: readonly [number | undefined, number]; readonly owner: Owner | undefined },
  isDurable: boolean,
): Promise<void> {
  const descriptor = openSync(path, "wx", kept ?? permissionsIfNew)
  try {
    await writeAll(descriptor, data)
    giveTo(descriptor, owner)
    if (kept !== undefined) fchmodSync(descriptor, kept) // the umask took some away
    if (isDurable) await makeDurable(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

export const makeDurable = promisify(fsync)
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
