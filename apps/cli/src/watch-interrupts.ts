/**
 * Ctrl-C and SIGTERM. What holds nothing ends at once. What must not be left half done is finished, or stopped where
 * nothing was touched yet, and says which; then the command ends as CANCELLED. The second signal ends the process: the
 * store is made for that, and the next command settles what was under way.
 */
import { errorCodes, isKeepupError, KeepupError } from "@ku0/agent-runtime"
import type { Machine } from "./machine.js"

/** What is said when a signal comes while something is held. */
export interface HoldWords {
  /** What is finished before the command ends, like `The restore`. Without it the work ends by itself at the signal. */
  readonly finishing?: string
  /** How things are if the signal stopped it. */
  readonly stopped?: string
}

export interface Interrupts {
  /** Aborts at the first signal. */
  readonly signal: AbortSignal
  /** The command as far as it comes; a signal while nothing is held cuts it off. Returns whether a signal came. */
  race(work: Promise<void>): Promise<boolean>
  hold<Result>(work: () => Promise<Result>, words?: HoldWords): Promise<Result>
}

export function watchInterrupts(machine: Machine, tell: (text: string) => void): Interrupts {
  const controller = new AbortController()
  const { signal } = controller
  const held: HoldWords[] = []
  let isFinishing = false
  const cutOff = new Promise<never>((_, reject) => {
    machine.onInterrupt((name) => {
      if (signal.aborted) return machine.exit(errorCodes.CANCELLED.exit)
      controller.abort(stop({ signal: name }))
      if (held.length === 0) return reject(stop({ signal: name, isCutOff: true }))
      const what = held.find(({ finishing }) => finishing !== undefined)?.finishing
      isFinishing = what !== undefined
      if (what !== undefined) {
        tell(`${what} is not left half done. Ctrl-C again ends at once; the next keepup command then settles it.`)
      }
    })
  })
  cutOff.catch(() => undefined) // whoever races hears of it

  return {
    signal,
    async race(work) {
      await Promise.race([work, cutOff])
      if (signal.aborted && isFinishing) tell("It was finished before the signal could stop it.")
      return signal.aborted
    },
    async hold(work, words = {}) {
      held.push(words)
      try {
        return await work()
      } catch (error) {
        if (!signal.aborted || words.stopped === undefined || !isStop(error)) throw error
        throw new KeepupError("CANCELLED", words.stopped, { cause: error })
      } finally {
        held.splice(held.indexOf(words), 1)
      }
    },
  }
}

function stop(details: object): KeepupError {
  return new KeepupError("CANCELLED", "Stopped by a signal.", { details: { ...details } })
}

/** Whether an error says that nothing went wrong but the signal. */
function isStop(error: unknown): boolean {
  return isKeepupError(error) ? error.code === "CANCELLED" : (error as Error).name === "AbortError"
}

/** Whether a command was cut off in the middle: then nothing is waited for any more. */
export function isCutOff(error: unknown): boolean {
  return isKeepupError(error) && error.details?.["isCutOff"] === true
}
