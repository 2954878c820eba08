/** Branded ids: UUIDv7, so they sort by the time they were made. */
import type { Clock, IdSource } from "./clock.js"
import { describeValue } from "./describe-value.js"
import { KeepupError } from "./errors.js"

export type SessionId = string & { readonly __id: "session" }
export type CheckpointId = string & { readonly __id: "checkpoint" }
export type ArtifactId = string & { readonly __id: "artifact" }
export type RestoreId = string & { readonly __id: "restore" }

/** The time of a UUIDv7 has 48 bits; a clock that says more is not believed. */
const endOfTime = 2 ** 48
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Accepts a UUID in lower case, or throws `INVALID_INPUT`. */
export function parseId<Id extends string>(value: unknown, what: string): Id {
  if (typeof value === "string" && uuid.test(value)) return value as Id
  throw new KeepupError("INVALID_INPUT", `Not a valid ${what} id: ${describeValue(value)}.`)
}

/** The last eight characters: what lists show. The first ones are the time and look alike. */
export function shortId(id: string): string {
  return id.slice(-8)
}

/**
 * Makes UUIDv7 ids that strictly increase within this source, also when the clock stands still or goes back.
 * `randomBytes` must fill the array it is given with random bytes.
 */
export function createIdSource(clock: Clock, randomBytes: (bytes: Uint8Array) => void): IdSource {
  let lastTime = 0
  let counter = 0
  const random = new Uint8Array(10)
  return {
    next() {
      randomBytes(random)
      const time = Math.floor(clock.now())
      if (time > lastTime && time < endOfTime) {
        lastTime = time
        counter = ((random[0] as number) << 3) | ((random[1] as number) & 7)
      } else if (++counter > 0xfff) {
        lastTime++
        counter = 0
      }
      return formatUuid(lastTime, counter, random)
    },
  }
}

function formatUuid(time: number, counter: number, random: Uint8Array): string {
  const hex = time.toString(16).padStart(12, "0")
  const head = `${hex.slice(0, 8)}-${hex.slice(8)}-7${counter.toString(16).padStart(3, "0")}`
  let tail = ""
  for (let i = 2; i < 10; i++) {
    const byte = i === 2 ? ((random[i] as number) & 0x3f) | 0x80 : (random[i] as number)
    tail += byte.toString(16).padStart(2, "0")
  }
  return `${head}-${tail.slice(0, 4)}-${tail.slice(4)}`
}
