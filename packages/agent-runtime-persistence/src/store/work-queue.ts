/**
 * Work on one file, one piece after the other, whichever store of this process it comes from. SQLite waits for a write of
 * someone else by blocking: if that someone is in the same process, it could not go on, and the wait would be for nothing.
 */

export interface WorkQueue {
  /** Runs `work` after everything that came before, whether that failed or not. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
  /** Called once by whoever joined, when it has no more work. */
  leave(): void
}

interface Line {
  last: Promise<unknown>
  users: number
}

const lines = new Map<string, Line>()

/** Everyone who gives the same name stands in one line; without a name one stands alone. */
export function joinQueue(name: string | undefined): WorkQueue {
  const line: Line = (name === undefined ? undefined : lines.get(name)) ?? { last: Promise.resolve(), users: 0 }
  line.users++
  if (name !== undefined) lines.set(name, line)
  return {
    run(work) {
      const result = line.last.then(work)
      line.last = result.catch(() => undefined)
      return result
    },
    leave() {
      line.users--
      if (name !== undefined && line.users === 0) lines.delete(name)
    },
  }
}
