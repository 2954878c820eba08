/** Hashes and random bytes. node:crypto takes 4 ms to load, so it is loaded when first used, not at start-up. */

/** SHA-256 in hex. */
export function sha256(content: Uint8Array): string {
  return crypto().createHash("sha256").update(content).digest("hex")
}

export function fillRandom(bytes: Uint8Array): void {
  crypto().randomFillSync(bytes)
}

function crypto(): typeof import("node:crypto") {
  return process.getBuiltinModule("node:crypto")
}
