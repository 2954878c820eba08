/** Git's index file, read and written without git: versions 2 to 4 in, version 4 out. */
import { createHash } from "node:crypto"
import { KeepupError } from "@ku0/agent-runtime-core"
import type { BytePath } from "./byte-path.js"
import type { FileStat } from "./file-stat.js"

export interface IndexEntry {
  readonly path: BytePath
  /** As in the index: 0o100644, 0o100755, 0o120000, or 0o160000 for a submodule. */
  readonly mode: number
  /** The index itself and where in it this entry starts; id and times are read only where they are needed. */
  readonly bytes: Buffer
  readonly at: number
  /** As in the index: `assumeUnchanged` and the bits of `unusual`, the extended ones shifted by 16. */
  readonly flags: number
}

/** The user told git not to look at the file. */
export const assumeUnchanged = 0x8000
/** Unmerged, not in the working tree, or only intended to be added. */
export const unusual = 0x3000 | (0x4000 << 16) | (0x2000 << 16)

/** Unmerged, sparse, intended and submodule entries say nothing certain about a file's content. */
export function isPlain(mode: number, flags: number): boolean {
  return (mode === 0o100644 || mode === 0o100755 || mode === 0o120000) && (flags & unusual) === 0
}

export interface ParsedIndex {
  readonly entries: IndexEntry[]
  /** Folder → tree id, where the index knows that the folder's entries make that tree. */
  readTrees(): Map<BytePath, string>
  /** Where in the index the ids of the same trees start. */
  findTrees(): Uint32Array
  /** The tree of all entries, if the index knows it. */
  readonly rootTree: string | undefined
  /** The index is one half; the other is in a shared file. */
  readonly isSplit: boolean
  /** Entries may stand for whole folders. */
  readonly isSparse: boolean
}

export type IndexFacts = Omit<ParsedIndex, "entries">

/** Parses an index with SHA-1 ids, or throws `CORRUPT`. */
export function parseIndex(data: Buffer): ParsedIndex {
  const entries: IndexEntry[] = []
  const rest = visitIndex(data, (path, at, mode, flags) => entries.push({ path, mode, bytes: data, at, flags }))
  return { entries, ...rest }
}

/** As `parseIndex`, but hands over the entries one by one: an object for each is what takes long in a large index. */
export function visitIndex(
  data: Buffer,
  visit: (path: BytePath, at: number, mode: number, flags: number) => void,
): IndexFacts {
  const { version, count } = readHeader(data)
  const text = data.toString("latin1") // cutting names out of one string is much cheaper than asking the buffer for each
  let at = 12
  let previous = ""
  for (let i = 0; i < count; i++) {
    if (at + 62 > data.length) throw corrupt("it ends too early")
    const flags = readShort(data, at + 60)
    const extended = (flags & 0x4000) !== 0 ? readShort(data, at + 62) : 0
    const name = at + ((flags & 0x4000) !== 0 ? 64 : 62)
    let path: string
    let next: number
    if (version === 4) {
      const [strip, start] = readOffset(data, name)
      const end = text.indexOf("\0", start)
      path = previous.slice(0, previous.length - strip) + text.slice(start, end)
      next = end + 1
    } else {
      const length = flags & 0xfff
      const end = length < 0xfff ? name + length : data.indexOf(0, name)
      path = text.slice(name, end)
      next = at + ((end - at + 8) & ~7)
    }
    previous = path
    visit(path, at, modeAt(data, at), flags | (extended << 16))
    at = next
  }
  return readExtensions(data, at)
}

/** Where the entries start, without reading what they say: that takes ten times as long. */
export function findEntries(data: Buffer): { readonly starts: Uint32Array; readonly facts: IndexFacts } {
  const { version, count } = readHeader(data)
  const starts = new Uint32Array(Math.min(count, data.length >> 6)) // no entry is shorter than 64 bytes
  let at = 12
  for (let i = 0; i < count; i++) {
    if (at + 62 > data.length) throw corrupt("it ends too early")
    starts[i] = at
    at = version === 4 ? skipShortened(data, at) : skipEntry(data, at)
  }
  return { starts, facts: readExtensions(data, at) }
}

