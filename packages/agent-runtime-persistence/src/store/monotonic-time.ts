/** Milliseconds that only grow. `performance` says the same, but takes longer to load than a list to be read. */
export function monotonicNow(): number {
  return process.uptime() * 1000
}
