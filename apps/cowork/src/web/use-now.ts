/** The time for "5 min ago": one clock for the whole page, every 30 seconds. */
import { useSyncExternalStore } from "react"

let now = Date.now()
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => {
    now = Date.now()
    for (const one of listeners) one()
  }, 30_000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now)
}
