/**
 * SHA-256 (FIPS 180-4) without node:crypto. Slower than that for much content, but a short text is hashed long before
 * node:crypto would be loaded.
 */

/** The first 32 bits of the fractions of the cube roots of the first 64 primes. */
const constants = Int32Array.from(primes(64), (prime) => fractionOf(Math.cbrt(prime)))
/** The same of the square roots of the first eight. */
const start = Int32Array.from(primes(8), (prime) => fractionOf(Math.sqrt(prime)))

/** In hex. */
export function smallSha256(content: Uint8Array): string {
  const hash = start.slice()
  const words = new Int32Array(64)
  const padded = pad(content)
  for (let at = 0; at < padded.byteLength; at += 64) addBlock(hash, words, padded, at)
  return Array.from(hash, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("")
}

/** One bit, zeros, and the length in bits, to a multiple of 64 bytes. */
function pad(content: Uint8Array): DataView {
  const bytes = new Uint8Array(((content.length + 8) >> 6) * 64 + 64)
  bytes.set(content)
  bytes[content.length] = 0x80
  const view = new DataView(bytes.buffer)
  view.setUint32(bytes.length - 8, Math.floor(content.length / 0x2000_0000))
  view.setUint32(bytes.length - 4, content.length << 3)
  return view
}

function addBlock(hash: Int32Array, words: Int32Array, block: DataView, at: number): void {
  for (let i = 0; i < 16; i++) words[i] = block.getInt32(at + i * 4)
  for (let i = 16; i < 64; i++) {
    const x = words[i - 15] as number
    const y = words[i - 2] as number
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
    words[i] = (words[i - 16] as number) + s0 + (words[i - 7] as number) + s1
  }
  let [a, b, c, d, e, f, g, h] = hash as unknown as [number, number, number, number, number, number, number, number]
  for (let i = 0; i < 64; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const t1 = h + s1 + ((e & f) ^ (~e & g)) + (constants[i] as number) + (words[i] as number)
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
    const t2 = s0 + ((a & b) ^ (a & c) ^ (b & c))
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  for (const [i, value] of [a, b, c, d, e, f, g, h].entries()) hash[i] = (hash[i] as number) + value
}

function primes(count: number): number[] {
  const found: number[] = []
  for (let n = 2; found.length < count; n++) if (found.every((prime) => n % prime !== 0)) found.push(n)
  return found
}

function fractionOf(root: number): number {
  return ((root - Math.floor(root)) * 0x1_0000_0000) | 0
}
