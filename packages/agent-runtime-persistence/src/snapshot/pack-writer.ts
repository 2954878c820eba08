/**
 * Writes one pack with its index, in a temporary file until it is whole. Objects go in as they come, so memory stays
 * small; when `finish` returns, pack, index and folder are on disk for good.
 */
import { createHash } from "node:crypto"
import { closeSync, fsync, openSync, readSync, renameSync, unlinkSync, writeSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { crc32, deflateSync } from "node:zlib"
import { randomHex } from "../store/lazy-crypto.js"
import { syncAll, writeNewFile } from "./durable-file.js"
import type { ObjectType } from "./git-objects.js"
import { storePlain } from "./plain-objects.js"

export interface PackWriter {
  readonly count: number
  /** Bytes of the pack so far. */
  readonly sizeBytes: number
  has(id: string): boolean
  /** `deflated` may hold the compressed data, where it was made beside the main thread. */
  add(id: string, type: ObjectType, data: Buffer, deflated?: Buffer): void
  /** Makes the pack visible and durable, and other files durable with it. Returns its name without extension, or null when nothing was added. */
  finish(together?: readonly string[]): Promise<string | null>
  /** Removes what was written. */
  abandon(): void
}

/** Fast, and with no more memory per object than its content needs. */
export function deflateOptions(size: number) {
  const windowBits = Math.min(Math.max(33 - Math.clz32(size), 9), 15)
  return { level: 1, windowBits, memLevel: windowBits - 7 || 1, chunkSize: Math.min(Math.max(size + 64, 256), 1 << 16) }
}

export interface PackOptions {
  /** So much is not compressed now: that would take longer than all else, and merging the pack does it. Default none. */
  readonly plainBytes?: number
}

const typeNumbers = { commit: 1, tree: 2, blob: 3 } as const
const firstRoom = 64 << 10
const fullRoom = 1 << 20
const makeDurable = promisify(fsync)

export function createPackWriter(packFolder: string, { plainBytes = 0 }: PackOptions = {}): PackWriter {
  const temporary = join(packFolder, `tmp_pack_${randomHex(8)}`)
  const seen = new Map<string, number>()
  const offsets: number[] = []
  const checks: number[] = []
  let file: number | undefined
  let waiting = Buffer.allocUnsafe(firstRoom)
  let used = 0
  let written = 0
  let added = 0
  let isPlain = plainBytes > 0

  function write(bytes: Buffer): void {
    written += bytes.length
    if (bytes.length > waiting.length - used) makeRoom(bytes.length)
    if (bytes.length > waiting.length) writeFully(openFile(), bytes)
    else used += bytes.copy(waiting, used)
  }

  function makeRoom(needed: number): void {
    if (waiting.length < fullRoom && used + needed <= fullRoom) {
      const larger = Buffer.allocUnsafe(fullRoom)
      waiting.copy(larger, 0, 0, used)
      waiting = larger
    } else flush()
  }

  function flush(): void {
    writeFully(openFile(), waiting.subarray(0, used))
    used = 0
  }

  function openFile(): number {
    file ??= openSync(temporary, "wx+", 0o444)
    return file
  }

  async function finish(together: readonly string[] = []): Promise<string | null> {
    if (seen.size === 0) return null
    try {
      const trailer = file === undefined ? sealInMemory() : sealOnDisk()
      const name = `pack-${trailer.toString("hex")}`
      const indexFile = `${temporary}.idx`
      writeNewFile(indexFile, formatPackIndex(seen, offsets, checks, trailer), { durable: false, mode: 0o444 })
      await Promise.all([makeDurable(openFile()), syncAll([indexFile, ...together])])
      closeSync(openFile())
      file = undefined
      renameSync(temporary, join(packFolder, `${name}.pack`))
      renameSync(indexFile, join(packFolder, `${name}.idx`))
      await syncAll([packFolder])
      return name
    } catch (error) {
      abandon()
      throw error
    }
  }

  function sealInMemory(): Buffer {
    header(seen.size).copy(waiting)
    const trailer = createHash("sha1").update(waiting.subarray(0, used)).digest()
    write(trailer)
    flush()
    return trailer
  }

  /** The count in the header is known only now, and the checksum covers it: one pass over the file. */
  function sealOnDisk(): Buffer {
    flush()
    const descriptor = openFile()
    writeSync(descriptor, header(seen.size), 0, 12, 0)
    const hash = createHash("sha1")
    for (let at = 0; at < written; ) {
      const count = readSync(descriptor, waiting, 0, waiting.length, at)
      if (count === 0) throw new Error("BUG: the pack is shorter than what was written")
      hash.update(waiting.subarray(0, count))
      at += count
    }
    const trailer = hash.digest()
    writeSync(descriptor, trailer, 0, trailer.length, written)
    return trailer
  }

  function abandon(): void {
    if (file !== undefined) closeSync(file)
    file = undefined
    for (const path of [temporary, `${temporary}.idx`]) {
      try {
        unlinkSync(path)
      } catch {
        // It may never have been made.
      }
    }
  }

  write(header(0))
  return {
    get count() {
      return seen.size
    },
    get sizeBytes() {
      return written
    },
    has: (id) => seen.has(id),
    add(id, type, data, deflated) {
      if (seen.has(id)) return
      const head = objectHeader(typeNumbers[type], data.length)
      added += data.length
      const plain = isPlain && added < plainBytes ? storePlain(data) : undefined
      if (seen.size === 0) isPlain = plain !== undefined // by its first object a pack is known that is to be compressed
      const body = deflated ?? plain ?? deflateSync(data, deflateOptions(data.length))
      seen.set(id, offsets.length)
      offsets.push(written)
      checks.push(crc32(body, crc32(head)))
      write(head)
      write(body)
    },
    finish,
    abandon,
  }
}

function header(count: number): Buffer {
  const bytes = Buffer.from("PACK\0\0\0\x02\0\0\0\0", "latin1")
  bytes.writeUInt32BE(count, 8)
  return bytes
}

function objectHeader(type: number, size: number): Buffer {
  const bytes: number[] = []
  let byte = (type << 4) | (size & 15)
  let rest = Math.floor(size / 16)
  while (rest > 0) {
    bytes.push(byte | 128)
    byte = rest & 127
    rest = Math.floor(rest / 128)
  }
  bytes.push(byte)
  return Buffer.from(bytes)
}

/** Where the offsets of large packs are kept: those that do not fit into 31 bits. */
const largeOffset = 0x80000000

function formatPackIndex(seen: Map<string, number>, offsets: number[], checks: number[], trailer: Buffer): Buffer {
  const ids = [...seen.keys()].sort()
  const namesAt = 8 + 1024
  const checksAt = namesAt + ids.length * 20
  const offsetsAt = checksAt + ids.length * 4
  let largeAt = offsetsAt + ids.length * 4
  const largeCount = offsets.reduce((count, offset) => count + (offset < largeOffset ? 0 : 1), 0)
  const end = largeAt + largeCount * 8
  const index = Buffer.alloc(end + 40) // in one piece: that of a large first snapshot has several megabytes
  index.write("\xfftOc\0\0\0\x02", "latin1")
  const counts = new Array<number>(256).fill(0)
  let large = 0
  ids.forEach((id, row) => {
    const position = seen.get(id) as number
    index.write(id, namesAt + row * 20, "hex")
    const first = index[namesAt + row * 20] as number
    counts[first] = (counts[first] as number) + 1
    index.writeUInt32BE(checks[position] as number, checksAt + row * 4)
    const offset = offsets[position] as number
    if (offset < largeOffset) index.writeUInt32BE(offset, offsetsAt + row * 4)
    else {
      index.writeUInt32BE((largeOffset | large++) >>> 0, offsetsAt + row * 4)
      largeAt = index.writeBigUInt64BE(BigInt(offset), largeAt)
    }
  })
  let total = 0
  for (const [i, count] of counts.entries()) {
    total += count
    index.writeUInt32BE(total, 8 + i * 4)
  }
  trailer.copy(index, end)
  createHash("sha1")
    .update(index.subarray(0, end + 20))
    .digest()
    .copy(index, end + 20)
  return index
}

function writeFully(descriptor: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at)
}