function skipEntry(data: Buffer, at: number): number {
  const flags = readShort(data, at + 60)
  const name = at + ((flags & 0x4000) !== 0 ? 64 : 62)
  const length = flags & 0xfff
  const end = length < 0xfff ? name + length : data.indexOf(0, name)
  if (end < name) throw corrupt("a name does not end")
  return at + ((end - at + 8) & ~7)
}

function skipShortened(data: Buffer, at: number): number {
  const [, start] = readOffset(data, at + ((readShort(data, at + 60) & 0x4000) !== 0 ? 64 : 62))
  const end = data.indexOf(0, start)
  if (end < start) throw corrupt("a name does not end")
  return end + 1
}

export function readHeader(data: Buffer): { version: number; count: number } {
  if (data.length < 32 || data.toString("latin1", 0, 4) !== "DIRC") throw corrupt("no index header")
  const version = data.readUInt32BE(4)
  if (version < 2 || version > 4) throw corrupt(`index version ${version}`)
  return { version, count: data.readUInt32BE(8) }
}

/** Called for every entry, where the buffer's own method is slow. */
export function readShort(data: Buffer, at: number): number {
  return ((data[at] as number) << 8) | (data[at + 1] as number)
}

function readLong(data: Buffer, at: number): number {
  return ((readShort(data, at) << 16) | readShort(data, at + 2)) >>> 0
}

export function readExtensions(data: Buffer, start: number): IndexFacts {
  let trees = data.subarray(0, 0)
  let isSplit = false
  let isSparse = false
  for (let at = start; at + 8 <= data.length - 20; ) {
    const name = data.toString("latin1", at, at + 4)
    const size = data.readUInt32BE(at + 4)
    if (name === "TREE") trees = data.subarray(at + 8, at + 8 + size)
    else if (name === "link") isSplit = true
    else if (name === "sdir") isSparse = true
    else if (name[0] !== name[0]?.toUpperCase()) throw corrupt(`index extension ${name}`)
    at += 8 + size
  }
  const readTrees = () => parseCacheTree(trees)
  return {
    isSplit,
    isSparse,
    rootTree: readRootTree(trees),
    readTrees,
    findTrees: () => findTreeIds(trees, trees.byteOffset - data.byteOffset),
  }
}

/** The first folder is the root: an empty name, its counts in decimal digits, its id unless the first count is -1. */
function readRootTree(data: Buffer): string | undefined {
  const line = data.indexOf(10)
  return line < 0 || data[1] === 0x2d ? undefined : data.toString("hex", line + 1, line + 21)
}

function parseCacheTree(data: Buffer): Map<BytePath, string> {
  const trees = new Map<BytePath, string>()
  let at = 0
  function readFolder(parent: BytePath | undefined): void {
    const end = data.indexOf(0, at)
    const name = data.toString("latin1", at, end)
    const line = data.indexOf(10, end)
    const [entries, subtrees] = data
      .toString("latin1", end + 1, line)
      .split(" ")
      .map(Number) as [number, number]
    const path = parent === undefined ? "" : parent === "" ? name : `${parent}/${name}`
    at = line + 1
    if (entries >= 0) {
      trees.set(path, data.toString("hex", at, at + 20))
      at += 20
    }
    for (let i = 0; i < subtrees; i++) readFolder(path)
  }
  if (data.length > 0) readFolder(undefined)
  return trees
}

function findTreeIds(data: Buffer, offset: number): Uint32Array {
  const places = new Uint32Array(data.length / 24) // no folder takes less with its id
  let count = 0
  for (let at = 0; at < data.length; ) {
    const counts = skipTo(data, at, 0) + 1
    const id = skipTo(data, counts, 10) + 1
    at = data[counts] === 0x2d ? id : id + 20
    if (at > data.length) throw corrupt("its trees end too early")
    if (at !== id) places[count++] = id + offset
  }
  return places.subarray(0, count)
}

