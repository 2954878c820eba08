/**
 * Reads single objects out of the store's own packs without a git process, for whoever needs only a few. It says
 * nothing of what it does not find, or does not understand: then git is asked, which knows more places and more forms.
 */
import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs"
import { join } from "node:path"
import { inflateSync } from "node:zlib"
import type { Answer } from "./batch-process.js"
import { applyDelta } from "./git-delta.js"
import { type ObjectType, objectId } from "./git-objects.js"
import { readPlain } from "./plain-objects.js"

export interface PackReader {
  find(id: string): Answer | undefined
  /** Forgets which packs there are. */
  renew(): void
}

interface Pack {
  readonly file: string
  readonly indexFile: string
  /** All of the index, or of a large one only its head: the rest is read where it is needed. */
  readonly index: Buffer
  readonly count: number
}

interface RawObject {
  readonly type: ObjectType
  readonly data: Buffer
}

/** Larger ones are left to git, which does not hold up this process. */
const largestObject = 1 << 20
const largestBucket = 1 << 20
const longestChain = 60
const types: readonly (ObjectType | undefined)[] = [undefined, "commit", "tree", "blob"]

/** Indexes of at most `wholeIndex` bytes are kept in memory as a whole. */
export function createPackReader(packFolder: string, wholeIndex = 1 << 20): PackReader {
  let packs: Map<string, Pack> | undefined

  /** The packs there are now; those known before are not read again. */
  function list(): Map<string, Pack> {
    const known = packs
    packs = new Map()
    for (const name of readdirSync(packFolder)) {
      if (!/^pack-[0-9a-f]{40}\.idx$/.test(name)) continue
      const pack = known?.get(name) ?? openPack(join(packFolder, name), wholeIndex)
      if (pack !== undefined) packs.set(name, pack)
    }
    return packs
  }

  function findIn(among: ReadonlyMap<string, Pack>, id: string, depth: number): RawObject | undefined {
    for (const pack of among.values()) {
      const offset = findOffset(pack, id)
      if (offset !== undefined) return readAt(pack, offset, depth)
    }
    return undefined
  }

  function readAt(pack: Pack, offset: number, depth: number): RawObject | undefined {
    if (depth > longestChain) return undefined
    const head = readHead(pack.file, offset)
    if (head === undefined) return undefined
    const { type, data, base } = head
    const whole = types[type]
    if (whole !== undefined) return { type: whole, data }
    if (base === undefined) return undefined
    const under = typeof base === "number" ? readAt(pack, base, depth + 1) : findIn(packs ?? list(), base, depth + 1)
    const made = under && applyDelta(under.data, data)
    return under && made && { type: under.type, data: made }
  }

  function attempt(id: string, among?: ReadonlyMap<string, Pack>): RawObject | undefined {
    try {
      return findIn(among ?? list(), id, 0)
    } catch {
      return undefined // one that went meanwhile, or is damaged: git tells which
    }
  }

  return {
    find(id) {
      // A pack may have come or gone since they were listed.
      const found = (packs && attempt(id, packs)) ?? attempt(id)
      if (found === undefined || objectId(found.type, found.data) !== id) return undefined
      return { ...found, size: found.data.length }
    },
    renew() {
      packs = undefined
    },
  }
}

/** Where in an index its sorted ids start, behind the numbers of those up to each first byte. */
const headLength = 8 + 1024

/** Version 2 of the index: its ids, sorted, and where each object starts. */
function openPack(indexFile: string, wholeIndex: number): Pack | undefined {
  const { size } = statSync(indexFile)
  const index = size > wholeIndex ? readPart(indexFile, 0, headLength) : readFileSync(indexFile)
  if (size < 1072 || index.readUInt32BE(0) !== 0xff744f63 || index.readUInt32BE(4) !== 2) return undefined
  const count = index.readUInt32BE(8 + 255 * 4)
  return { file: `${indexFile.slice(0, -4)}.pack`, indexFile, index, count }
}

function findOffset(pack: Pack, id: string): number | undefined {
  const { index, count } = pack
  const wanted = Buffer.from(id, "hex")
  const first = wanted[0] as number
  const start = first === 0 ? 0 : index.readUInt32BE(8 + (first - 1) * 4)
  let low = 0
  let high = index.readUInt32BE(8 + first * 4) - start
  if (high * 20 > largestBucket) return undefined
  const ids = readIndex(pack, headLength + start * 20, high * 20)
  while (low < high) {
    const middle = (low + high) >> 1
    const order = wanted.compare(ids, middle * 20, middle * 20 + 20)
    if (order === 0) {
      const offset = readIndex(pack, headLength + count * 24 + (start + middle) * 4, 4).readUInt32BE()
      return offset < 0x80000000 ? offset : undefined
    }
    if (order < 0) high = middle
    else low = middle + 1
  }
  return undefined
}

function readIndex({ index, indexFile }: Pack, at: number, length: number): Buffer {
  return index.length > headLength ? index.subarray(at, at + length) : readPart(indexFile, at, length)
}

function readPart(file: string, at: number, length: number): Buffer {
  const part = Buffer.allocUnsafe(length)
  const descriptor = openSync(file, "r")
  try {
    return part.subarray(0, readSync(descriptor, part, 0, length, at))
  } finally {
    closeSync(descriptor)
  }
}

/** The bytes of one object as the pack has them, and for a difference what it is one from: an offset or an id. */
function readHead(
  file: string,
  offset: number,
): { type: number; data: Buffer; base: number | string | undefined } | undefined {
  const descriptor = openSync(file, "r")
  try {
    const end = fstatSync(descriptor).size - 20
    const head = Buffer.allocUnsafe(Math.min(4096, end - offset))
    readSync(descriptor, head, 0, head.length, offset)
    let at = 0
    let byte = head[at++] as number
    const type = (byte >> 4) & 7
    let size = byte & 15
    for (let factor = 16; (byte & 128) !== 0; factor *= 128) {
      byte = head[at++] as number
      size += (byte & 127) * factor
    }
    if (size > largestObject) return undefined
    let base: number | string | undefined
    if (type === 6) {
      byte = head[at++] as number
      let back = byte & 127
      while ((byte & 128) !== 0) {
        byte = head[at++] as number
        back = (back + 1) * 128 + (byte & 127)
      }
      base = offset - back
    } else if (type === 7) {
      base = head.toString("hex", at, at + 20)
      at += 20
    }
    // compressed, bytes that can't be made smaller take a little more than they are
    const room = Math.min(size + (size >> 3) + 128, end - offset - at)
    let packed = head.subarray(at)
    if (packed.length < room) {
      packed = Buffer.allocUnsafe(room)
      readSync(descriptor, packed, 0, room, offset + at)
    }
    const data =
      readPlain(packed, size) ??
      inflateSync(packed, { chunkSize: Math.max(64, size + 1), maxOutputLength: largestObject + 1 })
    return data.length === size ? { type, data, base } : undefined
  } finally {
    closeSync(descriptor)
  }
}
