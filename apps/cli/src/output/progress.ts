/** How far something long is, on standard error: nothing in the first second, then the amount done. */
import type { OutputStream } from "../machine.js"
import { thousands } from "./text.js"

export interface Progress {
  /** Must be cheap: it is called for every file. */
  report(what: string, done: number, total: number): void
  /** Takes the line away, so that what is printed next stands alone. */
  clear(): void
}

/** How long a thing may take unseen, and how often a line is written where it can't be drawn over. */
const patience = 1_000
const everyOnTerminal = 100
const everyInFile = 5_000

export function createProgress(stream: OutputStream, clock: { now(): number }, isQuiet: boolean): Progress {
  let what = ""
  let started = 0
  let shown = 0
  let isDrawn = false

  function clear(): void {
    if (isDrawn) stream.write("\r\u001b[K")
    isDrawn = false
  }

  return {
    report(name, done, total) {
      if (isQuiet) return
      const now = clock.now()
      if (name !== what || done === 0) {
        what = name
        started = now
        shown = 0
      }
      if (now - started < patience) return
      const pause = stream.isTerminal ? everyOnTerminal : everyInFile
      if (now - shown < pause && shown !== 0) return
      shown = now
      const share = total > 0 ? ` (${Math.floor((done / total) * 100)} %)` : ""
      const of = total > 0 ? ` of ${thousands(total)}` : ""
      const text = `${name}: ${thousands(done)}${of}${share}`
      if (stream.isTerminal) {
        stream.write(`\r\u001b[K${text}`)
        isDrawn = true
      } else stream.write(`${text}\n`)
    },
    clear,
  }
}
