/**
 * Folders as they were when we last read their names. A folder whose times have not changed has the same names in it,
 * so only changed folders are read again. Also the only place that knows which folders are empty: git does not.
 */
import type { BytePath } from "./byte-path.js"
import type { FolderLook } from "./workspace-files.js"

export interface KnownDirectory {
  readonly inode: number
  readonly modified: number
  readonly changed: number
  /** When its names were read, in milliseconds; 0: read again whatever the times say. */
  readonly readAt: number
  readonly isEmpty: boolean
  /** Ignored by git, but something inside may be asked for by `capture.include`. */
  readonly onlyIncluded: boolean
}

export interface DirectoryTable {
  readonly entries: ReadonlyMap<BytePath, KnownDirectory>
  /** Grows with each change. */
  readonly version: number
  set(path: BytePath, directory: KnownDirectory): void
  delete(path: BytePath): void
  clear(): void
  listEmpty(): BytePath[]
}

export function createDirectoryTable(entries = new Map<BytePath, KnownDirectory>()): DirectoryTable {
  let version = 0
  const empty = new Set<BytePath>()
  const note = (path: BytePath, { isEmpty }: KnownDirectory) => (isEmpty ? empty.add(path) : empty.delete(path))
  for (const [path, directory] of entries) note(path, directory)
  return {
    entries,
    get version() {
      return version
    },
    set(path, directory) {
      entries.set(path, directory)
      note(path, directory)
      version++
    },
    delete(path) {
      empty.delete(path)
      if (entries.delete(path)) version++
    },
    clear() {
      entries.clear()
      empty.clear()
      version++
    },
    listEmpty: () => [...empty].filter((path) => path !== "").sort(),
  }
}

export function describeDirectory(
  stat: FolderLook,
  readAt: number,
  isEmpty: boolean,
  onlyIncluded: boolean,
): KnownDirectory {
  const newest = Math.max(stat.mtimeMs, stat.ctimeMs)
  const coarse = stat.mtimeMs % 1 === 0 && stat.ctimeMs % 1 === 0
  // Too fresh to trust: a name added in the same tick of the clock would not show.
  const settled = newest + (coarse ? 2100 : 50) < readAt
  return {
    inode: stat.ino,
    modified: stat.mtimeMs,
    changed: stat.ctimeMs,
    readAt: settled ? readAt : 0,
    isEmpty,
    onlyIncluded,
  }
}

/** Whether the names in the folder are surely those we read. */
export function isUnchanged(known: KnownDirectory, stat: FolderLook): boolean {
  return (
    known.readAt !== 0 && known.modified === stat.mtimeMs && known.changed === stat.ctimeMs && known.inode === stat.ino
  )
}

export function formatDirectoryTable(table: DirectoryTable): string {
  const lines: string[] = []
  for (const [path, d] of table.entries) {
    const flags = (d.isEmpty ? 1 : 0) + (d.onlyIncluded ? 2 : 0)
    const modified = String(d.modified) // what takes longest; both times are mostly the same
    const changed = d.changed === d.modified ? modified : String(d.changed)
    lines.push(`${d.inode} ${modified} ${changed} ${d.readAt} ${flags} ${path}`)
  }
  return lines.join("\0")
}

export function parseDirectoryTable(text: string): DirectoryTable {
  const entries = new Map<BytePath, KnownDirectory>()
  for (const line of text === "" ? [] : text.split("\0")) {
    const words = line.split(" ", 5)
    const parts = words.map(Number) as [number, number, number, number, number]
    const path = line.slice(words.join(" ").length + 1)
    entries.set(path, {
      inode: parts[0],
      modified: parts[1],
      changed: parts[2],
      readAt: parts[3],
      isEmpty: (parts[4] & 1) !== 0,
      onlyIncluded: (parts[4] & 2) !== 0,
    })
  }
  return createDirectoryTable(entries)
}
