/** Compares the files of a small index with the disk as git would, without starting one. */
import { createHash } from "node:crypto"
import { closeSync, fstatSync, openSync, readFileSync, readSync, type Stats } from "node:fs"
import { isKeepupError } from "@ku0/agent-runtime-core"
import { type BytePath, isAscii } from "./byte-path.js"
import { visitIndex } from "./git-index.js"
import { isPrivateIn, isPrivateMode, notePrivate } from "./private-files.js"
import { lookAtDisk, type WorkspaceFiles } from "./workspace-files.js"

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
): BytePath[] | undefined {
  const read = readIndex(indexFile, mostFiles)
  if (read === undefined) return undefined
  const { data, second } = read
  const view = new DataView(data.buffer, data.byteOffset, data.length)
  const stale: BytePath[] = []
  let isPlain = true
  let folder = enter("")
  function compare(path: BytePath, at: number, mode: number, flags: number): void {
    if (!isPlain || isUnusual(flags, mode)) {
      isPlain = false
      return
    }
    const slash = path.lastIndexOf("/")
    const above = slash < 0 ? "" : path.slice(0, slash)
    if (folder.path !== above) folder = enter(above)
    const stat = folder.isReal ? lookAtDisk(resolve(path, slash + 1)) : undefined
    if (stat === undefined || !isSame(data, at, mode, view, stat, second)) stale.push(path)
    if (stat === undefined) return
    const isPrivate = isPrivateMode(stat.mode)
    if (!isPrivate && marks.size === 0) return // nearly always
    if (stat.isFile() && (marks.get(path) ?? folder.isPrivate) !== isPrivate) notePrivate(marks, path, isPrivate)
  }

  function enter(path: BytePath) {
    const start = files.resolve(path)
    return {
      path,
      isReal: files.isRealFolder(path),
      isPrivate: isPrivateIn(marks, path),
      start: typeof start === "string" ? `${start}/` : undefined,
    }
  }

  /** Most files lie beside one another, and have plain names. */
  function resolve(path: BytePath, nameAt: number): string | Buffer {
    const name = path.slice(nameAt)
    return folder.start === undefined || !isAscii(name) ? files.resolve(path) : folder.start + name
  }

  try {
    const { isSplit, isSparse } = visitIndex(data, compare)
    return isPlain && !isSplit && !isSparse ? stale : undefined
  } catch (error) {
    if (isKeepupError(error)) return undefined
    throw error
  }
}

function readIndex(indexFile: string, mostFiles: number) {
  let descriptor: number | undefined
  try {
    descriptor = openSync(indexFile, "r")
    const head = Buffer.alloc(12)
    readSync(descriptor, head, 0, head.length, 0)
    if (head.readUInt32BE(8) > mostFiles) return undefined // without reading all of a large one
    const second = Math.floor(fstatSync(descriptor).mtimeMs / 1000)
    const data = readFileSync(descriptor)
    if (data.length < 32 || data.readUInt32BE(8) > mostFiles) return undefined
    const end = data.length - 20
    if (createHash("sha1").update(data.subarray(0, end)).digest().compare(data, end) !== 0) return undefined
    return { data, second }
  } catch {
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Whether more is said than the length of the name. */
function isUnusual(flags: number, mode: number): boolean {
  return (flags & ~0xfff) !== 0 || (mode !== 0o100644 && mode !== 0o100755 && mode !== 0o120000)
}

/** Times to the nanosecond where the index has them; a file as young as the index may have changed after it. */
function isSame(bytes: Buffer, at: number, mode: number, view: DataView, stat: Stats, indexSecond: number): boolean {
  const changed = view.getUint32(at)
  const modified = view.getUint32(at + 8)
  if (changed >= indexSecond || modified >= indexSecond) return false
  const size = view.getUint32(at + 36)
  if (size === 0 && bytes.compare(emptyBlob, 0, 20, at + 40, at + 60) !== 0) return false
  return (
    isTime(stat.ctimeMs, changed, view.getUint32(at + 4)) &&
    isTime(stat.mtimeMs, modified, view.getUint32(at + 12)) &&
    stat.ino % 2 ** 32 === view.getUint32(at + 20) &&
    modeOf(stat) === mode &&
    stat.uid === view.getUint32(at + 28) &&
    stat.gid === view.getUint32(at + 32) &&
    stat.size % 2 ** 32 === size
  )
}

/** The same sum Node makes of both parts. */
function isTime(ms: number, seconds: number, nanoseconds: number): boolean {
  return nanoseconds === 0 ? Math.floor(ms / 1000) === seconds : ms === seconds * 1000 + nanoseconds / 1_000_000
}

function modeOf(stat: Stats): number | undefined {
  if (stat.isSymbolicLink()) return 0o120000
  if (!stat.isFile()) return undefined
  return (stat.mode & 0o100) === 0 ? 0o100644 : 0o100755
}
