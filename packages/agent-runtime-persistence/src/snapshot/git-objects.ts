/** Git's objects as bytes: ids, trees and commits, written and read without a git process. */
import { createHash } from "node:crypto"
import type { BytePath } from "./byte-path.js"

export type ObjectType = "blob" | "tree" | "commit"

/** Modes of a captured path. Nothing else is ever written to a tree. */
export type FileMode = "100644" | "100755" | "120000"

export interface TreeEntry {
  readonly mode: string
  /** One name, not a path. */
  readonly name: BytePath
  readonly id: string
}

/** A folder's entries by name, in git's order. */
export type TreeNames = ReadonlyMap<BytePath, TreeEntry>

export const treeMode = "40000"
export const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

export function objectId(type: ObjectType, data: Buffer): string {
  return createHash("sha1").update(`${type} ${data.length}\0`).update(data).digest("hex")
}

export function parseTree(data: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = []
  for (let at = 0; at < data.length; ) {
    const space = data.indexOf(32, at)
    const end = data.indexOf(0, space)
    entries.push({
      mode: readMode(data.toString("latin1", at, space)),
      name: data.toString("latin1", space + 1, end),
      id: data.toString("hex", end + 1, end + 21),
    })
    at = end + 21
  }
  return entries
}

/** As git reads it: trees of old programs, which repositories keep for ever, say the same in other words. */
export function readMode(words: string): string {
  if (words === treeMode || words === "100644" || words === "100755") return words
  const mode = Number.parseInt(words, 8)
  if ((mode & 0o170000) === 0o040000) return treeMode
  if ((mode & 0o170000) === 0o100000) return (mode & 0o100) === 0 ? "100644" : "100755"
  return words
}

export function namesOf(tree: Buffer): TreeNames {
  const names = new Map<BytePath, TreeEntry>()
  for (const entry of parseTree(tree)) names.set(entry.name, entry)
  return names
}

/** As git does: a folder sorts as if its name ended in a slash. */
export function sortTree(entries: Iterable<TreeEntry>): TreeEntry[] {
  return [...entries].sort((a, b) => compareBytes(sortKey(a), sortKey(b)))
}

export function formatTree(sorted: readonly TreeEntry[]): Buffer {
  const size = sorted.reduce((sum, { mode, name }) => sum + mode.length + name.length + 22, 0)
  const data = Buffer.allocUnsafe(size)
  let at = 0
  for (const { mode, name, id } of sorted) {
    at += data.write(`${mode} ${name}\0`, at, "latin1")
    at += data.write(id, at, "hex")
  }
  return data
}

export function compareBytes(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function sortKey(entry: TreeEntry): string {
  return entry.mode === treeMode ? `${entry.name}/` : entry.name
}

export interface CommitFacts {
  readonly tree: string
  /** UTF-8. */
  readonly message: string
  /** Seconds since 1970. */
  readonly time: number
}

/** Commits have no parents, so that dropping a checkpoint's ref frees what only it held. */
export function formatCommit(facts: CommitFacts): Buffer {
  const who = `keepup <keepup@localhost> ${facts.time} +0000`
  return Buffer.from(`tree ${facts.tree}\nauthor ${who}\ncommitter ${who}\n\n${facts.message}`, "utf8")
}

export function parseCommit(data: Buffer): CommitFacts {
  const end = data.indexOf("\n\n")
  const head = data.toString("latin1", 0, end)
  return {
    tree: head.slice(5, 45),
    message: data.toString("utf8", end + 2),
    time: Number(/^committer .* (\d+) [+-]\d{4}$/m.exec(head)?.[1] ?? 0),
  }
}
