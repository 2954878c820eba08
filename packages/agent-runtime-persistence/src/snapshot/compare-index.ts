/** Compares the files of a small index with the disk as git would, without starting one. */
import { createHash } from "node:crypto"
import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, statSync } from "node:fs"
import { isKeepupError } from "@ku0/agent-runtime-core"
import { type BytePath, foldersAbove, parentOf } from "./byte-path.js"
import { idAt, visitIndex } from "./git-index.js"
import { isPrivateIn, isPrivateMode, notePrivate } from "./private-files.js"
import { type BegunLook, createSecondLook, type Look } from "./second-look.js"
import type { WorkspaceFiles } from "./workspace-files.js"

const emptyBlob = Buffer.from("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "hex")

/**
 * Files whose stat is not what the index says, or says too little: never fewer than git would name. Undefined for an
 * index with more files than told or in any way unusual, damaged ones among them: then git is asked. Notes on the way
 * which of the files are private.
 */
export function findStale(
  files: WorkspaceFiles,
  indexFile: string,
  mostFiles: number,
  marks: Map<BytePath, boolean>,
  begun?: BegunLook,
): BytePath[] | undefined {
  const read = readIndex(files, indexFile, mostFiles)
  if (read === undefined) return undefined
  const looks = secondLook.lookAtAll(read.places, begun)
  let at = read.index.length
  for (const { path, parent } of read.folders) {
    const look = looks[at++]
    if (look !== undefined && isKind(look, constants.S_IFDIR)) files.noteFolder(path, parent, look)
  }
  const stale: BytePath[] = []
  let folder: BytePath | undefined
  let isReal = false
  let isFolderPrivate = false
  for (const [i, entry] of read.index.entries()) {
    const { path } = entry
    if (folder !== entry.folder) {
      folder = entry.folder
      isReal = files.isRealFolder(folder)
      isFolderPrivate = isPrivateIn(marks, folder)
    }
    const stat = isReal ? looks[i] : undefined
    if (stat === undefined || !isSame(entry, stat)) stale.push(path)
    if (stat === undefined) continue
    const isPrivate = isPrivateMode(stat.mode)
    if (!isPrivate && marks.size === 0) continue // nearly always
    if (isKind(stat, constants.S_IFREG) && (marks.get(path) ?? isFolderPrivate) !== isPrivate)
      notePrivate(marks, path, isPrivate)
  }
  return stale
}

/**
 * Begins to look at the files of the index that was read last for a workspace, where a second thread can. Only for the
 * look that follows at once: what changes until then goes unseen by it.
 */
export function beginLook(files: WorkspaceFiles): BegunLook | undefined {
  const read = lastRead.get(files)
  return read && secondLook.begin(read.places)
}

/** One thread for all workspaces of a program. */
const secondLook = createSecondLook()

/** What an index says of a file, ready to be compared. */
interface IndexedFile {
  readonly path: BytePath
  readonly folder: BytePath
  /** False: whatever it looks like, it may have changed. */
  readonly isTrusted: boolean
  readonly mode: number
  /** Seconds and nanoseconds. */
  readonly changed: readonly [number, number]
  readonly modified: readonly [number, number]
  /** These four modulo 2^32. */
  readonly inode: number
  readonly owner: number
  readonly group: number
  readonly size: number
}

interface ReadIndex {
  readonly version: string
  readonly index: readonly IndexedFile[]
  /** Those its files are in, and all above them, which come first. */
  readonly folders: readonly { readonly path: BytePath; readonly parent: BytePath }[]
  /** Where its files are on disk, and behind them the folders: whether those are real is looked at last. */
  readonly places: readonly (string | Buffer)[]
}

/** The last index that was read for a workspace: a program that stays looks at the same one many times. */
const lastRead = new WeakMap<WorkspaceFiles, ReadIndex>()

function readIndex(files: WorkspaceFiles, indexFile: string, mostFiles: number): ReadIndex | undefined {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(indexFile)
    const version = [indexFile, ino, size, mtimeMs, ctimeMs].join("\n")
    const last = lastRead.get(files)
    if (last?.version === version) return last
    const index = parseSmallIndex(indexFile, mostFiles)
    if (index === undefined) return undefined
    const folders = listFolders(index)
    const places = [...index, ...folders].map(({ path }) => files.resolve(path))
    const read = { version, index, folders, places }
    lastRead.set(files, read)
    return read
  } catch (error) {
    if (isKeepupError(error) || (error as NodeJS.ErrnoException).code !== undefined) return undefined
    throw error
  }
}

