/**
 * Takes the lease on a session, says so, and does what it is told: `append`, `state`, `checkpoint`, `release`, `close`,
 * or `stop`, after its next beat. Says when it lost it. Arguments: address, session, and as JSON `{host, clockOffset, exhausted}`.
 */
import { openSync } from "node:fs"
import { createInterface } from "node:readline"
import { isKeepupError, type SessionId } from "@ku0/agent-runtime-core"
import { openStore } from "../../../src/store/open-store.js"
import { say } from "./said.js"

export interface HoldLeaseOptions {
  readonly host?: string
  /** Milliseconds its clock is off. */
  readonly clockOffset?: number
  /** Opens files until the system refuses, before it tries. */
  readonly exhausted?: boolean
}

const [url = "", session = "", json = "{}"] = process.argv.slice(2)
const sessionId = session as SessionId
const { host, clockOffset = 0, exhausted = false } = JSON.parse(json) as HoldLeaseOptions

// The heart beats five times as fast: a test need not wait long for the next beat.
const setSlowly = globalThis.setInterval
globalThis.setInterval = ((work: () => void, ms: number) => setSlowly(work, ms / 5)) as typeof setInterval

let isToStop = false
const store = await openStore(url, {
  clock: { now: () => Date.now() + clockOffset },
  ...(host === undefined ? {} : { host }),
  onStep(step) {
    if (step !== "renew:committed" || !isToStop) return
    isToStop = false
    process.kill(process.pid, "SIGSTOP")
  },
})
if (exhausted) exhaustFiles()
await attempt(async () => {
  const lease = await store.leases.take(`session:${sessionId}`, { purpose: "test" })
  lease.lost.addEventListener("abort", () => say({ lost: (lease.lost.reason as Error).message }))
  say({ held: lease.number, pid: process.pid })
  const orders: Record<string, () => Promise<unknown>> = {
    append: () => store.log.append(sessionId, [{ type: "test:held", data: { pid: process.pid } }], { lease }),
    state: () => store.state.put(sessionId, { by: process.pid }, { lease }),
    checkpoint: () => store.checkpoints.create({ sessionId, trigger: "manual", lease }),
    release: () => lease.release(),
    close: () => store.close(),
    stop: async () => {
      isToStop = true
    },
  }
  for await (const order of createInterface({ input: process.stdin })) {
    await attempt(async () => {
      await orders[order]?.()
      say({ did: order })
    })
    if (order === "close") break
  }
  await store.close()
})
await store.close()
process.stdin.destroy()

async function attempt(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!isKeepupError(error)) throw error
    say({ refused: error.code, message: error.message, details: error.details })
  }
}

function exhaustFiles(): void {
  try {
    for (;;) openSync("/dev/null", "r")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EMFILE") throw error
  }
}
