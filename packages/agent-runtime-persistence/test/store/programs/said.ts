/** What the programs say to the tests, and how. */
import { createHash } from "node:crypto"
import { writeSync } from "node:fs"
import type { Entry } from "@ku0/agent-runtime-core"

/** An entry as the tests compare it: everything, its data by hash. */
export interface EntryFacts extends Omit<Entry, "data"> {
  readonly dataHash: string
}

export function factsOf({ data, ...rest }: Entry): EntryFacts {
  return { ...rest, dataHash: hashOf(JSON.stringify(data)) }
}

export function hashOf(value: string | Uint8Array): string {
  return createHash("sha256").update(value).digest("hex")
}

/** One line on standard output, handed to the system before it returns. */
export function say(line: unknown): void {
  const bytes = Buffer.from(`${JSON.stringify(line)}\n`)
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(1, bytes, done)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error
    }
  }
}
