/**
 * Waits for another process's write without holding up this one: a short try, then a pause in which the event loop turns.
 * SQLite's own wait sleeps up to 100 ms between two looks; ours looks at least as often, so nobody is worse off for it.
 */
import { isKeepupError } from "@ku0/agent-runtime-core"
import { monotonicNow } from "./monotonic-time.js"

/** How long one try may block: most writes of others are over by then. */
export const shortTryMs = 5

const longestPauseMs = 25

/** What `work` returns, tried again while the database is busy, for `limitMs` at most; then its last error. */
export async function retryWhileBusy<Result>(work: () => Result, limitMs: number): Promise<Result> {
  const end = monotonicNow() + limitMs
  for (let pause = 1; ; pause = Math.min(longestPauseMs, pause * 2)) {
    try {
      return work()
    } catch (error) {
      const left = end - monotonicNow()
      if (!isBusy(error) || left <= 0) throw error
      // by chance a little shorter, so that those who wait do not all look at the same moment
      const ms = Math.min(left, pause * (0.5 + Math.random() / 2))
      await new Promise((resolve) => setTimeout(resolve, ms))
    }
  }
}

function isBusy(error: unknown): boolean {
  const number = isKeepupError(error) ? error.details?.["sqlite"] : undefined
  return typeof number === "number" && (number & 0xff) === 5
}
