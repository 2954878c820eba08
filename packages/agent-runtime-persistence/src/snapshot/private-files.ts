/**
 * Which files are private: their group and all others may neither read nor write nor run them. A mark stands for one
 * file, or, when it ends with a slash, for every file below a folder that has no nearer mark: where all files are
 * private, one mark says so. Without marks no file is.
 */
import { type BytePath, foldersAbove, parentOf } from "./byte-path.js"
import { permissionsOf } from "./file-stat.js"
import type { Overlay } from "./scan-state.js"

export type PrivateMarks = ReadonlyMap<BytePath, boolean>

export function isPrivate(marks: PrivateMarks, path: BytePath): boolean {
  return marks.get(path) ?? isPrivateIn(marks, parentOf(path))
}

/** Whether the files of a folder are private that have no mark of their own. */
export function isPrivateIn(marks: PrivateMarks, folder: BytePath): boolean {
  if (marks.size === 0) return false
  for (let at = folder; ; at = parentOf(at)) {
    const mark = marks.get(`${at}/`)
    if (mark !== undefined || at === "") return mark ?? false
  }
}

export function isPrivateMode(permissions: number): boolean {
  return (permissions & 0o077) === 0
}

/** With which permissions a file of a snapshot is made; the umask takes some away, as from any new file. */
export function permissionsOfNew(mode: string, isFilePrivate: boolean): number {
  return (mode === "100755" ? 0o777 : 0o666) & (isFilePrivate ? 0o700 : 0o777)
}

export function notePrivate(marks: Map<BytePath, boolean>, path: BytePath, isFilePrivate: boolean): void {
  marks.delete(path)
  if (isPrivateIn(marks, parentOf(path)) !== isFilePrivate) marks.set(path, isFilePrivate)
}

/** What is no file, or not in the snapshot, has no mark. */
export function noteSeen(marks: Map<BytePath, boolean>, path: BytePath, seen: Overlay | undefined): void {
  const permissions = typeof seen === "object" ? permissionsOf(seen.stat) : undefined
  if (permissions === undefined) marks.delete(path)
  else notePrivate(marks, path, isPrivateMode(permissions))
}

export function hasSameMarks(a: PrivateMarks, b: PrivateMarks): boolean {
  return a.size === b.size && [...a].every(([path, mark]) => b.get(path) === mark)
}

const manyMarks = 256

/** Whether it is worth looking at every file to say it with fewer marks: each time that many became twice as many. */
export function hasManyMore(marks: PrivateMarks, before: number): boolean {
  return marks.size >= manyMarks && Math.clz32(marks.size) < Math.clz32(before)
}

interface Counts {
  /** Marks needed inside the folder if it is open, and if it is private. */
  open: number
  private: number
}

/** The fewest marks that say the same of these files. */
export function compactMarks(marks: PrivateMarks, files: readonly BytePath[]): Map<BytePath, boolean> {
  const folders = new Map<BytePath, Counts>([["", { open: 0, private: 0 }]])
  for (const path of files) {
    const folder = parentOf(path)
    if (!folders.has(folder))
      for (const one of [...foldersAbove(folder), folder])
        if (!folders.has(one)) folders.set(one, { open: 0, private: 0 })
    ;(folders.get(folder) as Counts)[isPrivate(marks, path) ? "open" : "private"]++
  }
  const outermostFirst = [...folders].sort(([a], [b]) => a.length - b.length)
  for (const [path, counts] of [...outermostFirst].reverse()) {
    if (path === "") continue
    const above = folders.get(parentOf(path)) as Counts
    above.open += Math.min(counts.open, counts.private + 1)
    above.private += Math.min(counts.private, counts.open + 1)
  }
  const compact = new Map<BytePath, boolean>()
  for (const [path, counts] of outermostFirst) {
    const inherited = isPrivateIn(compact, parentOf(path))
    const [same, other] = inherited ? [counts.private, counts.open] : [counts.open, counts.private]
    if (other + 1 < same) compact.set(`${path}/`, !inherited)
  }
  for (const path of files) notePrivate(compact, path, isPrivate(marks, path))
  return compact
}
