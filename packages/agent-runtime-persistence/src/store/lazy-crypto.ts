/** Hashes and random bytes. node:crypto takes 4 ms to load, so it is loaded when first used, not at start-up. */

/** SHA-256 in hex. */
export function sha256(content: Uint8Array): string {
  return crypto().createHash("sha256").update(content).digest("hex")
}

/** Asking for a few random bytes takes as long as asking for many: they are fetched in advance. */
const pool = new Uint8Array(512)
let used = pool.length

export function fillRandom(bytes: Uint8Array): void {
  if (bytes.length > pool.length) {
    crypto().randomFillSync(bytes)
    return
  }
  if (used + bytes.length > pool.length) {
    crypto().randomFillSync(pool)
    used = 0
  }
  bytes.set(pool.subarray(used, used + bytes.length))
  pool.fill(0, used, used + bytes.length) // handed out once
  used += bytes.length
}

/** So many random bytes in hex: for names that nobody else has. */
export function randomHex(bytes: number): string {
  const random = Buffer.alloc(bytes)
  fillRandom(random)
  return random.toString("hex")
}

function crypto(): typeof import("node:crypto") {
  return process.getBuiltinModule("node:crypto")
}
