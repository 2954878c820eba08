import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createMetrics } from "./metrics.js"

/** A clock that shows what it is told. */
function clockAt(...times: number[]) {
  return { now: () => times.shift() ?? Number.NaN }
}

describe("createMetrics", () => {
  it("counts", () => {
    const metrics = createMetrics({ clock: clockAt() })
    metrics.count("b")
    metrics.count("a", 5)
    metrics.count("b", 2)
    expect(metrics.snapshot()).toEqual({ counters: { a: 5, b: 3 }, timers: {} })
    expect(Object.keys(metrics.snapshot().counters)).toEqual(["a", "b"])
  })

  it("times, once for each start", () => {
    const metrics = createMetrics({ clock: clockAt(100, 140, 200) })
    const stop = metrics.start("restore")
    expect(stop()).toBe(40)
    expect(stop()).toBe(40)
    expect(metrics.snapshot().timers).toEqual({ restore: { count: 1, total: 40, min: 40, max: 40, p50: 40, p95: 40 } })
  })

  it("takes no harm from a clock that goes back or from what is no number", () => {
    const metrics = createMetrics({ clock: clockAt(100, 40) })
    expect(metrics.start("a")()).toBe(0)
    metrics.record("a", Number.NaN)
    metrics.record("a", Number.POSITIVE_INFINITY)
    metrics.record("a", -5)
    expect(metrics.snapshot().timers.a).toEqual({ count: 4, total: 0, min: 0, max: 0, p50: 0, p95: 0 })
  })

  it("gives quantiles within 2.5 % of the exact ones, for any durations", () => {
    const durations = fc.array(fc.double({ min: 0.001, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 300 })
    fc.assert(
      fc.property(durations, (values) => {
        const metrics = createMetrics({ clock: clockAt() })
        for (const value of values) metrics.record("x", value)
        const ordered = values.toSorted((a, b) => a - b)
        const exact = (share: number) => ordered[Math.ceil(values.length * share) - 1] ?? Number.NaN
        const timer = metrics.snapshot().timers.x
        expect(timer?.min).toBe(ordered[0])
        expect(timer?.max).toBe(ordered.at(-1))
        expect(Math.abs((timer?.p50 ?? 0) / exact(0.5) - 1)).toBeLessThan(0.025)
        expect(Math.abs((timer?.p95 ?? 0) / exact(0.95) - 1)).toBeLessThan(0.025)
      }),
    )
  })

  it("keeps a bounded number of names and loses no count", () => {
    const metrics = createMetrics({ clock: clockAt(), mostNames: 2 })
    for (const name of ["a", "b", "c", "d", "a"]) {
      metrics.count(name)
      metrics.record(name, 1)
    }
    const { counters, timers } = metrics.snapshot()
    expect(counters).toEqual({ a: 2, b: 1, "(other)": 2 })
    expect(timers["(other)"]?.count).toBe(2)
  })

  it("takes a snapshot that does not change afterwards", () => {
    const metrics = createMetrics({ clock: clockAt() })
    metrics.count("a")
    const before = metrics.snapshot()
    metrics.count("a")
    expect(before.counters.a).toBe(1)
  })
})
