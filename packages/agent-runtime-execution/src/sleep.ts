/** Waiting that a signal can end. */
import { setTimeout } from "node:timers/promises"

/** Resolves after some time, or rejects with the signal's reason as soon as it aborts. */
export async function sleepFor(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(Math.min(ms, 2_147_483_647), undefined, { signal })
}

/** The value, or a rejection with the signal's reason if that aborts first. What comes too late is ignored. */
export async function untilAborted<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> {
  let onAbort = (): void => undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    else signal.addEventListener("abort", onAbort, { once: true })
  })
  try {
    return await Promise.race([aborted, value])
  } finally {
    signal.removeEventListener("abort", onAbort)
  }
}
