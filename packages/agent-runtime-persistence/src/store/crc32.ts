/**
 * CRC-32 as zip, PNG and node:zlib have it. A short text is summed up here long before node:zlib would be loaded; for much
 * content that is faster.
 */

/** Bytes from which on loading node:zlib is worth it. */
const much = 8_192

let known: Int32Array | undefined

/** Eight hexadecimal digits. */
export function crc32(content: Uint8Array): string {
  const sum = content.length < much ? sumUp(content) : process.getBuiltinModule("node:zlib").crc32(content)
  return (sum >>> 0).toString(16).padStart(8, "0")
}

function sumUp(content: Uint8Array): number {
  known ??= makeTable()
  const table = known
  let sum = -1
  for (let i = 0; i < content.length; i++) sum = (sum >>> 8) ^ (table[(sum ^ (content[i] as number)) & 255] as number)
  return ~sum
}

/** What the byte that falls out at the end does to the rest. */
function makeTable(): Int32Array {
  const table = new Int32Array(256)
  // each bit by itself, then all that are put together of them
  for (let bit = 128, sum = 0xedb88320 | 0; bit > 0; bit >>= 1) {
    table[bit] = sum
    sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1
  }
  for (let bit = 2; bit < 256; bit *= 2) {
    for (let rest = 1; rest < bit; rest++) table[bit + rest] = (table[bit] as number) ^ (table[rest] as number)
  }
  return table
}
