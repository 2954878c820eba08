import { expect, it } from "vitest"
import { createProgress } from "./progress.js"

function watch(isTerminal: boolean, isQuiet = false) {
  let written = ""
  const clock = { time: 0, now: () => clock.time }
  const write = (text: string | Uint8Array) => {
    written += text
  }
  const stream = { isTerminal, columns: undefined, write }
  return { clock, progress: createProgress(stream, clock, isQuiet), text: () => written }
}

it("says nothing in the first second, then how much is done, and clears its line", () => {
  const { clock, progress, text } = watch(true)
  progress.report("Reading files", 0, 2_000)
  clock.time = 900
  progress.report("Reading files", 500, 2_000)
  expect(text()).toBe("")
  clock.time = 1_100
  progress.report("Reading files", 1_000, 2_000)
  clock.time = 1_150
  progress.report("Reading files", 1_010, 2_000)
  expect(text()).toBe("\r\u001b[KReading files: 1,000 of 2,000 (50 %)")
  progress.clear()
  progress.clear()
  expect(text()).toBe("\r\u001b[KReading files: 1,000 of 2,000 (50 %)\r\u001b[K")
})

it("writes a line now and then where it can't be drawn over, and none when quiet", () => {
  const { clock, progress, text } = watch(false)
  const quiet = watch(false, true)
  for (clock.time = 0; clock.time <= 12_000; clock.time += 500) {
    progress.report("Exporting", clock.time, 0)
    quiet.clock.time = clock.time
    quiet.progress.report("Exporting", clock.time, 0)
  }
  expect(text()).toBe("Exporting: 1,000\nExporting: 6,000\nExporting: 11,000\n")
  expect(quiet.text()).toBe("")
})
