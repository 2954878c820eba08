/**
 * Who may ask: a token in a file of the state directory, made at the first start, readable by its owner alone; and codes
 * that a page trades for it once. What is compared is compared in constant time. A right token always passes: wrong ones
 * are counted, and too many of them are answered without a look, so that nobody can lock the owner out.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import { closeSync, constants, fchmodSync, fstatSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs"
import { type Clock, KeepupError } from "@ku0/agent-runtime"

export interface Doorkeeper {
  /** Throws `UNAUTHORIZED` unless the header carries the token. */
  check(authorization: string | undefined): void
  createCode(): { code: string; expiresAt: number }
  /** The token for a code that was not used yet. */
  trade(code: string): string
  /** What only who has the token can answer to a challenge; bound to a port, so that nobody can pass it on. */
  prove(challenge: string, port: number): string
}

const codeLifeMs = 10 * 60_000
const mostCodes = 100
const wrongWindowMs = 60_000
const mostWrong = 20

export function createDoorkeeper(token: string, clock: Clock): Doorkeeper {
  const codes = new Map<string, number>()
  const wrong: number[] = []

  function refuse(message: string): KeepupError {
    const now = clock.now()
    while (wrong[0] !== undefined && wrong[0] <= now - wrongWindowMs) wrong.shift()
    if (wrong.length >= mostWrong) {
      return new KeepupError("UNAUTHORIZED", "Too many wrong tokens.", {
        hint: "Wait a minute, then use the token in the file `token` of the state directory.",
        details: { retryAfterSeconds: 60 },
      })
    }
    wrong.push(now)
    return new KeepupError("UNAUTHORIZED", message, { hint: "`keepup serve` prints an address that lets you in." })
  }

  function dropOld(): void {
    for (const [code, expiresAt] of codes) if (expiresAt <= clock.now() || codes.size > mostCodes) codes.delete(code)
  }

  return {
    check(authorization) {
      const given = /^Bearer ([\w-]{1,200})$/i.exec(authorization ?? "")?.[1]
      if (given !== undefined && isSame(given, token)) return
      if (authorization !== undefined) throw refuse("The token is wrong.")
      throw new KeepupError("UNAUTHORIZED", "A token is needed.", {
        hint: "Send `Authorization: Bearer TOKEN`; the token is in the file `token` of the state directory.",
      })
    },
    createCode() {
      const code = randomBytes(24).toString("base64url")
      const expiresAt = clock.now() + codeLifeMs
      codes.set(code, expiresAt)
      dropOld()
      return { code, expiresAt }
    },
    trade(given) {
      dropOld()
      for (const code of codes.keys()) {
        if (!isSame(given, code)) continue
        codes.delete(code)
        return token
      }
      throw refuse("This address was used already, or is too old.")
    },
    prove: (challenge, port) => proveToken(token, challenge, port),
  }
}

export function proveToken(token: string, challenge: string, port: number): string {
  return createHmac("sha256", token).update(`keepup server on ${port}: ${challenge}`).digest("base64url")
}

/** Reads the token, or makes it. Another user's eyes are kept out, also afterwards. */
export function readToken(path: string): string {
  makeToken(path)
  const file = openOwn(path)
  try {
    if ((fstatSync(file).mode & 0o077) !== 0) fchmodSync(file, 0o600)
    const token = readFileSync(file, "utf8").trim()
    if (/^[\w-]{32,200}$/.test(token)) return token
  } finally {
    closeSync(file)
  }
  throw noToken(path)
}

/** A link could make us read, and tell, what someone else wrote. */
function openOwn(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ELOOP") throw noToken(path)
    throw cause
  }
}

function noToken(path: string): KeepupError {
  return new KeepupError("CORRUPT", `${path} does not hold a token.`, {
    hint: "Move the file away; the next start makes another one.",
  })
}

function makeToken(path: string): void {
  let file: number
  try {
    file = openSync(path, "wx", 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return
    throw error
  }
  try {
    writeSync(file, `${randomBytes(32).toString("base64url")}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Hashes first, so that neither content nor length shows in the time it takes. */
export function isSame(a: string, b: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest()
  return timingSafeEqual(hash(a), hash(b))
}
