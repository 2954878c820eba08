/**
 * Tidying of an open store in the background, one piece of work after another. What can wait does so until nobody has
 * used the store for a moment: an agent that goes on at once is not held up by it.
 */

export interface Housekeeping {
  /** Runs a use of the store. What waits begins a moment after the last one has ended. */
  use<T>(work: () => Promise<T>): Promise<T>
  /** Never fails anybody: what could not be done, the next one tries again. */
  start(work: () => Promise<unknown>): void
  /** Takes the place of what waits already. */
  startWhenQuiet(work: () => Promise<unknown>): void
  /** Begins what waits now, and ends when all is done. */
  finish(): Promise<void>
  /** The same once nobody uses the store any more; from then on nothing is begun. */
  close(): Promise<void>
}

/** An agent's next step comes sooner, or it is the model's turn and there is time. */
const quietMs = 200

/** `runAlone` runs a piece of work while no other process tidies the same store. */
export function createHousekeeping(runAlone: (work: () => Promise<unknown>) => Promise<unknown>): Housekeeping {
  let running: Promise<unknown> = Promise.resolve()
  let waiting: (() => Promise<unknown>) | undefined
  let timer: NodeJS.Timeout | undefined
  let uses = 0
  let used: Promise<unknown> = Promise.resolve()
  let isClosed = false

  function start(work: () => Promise<unknown>): void {
    if (isClosed) return
    running = running.then(() => runAlone(work)).catch(() => {})
  }

  function startWaiting(): void {
    const work = waiting
    waiting = undefined
    if (work !== undefined) start(work)
  }

  function wake(): void {
    if (uses > 0 || waiting === undefined || isClosed) return
    clearTimeout(timer)
    timer = setTimeout(startWaiting, quietMs)
    timer.unref() // a program that ends without closing leaves it to the next one
  }

  async function run<T>(work: () => Promise<T>): Promise<T> {
    uses++
    clearTimeout(timer)
    try {
      return await work()
    } finally {
      uses--
      wake()
    }
  }

  async function finish(): Promise<void> {
    clearTimeout(timer)
    startWaiting()
    await running
  }

  return {
    use(work) {
      const result = run(work)
      used = Promise.allSettled([used, result]).then(() => {})
      return result
    },
    start,
    startWhenQuiet(work) {
      waiting = work
      wake()
    },
    finish,
    async close() {
      for (let last: unknown; last !== used; ) {
        last = used
        await used
      }
      await finish()
      isClosed = true
      await running
    },
  }
}
