import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { createProgress } from "./progress.js"

function watch(isTerminal: boolean, isQuiet = false) {
  let written = ""
  const write = (text: string | Uint8Array) => {
    written += text
  }
  const stream = { isTerminal, columns: 40, write }
  return { progress: createProgress(stream, Date, isQuiet), text: () => written.replaceAll("\r\u001b[K", "|") }
}

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 })
})
afterEach(() => {
  vi.useRealTimers()
})

it("says nothing in the first second, then how much is done, and clears its line", () => {
  const { progress, text } = watch(true)
  progress.report("Reading files", 0, 2_000)
  vi.setSystemTime(1_000_900)
  progress.report("Reading files", 500, 2_000)
  expect(text()).toBe("")
  vi.setSystemTime(1_001_100)
  progress.report("Reading files", 1_000, 2_000)
  vi.setSystemTime(1_001_150)
  progress.report("Reading files", 1_010, 2_000)
  expect(text()).toBe("|Reading files: 1,000 of 2,000 (50 %), …")
  progress.end()
  progress.end()
  expect(text()).toBe("|Reading files: 1,000 of 2,000 (50 %), …|")
})

it("goes on showing what does not call for a while, and ends with the command", () => {
  const { progress, text } = watch(true)
  progress.report("Collecting", 0, 0)
  vi.advanceTimersByTime(1_000)
  expect(text()).toBe("|Collecting: 1 s")
  progress.report("Exporting", 12_000, 0)
  vi.advanceTimersByTime(1_000)
  expect(text()).toMatch(/\|Exporting: 12,000, 1 s$/)
  progress.end()
  const before = text()
  vi.advanceTimersByTime(5_000)
  expect(text()).toBe(before)
})

it("says nothing where it can't be drawn over, and nothing when quiet", () => {
  for (const { progress, text } of [watch(false), watch(true, true)]) {
    progress.report("Exporting", 1, 0)
    vi.advanceTimersByTime(20_000)
    progress.report("Exporting", 2, 0)
    progress.end()
    expect(text()).toBe("")
  }
})
