/** Trees as nested maps of names: change some paths, compare two, list one. Untouched folders are never read. */
import { type BytePath, foldersAbove, joinPath, nameOf } from "./byte-path.js"
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

interface Folder {
  /** Names that become a file, or (null) no longer are one. */
  readonly files: Map<BytePath, FileEntry | null>
  readonly folders: Map<BytePath, Folder>
}

/** A tree with some paths set or (null) removed. `emit` gets each tree object that the old tree did not have there. */
export async function editTree(
  reader: ObjectReader,
  base: string,
  changes: ReadonlyMap<BytePath, FileEntry | null>,
  emit: (id: string, data: Buffer, names: TreeNames) => void,
): Promise<string> {
  const root: Folder = { files: new Map(), folders: new Map() }
  for (const [path, entry] of changes) {
    let folder = root
    for (const name of foldersAbove(path).map(nameOf)) {
      const next: Folder = folder.folders.get(name) ?? { files: new Map(), folders: new Map() }
      folder.folders.set(name, next)
      folder = next
    }
    folder.files.set(nameOf(path), entry)
  }
  const id = await editFolder(reader, base, root, emit)
  if (id !== undefined) return id
  emit(emptyTree, Buffer.alloc(0), new Map())
  return emptyTree
}

async function editFolder(
  reader: ObjectReader,
  base: string | undefined,
  folder: Folder,
  emit: (id: string, data: Buffer, names: TreeNames) => void,
): Promise<string | undefined> {
  const entries = new Map(base === undefined ? [] : await reader.tree(base))
  for (const [name, file] of folder.files) {
    if (file !== null) entries.set(name, { name, mode: file.mode, id: file.id })
    else if (entries.get(name)?.mode !== treeMode) entries.delete(name)
  }
  for (const [name, inside] of folder.folders) {
    const old = entries.get(name)
    if (folder.files.get(name)) continue // a file took the folder's place
    const inner = await editFolder(reader, old?.mode === treeMode ? old.id : undefined, inside, emit)
    if (inner !== undefined) entries.set(name, { name, mode: treeMode, id: inner })
    else if (old?.mode === treeMode) entries.delete(name)
  }
  if (entries.size === 0) return undefined
  const sorted = sortTree(entries.values())
  const data = formatTree(sorted)
  const id = objectId("tree", data)
  if (id !== base) {
    const names = new Map(sorted.map((entry) => [entry.name, entry]))
    emit(id, data, names)
    reader.keepTree(id, names)
  }
  return id
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
