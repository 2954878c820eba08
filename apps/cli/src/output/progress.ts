/** How far something long is, on the terminal that standard error is: nothing in the first second, then the amount done. */
import type { OutputStream } from "../machine.js"
import { cut, thousands } from "./text.js"

export interface Progress {
  /** Must be cheap: it is called for every file. A total of 0: nobody knows how much it will be. */
  report(what: string, done: number, total: number): void
  /** Takes the line away until more is reported, so that what is printed next stands alone. */
  clear(): void
}

/** How long a thing may take unseen, and how often the line is drawn again. */
const patience = 1_000
const every = 100

export function createProgress(
  stream: OutputStream,
  clock: { now(): number },
  isQuiet: boolean,
): Progress & { end(): void } {
  const isSilent = isQuiet || !stream.isTerminal
  let what = ""
  let amount = { done: 0, total: 0 }
  let started = 0
  let shown = 0
  let isDrawn = false
  let timer: NodeJS.Timeout | undefined

  function draw(): void {
    const now = clock.now()
    if (what === "" || now - started < patience || (isDrawn && now - shown < every)) return
    shown = now
    isDrawn = true
    stream.write(`\r\u001b[K${cut(describe(what, amount, now - started), (stream.columns ?? 80) - 1)}`)
  }

  function clear(): void {
    if (isDrawn) stream.write("\r\u001b[K")
    isDrawn = false
    what = ""
  }

  return {
    report(name, done, total) {
      if (isSilent) return
      if (name !== what || done < amount.done) started = clock.now()
      what = name
      amount = { done, total }
      // what does not call for a while is still seen to go on
      if (timer === undefined) timer = setInterval(draw, every).unref()
      draw()
    },
    clear,
    /** Nothing is drawn any more. */
    end() {
      clear()
      clearInterval(timer)
    },
  }
}

function describe(what: string, { done, total }: { done: number; total: number }, milliseconds: number): string {
  const seconds = `${Math.floor(milliseconds / 1_000)} s`
  if (total > 0)
    return `${what}: ${thousands(done)} of ${thousands(total)} (${Math.floor((done / total) * 100)} %), ${seconds}`
  return done > 0 ? `${what}: ${thousands(done)}, ${seconds}` : `${what}: ${seconds}`
}