/** A function of its own for a few steps each: the engine soon makes it fast. */
function skipTo(data: Buffer, start: number, byte: number): number {
  let at = start
  while (at < data.length && data[at] !== byte) at++
  return at
}

export function modeAt(data: Buffer, at: number): number {
  return (readShort(data, at + 24) << 16) | readShort(data, at + 26)
}

/** Where in an entry its id starts. */
export const idAt = 40

export function idOf({ bytes, at }: IndexEntry): string {
  return bytes.toString("hex", at + idAt, at + idAt + 20)
}

/** Seconds of the newest of change and modification time. */
export function newestSecondOf({ bytes, at }: Pick<IndexEntry, "bytes" | "at">): number {
  return Math.max(readLong(bytes, at), readLong(bytes, at + 8))
}

/** Modulo 2^32. */
export function sizeOf({ bytes, at }: Pick<IndexEntry, "bytes" | "at">): number {
  return readLong(bytes, at + 36)
}

/** An entry of another index, or one made from what was seen. */
export type WritableEntry =
  | Pick<IndexEntry, "path" | "mode" | "bytes" | "at">
  | { readonly path: BytePath; readonly mode: number; readonly id: string; readonly stat: FileStat }

/**
 * Entries must be sorted by path and have no duplicates. A path alone stands for one that `entryOf` makes when it is
 * written: the first index has many.
 */
export function formatIndex(
  entries: readonly (WritableEntry | BytePath)[],
  entryOf: (path: BytePath) => WritableEntry,
): Buffer {
  let room = 64
  for (const entry of entries) room += 72 + pathOf(entry).length
  const data = Buffer.allocUnsafe(room)
  data.write("DIRC", 0, "latin1")
  data.writeUInt32BE(4, 4)
  data.writeUInt32BE(entries.length, 8)
  let at = 12
  let previous = ""
  for (const one of entries) {
    const path = pathOf(one)
    const entry = typeof one === "string" ? entryOf(one) : one
    if ("bytes" in entry) entry.bytes.copy(data, at, entry.at, entry.at + 60)
    else {
      data.write(entry.stat, at, "hex")
      data.writeUInt32BE(entry.mode, at + 24)
      data.write(entry.id, at + 40, "hex")
    }
    at += 60
    at = data.writeUInt16BE(Math.min(path.length, 0xfff), at)
    const shared = sharedLength(previous, path)
    at = writeOffset(data, at, previous.length - shared)
    at += data.write(path.slice(shared), at, "latin1")
    data[at++] = 0
    previous = path
  }
  at += createHash("sha1").update(data.subarray(0, at)).digest().copy(data, at)
  return data.subarray(0, at)
}

export function pathOf(entry: WritableEntry | BytePath): BytePath {
  return typeof entry === "string" ? entry : entry.path
}

function sharedLength(a: string, b: string): number {
  const end = Math.min(a.length, b.length)
  let i = 0
  while (i < end && a.charCodeAt(i) === b.charCodeAt(i)) i++
  return i
}

function readOffset(data: Buffer, start: number): [number, number] {
  let at = start
  let byte = data[at++] as number
  let value = byte & 127
  while ((byte & 128) !== 0) {
    byte = data[at++] as number
    value = (value + 1) * 128 + (byte & 127)
  }
  return [value, at]
}

function writeOffset(data: Buffer, start: number, value: number): number {
  if (value < 128) {
    data[start] = value
    return start + 1
  }
  const bytes = [value & 127]
  for (let rest = value >> 7; rest > 0; rest >>= 7) bytes.unshift(128 | (--rest & 127))
  for (const [i, byte] of bytes.entries()) data[start + i] = byte
  return start + bytes.length
}

export function corrupt(what: string): KeepupError {
  return new KeepupError("CORRUPT", `Not a readable git index: ${what}.`)
}
