/** Trees as nested maps of names: change some paths, compare two, list one. Untouched folders are never read. */
import { type BytePath, joinPath } from "./byte-path.js"
import { emptyTree, formatTree, objectId, sortTree, type TreeEntry, type TreeNames, treeMode } from "./git-objects.js"
import type { ObjectReader } from "./object-reader.js"

export interface FileEntry {
  readonly mode: string
  readonly id: string
}

export interface TreeChange {
  readonly path: BytePath
  readonly before: FileEntry | undefined
  readonly after: FileEntry | undefined
}

/**
 * A tree with some paths changed: `fileAt` says which file each of them is now, if any. `emit` gets each tree object
 * that the old tree did not have there.
 */
export async function editTree(
  reader: ObjectReader,
  base: string,
  changed: readonly BytePath[],
  fileAt: (path: BytePath) => FileEntry | undefined,
  emit: (id: string, data: Buffer, names: TreeNames) => void,
): Promise<string> {
  const paths = [...changed].sort() // what is in one folder follows each other
  const id = await editFolder(base, 0, 0, paths.length)
  if (id !== undefined) return id
  emit(emptyTree, Buffer.alloc(0), new Map())
  return emptyTree

  /** Edits the folder whose changed paths are those from `start` to `end`, its own path being their first `prefix` letters. */
  async function editFolder(
    old: string | undefined,
    prefix: number,
    start: number,
    end: number,
  ): Promise<string | undefined> {
    const entries = new Map(old === undefined ? [] : await reader.tree(old))
    let next = start
    while (next < end) {
      const path = paths[next] as BytePath
      const slash = path.indexOf("/", prefix)
      if (slash < 0) {
        editFile(entries, path.slice(prefix), fileAt(path))
        next++
      } else {
        const first = next
        next = findEnd(path.slice(prefix, slash + 1), prefix, first, end)
        if (isChanged(path.slice(0, slash)) && fileAt(path.slice(0, slash))) continue // a file took the folder's place
        const name = path.slice(prefix, slash)
        const there = entries.get(name)
        const before = there?.mode === treeMode ? there.id : undefined
        const inner = await editFolder(before, slash + 1, first, next)
        if (inner !== undefined) entries.set(name, { name, mode: treeMode, id: inner })
        else if (before !== undefined) entries.delete(name)
      }
    }
    if (entries.size === 0) return undefined
    const sorted = sortTree(entries.values())
    const data = formatTree(sorted)
    const edited = objectId("tree", data)
    if (edited !== old) {
      const names = new Map(sorted.map((entry) => [entry.name, entry]))
      emit(edited, data, names)
      reader.keepTree(edited, names)
    }
    return edited
  }

  function isChanged(path: BytePath): boolean {
    let low = 0
    let high = paths.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((paths[middle] as BytePath) < path) low = middle + 1
      else high = middle
    }
    return paths[low] === path
  }

  function findEnd(name: BytePath, prefix: number, start: number, end: number): number {
    let at = start + 1
    while (at < end && paths[at]?.startsWith(name, prefix)) at++
    return at
  }
}

function editFile(entries: Map<BytePath, TreeEntry>, name: BytePath, file: FileEntry | undefined): void {
  if (file !== undefined) entries.set(name, { name, mode: file.mode, id: file.id })
  else if (entries.get(name)?.mode !== treeMode) entries.delete(name)
}

/** Paths that differ between two trees, in byte order of the walk. Equal folders are not read. */
export async function compareTrees(reader: ObjectReader, before: string, after: string): Promise<TreeChange[]> {
  const changes: TreeChange[] = []
  await compareFolders(reader.tree, before, after, "", changes)
  return changes
}

async function compareFolders(
  readTree: ObjectReader["tree"],
  before: string | undefined,
  after: string | undefined,
  path: BytePath,
  changes: TreeChange[],
): Promise<void> {
  if (before === after) return
  const old = before === undefined ? new Map<string, TreeEntry>() : await readTree(before)
  const now = after === undefined ? new Map<string, TreeEntry>() : await readTree(after)
  for (const name of new Set([...old.keys(), ...now.keys()])) {
    const a = old.get(name)
    const b = now.get(name)
    if (a?.id === b?.id && a?.mode === b?.mode) continue
    const inner = joinPath(path, name)
    const fileBefore = asFile(a)
    const fileAfter = asFile(b)
    if (fileBefore || fileAfter) changes.push({ path: inner, before: fileBefore, after: fileAfter })
    const folderBefore = a?.mode === treeMode ? a.id : undefined
    const folderAfter = b?.mode === treeMode ? b.id : undefined
    if (folderBefore || folderAfter) await compareFolders(readTree, folderBefore, folderAfter, inner, changes)
  }
}

function asFile(entry: TreeEntry | undefined): FileEntry | undefined {
  return entry === undefined || entry.mode === treeMode ? undefined : { mode: entry.mode, id: entry.id }
}

/** Every file of a tree, folder by folder. */
export async function listTree(
  reader: ObjectReader,
  tree: string,
  under: BytePath = "",
): Promise<Map<BytePath, FileEntry>> {
  const files = new Map<BytePath, FileEntry>()
  let level: [BytePath, string][] = [[under, tree]]
  while (level.length > 0) {
    const next: [BytePath, string][] = []
    const folders = await Promise.all(level.map(([, id]) => reader.tree(id)))
    folders.forEach((folder, i) => {
      const path = (level[i] as [BytePath, string])[0]
      for (const entry of folder.values()) {
        const inner = joinPath(path, entry.name)
        if (entry.mode === treeMode) next.push([inner, entry.id])
        else files.set(inner, { mode: entry.mode, id: entry.id })
      }
    })
    level = next
  }
  return files
}

/** The entry at a path: a file or a folder, or undefined. */
export async function findEntry(reader: ObjectReader, tree: string, path: BytePath): Promise<TreeEntry | undefined> {
  let entry: TreeEntry | undefined = { mode: treeMode, name: "", id: tree }
  if (path === "") return entry
  for (const name of path.split("/")) {
    if (entry?.mode !== treeMode) return undefined
    entry = (await reader.tree(entry.id)).get(name)
  }
  return entry
}
