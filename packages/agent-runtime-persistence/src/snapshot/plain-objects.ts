/**
 * Objects in a pack that are not compressed, in a form every git reads: compressing takes longer than all else of a
 * small snapshot. They are compressed when packs are merged.
 */
import { closeSync, openSync, readSync } from "node:fs"

const largestBlock = 0xffff
/** A zlib stream of a single block that is not compressed begins so. */
const begin = Buffer.from([0x78, 0x01, 0x01])

/** Undefined for one that is too large to be stored in one block. */
export function storePlain(data: Buffer): Buffer | undefined {
  if (data.length > largestBlock) return undefined
  const bytes = Buffer.allocUnsafe(data.length + 11)
  begin.copy(bytes)
  bytes.writeUInt16LE(data.length, 3)
  bytes.writeUInt16LE(~data.length & largestBlock, 5)
  data.copy(bytes, 7)
  bytes.writeUInt32BE(adler32(data), data.length + 7)
  return bytes
}

/** The `size` bytes at the start of a stream that `storePlain` made; undefined if it is another one. Nothing is checked. */
export function readPlain(stream: Buffer, size: number): Buffer | undefined {
  const isPlain = stream.length >= size + 11 && stream.subarray(0, 3).equals(begin) && stream.readUInt16LE(3) === size
  return isPlain ? stream.subarray(7, size + 7) : undefined
}

/** Whether the first object of a pack is not compressed; only then others may not be either. False where there is no pack. */
export function isPlainPack(file: string): boolean {
  const bytes = Buffer.alloc(32)
  try {
    const descriptor = openSync(file, "r")
    try {
      readSync(descriptor, bytes, 0, bytes.length, 12)
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return false // it went meanwhile, or can't be read: whoever needs it says so
  }
  let at = 0
  while (at < 8 && ((bytes[at] as number) & 128) !== 0) at++
  return bytes.subarray(at + 1, at + 4).equals(begin)
}

/** The checksum at the end of a zlib stream. */
function adler32(data: Buffer): number {
  let a = 1
  let b = 0
  for (let at = 0; at < data.length; ) {
    for (const end = Math.min(at + 3800, data.length); at < end; at++) {
      a += data[at] as number
      b += a
    }
    a %= 65521
    b %= 65521
  }
  return ((b << 16) | a) >>> 0
}
