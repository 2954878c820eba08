/** Counters and timers in bounded memory, however long the program runs and however many values it records. */
import type { Clock } from "@ku0/agent-runtime-core"

export interface TimerSnapshot {
  readonly count: number
  /** Milliseconds, as are all below. */
  readonly total: number
  readonly min: number
  readonly max: number
  /** Half of the durations are at most this long; within 2.5 % of the exact value. */
  readonly p50: number
  /** 95 of 100 durations are at most this long; within 2.5 % of the exact value. */
  readonly p95: number
}

export interface MetricsSnapshot {
  readonly counters: Readonly<Record<string, number>>
  readonly timers: Readonly<Record<string, TimerSnapshot>>
}

export interface Metrics {
  /** Adds to a counter. */
  count(name: string, by?: number): void
  /** Records a duration in milliseconds. What is negative or no number counts as 0: a clock that went back is no news. */
  record(name: string, duration: number): void
  /** Starts a timer; calling the result records the time since and returns it. Each further call returns the same. */
  start(name: string): () => number
  /** All values as plain data, by name in order. */
  snapshot(): MetricsSnapshot
}

export interface CreateMetricsOptions {
  /** For `start`. A clock that never goes back, such as `performance`, gives the best durations. */
  readonly clock: Clock
  /** How many names of each kind are kept apart; what comes after goes to `(other)`. Default: 1000. */
  readonly mostNames?: number
}

/** Makes an empty set of counters and timers. */
export function createMetrics(options: CreateMetricsOptions): Metrics {
  const { clock, mostNames = 1000 } = options
  const counters = new Map<string, number>()
  const timers = new Map<string, Timer>()

  /** Names come from events too, so their number must have an end. */
  function keptName(kept: ReadonlyMap<string, unknown>, name: string): string {
    return kept.has(name) || kept.size < mostNames ? name : "(other)"
  }

  function record(name: string, duration: number): void {
    const kept = keptName(timers, name)
    const timer = timers.get(kept) ?? createTimer()
    timers.set(kept, timer)
    addDuration(timer, duration > 0 && Number.isFinite(duration) ? duration : 0)
  }

  return {
    count(name, by = 1) {
      const kept = keptName(counters, name)
      counters.set(kept, (counters.get(kept) ?? 0) + by)
    },
    record,
    start(name) {
      const started = clock.now()
      let duration: number | undefined
      return () => {
        if (duration === undefined) {
          duration = Math.max(0, clock.now() - started)
          record(name, duration)
        }
        return duration
      }
    },
    snapshot: () => ({
      counters: Object.fromEntries(sorted(counters)),
      timers: Object.fromEntries(sorted(timers).map(([name, timer]) => [name, snapshotTimer(timer)])),
    }),
  }
}

/** Durations fall into buckets each 5 % wider than the one before: a few hundred cover a microsecond to a year. */
interface Timer {
  count: number
  total: number
  min: number
  max: number
  readonly buckets: Map<number, number>
}

const growth = Math.log(1.05)
const shortest = 0.001
const longest = 366 * 24 * 3600 * 1000

function createTimer(): Timer {
  return { count: 0, total: 0, min: Number.POSITIVE_INFINITY, max: 0, buckets: new Map() }
}

function addDuration(timer: Timer, duration: number): void {
  timer.count++
  timer.total += duration
  timer.min = Math.min(timer.min, duration)
  timer.max = Math.max(timer.max, duration)
  const bucket = Math.round(Math.log(Math.min(longest, Math.max(shortest, duration))) / growth)
  timer.buckets.set(bucket, (timer.buckets.get(bucket) ?? 0) + 1)
}

function snapshotTimer(timer: Timer): TimerSnapshot {
  const { count, total, min, max } = timer
  return { count, total, min, max, p50: quantile(timer, 0.5), p95: quantile(timer, 0.95) }
}

/** The middle of the bucket in which the asked-for duration fell, and never outside what was seen. */
function quantile(timer: Timer, share: number): number {
  const rank = Math.ceil(timer.count * share)
  let seen = 0
  for (const [bucket, times] of [...timer.buckets].sort(([a], [b]) => a - b)) {
    seen += times
    if (seen >= rank) return Math.min(timer.max, Math.max(timer.min, Math.exp(bucket * growth)))
  }
  return timer.max
}

function sorted<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1))
}