function listFolders(index: readonly IndexedFile[]): ReadIndex["folders"] {
  const folders = new Set<BytePath>()
  for (const { path, folder } of index) {
    if (folders.has(folder)) continue
    for (const above of foldersAbove(path)) folders.add(above)
  }
  return [...folders].map((path) => ({ path, parent: parentOf(path) }))
}

function parseSmallIndex(indexFile: string, mostFiles: number): IndexedFile[] | undefined {
  const read = readSmallIndex(indexFile, mostFiles)
  if (read === undefined) return undefined
  const { data, second } = read
  const view = new DataView(data.buffer, data.byteOffset, data.length)
  const index: IndexedFile[] = []
  let isPlain = true
  const { isSplit, isSparse } = visitIndex(data, (path, at, mode, flags) => {
    if (isUnusual(flags, mode)) isPlain = false
    const size = view.getUint32(at + 36)
    const changed = [view.getUint32(at), view.getUint32(at + 4)] as const
    const modified = [view.getUint32(at + 8), view.getUint32(at + 12)] as const
    index.push({
      path,
      folder: parentOf(path),
      // A file as young as the index may have changed after it, and size 0 is how git says that one did.
      isTrusted: changed[0] < second && modified[0] < second && (size !== 0 || isEmptyBlob(data, at)),
      mode,
      changed,
      modified,
      inode: view.getUint32(at + 20),
      owner: view.getUint32(at + 28),
      group: view.getUint32(at + 32),
      size,
    })
  })
  return isPlain && !isSplit && !isSparse ? index : undefined
}

function readSmallIndex(indexFile: string, mostFiles: number) {
  const descriptor = openSync(indexFile, "r")
  try {
    const head = Buffer.alloc(12)
    readSync(descriptor, head, 0, head.length, 0)
    if (head.readUInt32BE(8) > mostFiles) return undefined // without reading all of a large one
    const second = Math.floor(fstatSync(descriptor).mtimeMs / 1000)
    const data = readFileSync(descriptor)
    if (data.length < 32 || data.readUInt32BE(8) > mostFiles) return undefined
    const end = data.length - 20
    if (createHash("sha1").update(data.subarray(0, end)).digest().compare(data, end) !== 0) return undefined
    return { data, second }
  } finally {
    closeSync(descriptor)
  }
}

/** Whether more is said than the length of the name. */
function isUnusual(flags: number, mode: number): boolean {
  return (flags & ~0xfff) !== 0 || (mode !== 0o100644 && mode !== 0o100755 && mode !== 0o120000)
}

function isEmptyBlob(data: Buffer, at: number): boolean {
  return data.compare(emptyBlob, 0, 20, at + idAt, at + idAt + 20) === 0
}

/** Times to the nanosecond where the index has them. */
function isSame(entry: IndexedFile, stat: Look): boolean {
  return (
    entry.isTrusted &&
    isTime(stat.ctimeMs, entry.changed) &&
    isTime(stat.mtimeMs, entry.modified) &&
    stat.ino % 2 ** 32 === entry.inode &&
    modeOf(stat) === entry.mode &&
    stat.uid === entry.owner &&
    stat.gid === entry.group &&
    stat.size % 2 ** 32 === entry.size
  )
}

/** The same sum Node makes of both parts. */
function isTime(ms: number, [seconds, nanoseconds]: readonly [number, number]): boolean {
  return nanoseconds === 0 ? Math.floor(ms / 1000) === seconds : ms === seconds * 1000 + nanoseconds / 1_000_000
}

function modeOf(stat: Look): number | undefined {
  if (isKind(stat, constants.S_IFLNK)) return 0o120000
  if (!isKind(stat, constants.S_IFREG)) return undefined
  return (stat.mode & 0o100) === 0 ? 0o100644 : 0o100755
}

function isKind({ mode }: Look, kind: number): boolean {
  return (mode & constants.S_IFMT) === kind
}
