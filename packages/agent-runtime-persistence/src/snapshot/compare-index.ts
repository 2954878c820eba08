/** Compares the files of a small index with the disk as git would, without starting one. */
import { createHash } from "node:crypto"
import { readFileSync, type Stats, statSync } from "node:fs"
import type { BytePath } from "./byte-path.js"
import { type IndexEntry, parseIndex } from "./git-index.js"
import { lookAtDisk, type WorkspaceFiles } from "./workspace-files.js"

const emptyBlob = Buffer.from("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "hex")

/**
 * Files whose stat is not what the index says, or says too little: never fewer than git would name. Undefined for an
 * index with more files than told or in any way unusual, damaged ones among them: then git is asked.
 */
export function findStale(files: WorkspaceFiles, indexFile: string, mostFiles: number): BytePath[] | undefined {
  const read = readIndex(indexFile, mostFiles)
  if (read === undefined) return undefined
  const stale: BytePath[] = []
  const { data, second } = read
  const view = new DataView(data.buffer, data.byteOffset, data.length)
  let folder: { path: BytePath; isReal: boolean } | undefined
  for (const entry of read.entries) {
    const slash = entry.path.lastIndexOf("/")
    const above = slash < 0 ? "" : entry.path.slice(0, slash)
    if (folder?.path !== above) folder = { path: above, isReal: files.isRealFolder(above) }
    const stat = folder.isReal ? lookAtDisk(files.resolve(entry.path)) : undefined
    if (stat === undefined || !isSame(entry, view, stat, second)) stale.push(entry.path)
  }
  return stale
}

function readIndex(indexFile: string, mostFiles: number) {
  try {
    const second = Math.floor(statSync(indexFile).mtimeMs / 1000)
    const data = readFileSync(indexFile)
    if (data.length < 32 || data.readUInt32BE(8) > mostFiles) return undefined
    const end = data.length - 20
    if (createHash("sha1").update(data.subarray(0, end)).digest().compare(data, end) !== 0) return undefined
    const { entries, isSplit, isSparse } = parseIndex(data)
    return isSplit || isSparse || entries.some(isUnusual) ? undefined : { data, entries, second }
  } catch {
    return undefined
  }
}

/** Whether more is said than the length of the name. */
function isUnusual({ flags, mode }: IndexEntry): boolean {
  return (flags & ~0xfff) !== 0 || (mode !== 0o100644 && mode !== 0o100755 && mode !== 0o120000)
}

/** Times to the nanosecond where the index has them; a file as young as the index may have changed after it. */
function isSame({ bytes, at, mode }: IndexEntry, view: DataView, stat: Stats, indexSecond: number): boolean {
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
