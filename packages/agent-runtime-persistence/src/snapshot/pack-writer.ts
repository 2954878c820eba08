/**
 * Writes one pack with its index, in a temporary file until it is whole. Objects go in as they come, so memory stays
 * small; when `finish` returns, pack, index and folder are on disk for good.
 */
import { createHash, randomBytes } from "node:crypto"
import { closeSync, fsyncSync, openSync, readSync, renameSync, unlinkSync, writeSync } from "node:fs"
import { join } from "node:path"
import { crc32, deflateSync } from "node:zlib"
import { syncFolder, writeNewFile } from "./durable-file.js"
import type { ObjectType } from "./git-objects.js"

export interface PackWriter {
  readonly count: number
  has(id: string): boolean
  /** `deflated` may hold the compressed data, where it was made beside the main thread. */
  add(id: string, type: ObjectType, data: Buffer, deflated?: Buffer): void
  /** Makes the pack visible and durable. Returns its name without extension, or null when nothing was added. */
  finish(): string | null
  /** Removes what was written. */
  abandon(): void
}

export const deflateOptions = { level: 1, memLevel: 9 } as const

const typeNumbers = { commit: 1, tree: 2, blob: 3 } as const
const flushAt = 1 << 20

export function createPackWriter(packFolder: string): PackWriter {
  const temporary = join(packFolder, `tmp_pack_${randomBytes(8).toString("hex")}`)
  const seen = new Map<string, number>()
  const offsets: number[] = []
  const checks: number[] = []
  let file: number | undefined
  let pending: Buffer[] = []
  let pendingBytes = 0
  let written = 0

  function write(bytes: Buffer): void {
    pending.push(bytes)
    pendingBytes += bytes.length
    written += bytes.length
    if (pendingBytes >= flushAt) flush()
  }

  function flush(): void {
    if (file === undefined) file = openSync(temporary, "wx+", 0o444)
    writeFully(file, Buffer.concat(pending, pendingBytes))
    pending = []
    pendingBytes = 0
  }

  function finish(): string | null {
    if (seen.size === 0) return null
    try {
      const trailer = pending.length > 0 && file === undefined ? sealInMemory() : sealOnDisk()
      const name = `pack-${trailer.toString("hex")}`
      const index = formatPackIndex(seen, offsets, checks, trailer)
      writeNewFile(`${temporary}.idx`, index, { durable: true, mode: 0o444 })
      fsyncSync(file as number)
      closeSync(file as number)
      file = undefined
      renameSync(temporary, join(packFolder, `${name}.pack`))
      renameSync(`${temporary}.idx`, join(packFolder, `${name}.idx`))
      syncFolder(packFolder)
      return name
    } catch (error) {
      abandon()
      throw error
    }
  }

  function sealInMemory(): Buffer {
    pending[0] = header(seen.size)
    const body = Buffer.concat(pending, pendingBytes)
    const trailer = createHash("sha1").update(body).digest()
    pending = [body, trailer]
    pendingBytes += trailer.length
    flush()
    return trailer
  }

  /** The count in the header is known only now, and the checksum covers it: one pass over the file. */
  function sealOnDisk(): Buffer {
    flush()
    const descriptor = file as number
    writeSync(descriptor, header(seen.size), 0, 12, 0)
    const hash = createHash("sha1")
    const chunk = Buffer.allocUnsafe(flushAt)
    for (let at = 0; at < written; ) {
      const count = readSync(descriptor, chunk, 0, chunk.length, at)
      hash.update(chunk.subarray(0, count))
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
    has: (id) => seen.has(id),
    add(id, type, data, deflated) {
      if (seen.has(id)) return
      const head = objectHeader(typeNumbers[type], data.length)
      const body = deflated ?? deflateSync(data, deflateOptions)
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

function formatPackIndex(seen: Map<string, number>, offsets: number[], checks: number[], trailer: Buffer): Buffer {
  const ids = [...seen.keys()].sort()
  const head = Buffer.from("\xfftOc\0\0\0\x02", "latin1")
  const fanout = Buffer.alloc(1024)
  const names = Buffer.allocUnsafe(ids.length * 20)
  const sums = Buffer.allocUnsafe(ids.length * 4)
  const small = Buffer.allocUnsafe(ids.length * 4)
  const large: Buffer[] = []
  const counts = new Array<number>(256).fill(0)
  ids.forEach((id, row) => {
    const position = seen.get(id) as number
    const first = names.write(id, row * 20, "hex") && (names[row * 20] as number)
    counts[first] = (counts[first] as number) + 1
    sums.writeUInt32BE(checks[position] as number, row * 4)
    const offset = offsets[position] as number
    if (offset < 0x80000000) small.writeUInt32BE(offset, row * 4)
    else {
      small.writeUInt32BE((0x80000000 | large.length) >>> 0, row * 4)
      const wide = Buffer.allocUnsafe(8)
      wide.writeBigUInt64BE(BigInt(offset))
      large.push(wide)
    }
  })
  let total = 0
  for (const [i, count] of counts.entries()) {
    total += count
    fanout.writeUInt32BE(total, i * 4)
  }
  const body = Buffer.concat([head, fanout, names, sums, small, ...large, trailer])
  return Buffer.concat([body, createHash("sha1").update(body).digest()])
}

function writeFully(descriptor: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at)
}
