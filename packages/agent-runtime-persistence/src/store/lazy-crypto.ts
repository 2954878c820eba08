/**
 * Hashes and random bytes. node:crypto takes 4 ms to load, a sixth of the time Node itself needs to start, so it is
 * loaded when it is worth it: whoever appends one entry and ends never needs it.
 */
import { smallSha256 } from "./small-sha256.js"

let loaded: typeof import("node:crypto") | undefined
/** Bytes that are hashed here before node:crypto, which is faster, is loaded for the rest. */
let left = 16_384

/** SHA-256 in hex. */
export function sha256(content: Uint8Array): string {
  if (loaded === undefined && content.length <= left) {
    left -= content.length
    return smallSha256(content)
  }
  return crypto().createHash("sha256").update(content).digest("hex")
}

export function fillRandom(bytes: Uint8Array): void {
  crypto().randomFillSync(bytes)
}

function crypto(): typeof import("node:crypto") {
  loaded ??= process.getBuiltinModule("node:crypto")
  return loaded
}
