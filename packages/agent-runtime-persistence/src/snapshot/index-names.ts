/** Goes through git's index without making a string for each entry, which is what takes long in a large one. */
import type { BytePath } from "./byte-path.js"
import { FolderNames, type NameBytes } from "./folder-names.js"
import { corrupt, type IndexFacts, modeAt, readExtensions, readHeader, readShort, visitIndex } from "./git-index.js"

export type NamesByFolder = ReadonlyMap<BytePath, FolderNames>

interface SomeNames {
  /** Where the entries start that count; all by default. */
  readonly starts?: Uint32Array
  /** What a folder is called; undefined for one that does not count. */
  readonly innerPath?: (folder: BytePath) => BytePath | undefined
}

/** The names of the files in each folder. */
export function readNamesByFolder(data: Buffer, { starts, innerPath }: SomeNames = {}): NamesByFolder {
  const byFolder = new Map<BytePath, FolderNames>()
  const source: NameBytes = { bytes: data }
  let names: FolderNames | undefined
  let next = 0
  const enter = (folder: BytePath) => {
    const path = innerPath === undefined ? folder : innerPath(folder)
    names = path === undefined ? undefined : (byFolder.get(path) ?? new FolderNames(source))
    if (path !== undefined && names !== undefined) byFolder.set(path, names)
  }
  visitNames(data, source, enter, (start, at) => {
    if (starts !== undefined && at !== starts[next]) return
    next++
    names?.add(start)
  })
  return byFolder
}

/** In which folder each entry is, and where in `source` the last name of its path starts. */
export function visitNames(
  data: Buffer,
  source: NameBytes,
  enter: (folder: BytePath) => void,
  visit: (start: number, at: number, mode: number, flags: number) => void,
): IndexFacts {
  const { version, count } = readHeader(data)
  if (version === 4) return visitShortened(data, source, enter, visit)
  source.bytes = data
  let folder = 0
  let folderLength = -1
  let at = 12
  for (let i = 0; i < count; i++) {
    if (at + 62 > data.length) throw corrupt("it ends too early")
    const flags = readShort(data, at + 60)
    const extended = (flags & 0x4000) !== 0 ? readShort(data, at + 62) : 0
    const path = at + ((flags & 0x4000) !== 0 ? 64 : 62)
    const end = (flags & 0xfff) < 0xfff ? path + (flags & 0xfff) : data.indexOf(0, path)
    if (end < path) throw corrupt("a name does not end")
    const name = findLastName(data, path, end)
    // Entries are sorted, so most of them are in the folder of the one before.
    if (name - path !== folderLength || !isSameBytes(data, path, folder, folderLength)) {
      folder = path
      folderLength = name - path
      enter(data.toString("latin1", path, Math.max(path, name - 1)))
    }
    visit(name, at, modeAt(data, at), flags | (extended << 16))
    at += (end - at + 8) & ~7
  }
  return readExtensions(data, at)
}

/** In version 4 a path begins with what it shares with the one before, which is left out: names are not in one piece. */
function visitShortened(
  data: Buffer,
  source: NameBytes,
  enter: (folder: BytePath) => void,
  visit: (start: number, at: number, mode: number, flags: number) => void,
): IndexFacts {
  source.bytes = Buffer.allocUnsafe(data.length)
  let used = 0
  let folder: BytePath | undefined
  return visitIndex(data, (path, at, mode, flags) => {
    const slash = path.lastIndexOf("/")
    const above = path.slice(0, Math.max(slash, 0))
    if (above !== folder) enter(above)
    folder = above
    const name = `${path.slice(slash + 1)}\0`
    if (used + name.length > source.bytes.length) source.bytes = Buffer.concat([source.bytes, Buffer.alloc(1 << 20)])
    const start = used
    used += source.bytes.write(name, used, "latin1")
    visit(start, at, mode, flags)
  })
}

function findLastName(data: Buffer, path: number, end: number): number {
  let name = end
  while (name > path && data[name - 1] !== 0x2f) name--
  return name
}

function isSameBytes(data: Buffer, a: number, b: number, length: number): boolean {
  for (let i = length - 1; i >= 0; i--) if (data[a + i] !== data[b + i]) return false
  return true
}
