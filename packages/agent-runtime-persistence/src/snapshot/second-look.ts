/**
 * A second thread that looks at files beside the main one, for programs that stay: it halves what a look at everything
 * takes. Both take the next few files until none are left, so nobody waits for a thread that comes late; what it does
 * not end in time is looked at here.
 */
import type { Worker } from "node:worker_threads"
import { lookAtDisk } from "./workspace-files.js"

/** What the disk says of a file, as far as an index knows it too. */
export interface Look {
  readonly ctimeMs: number
  readonly mtimeMs: number
  readonly ino: number
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly size: number
}

export interface SecondLook {
  /** What is at each place, not following links; undefined where there is nothing, or nothing we may see. */
  lookAtAll(places: readonly (string | Buffer)[], begun?: BegunLook): (Look | undefined)[]
  /** The second thread begins now, if there is one: the main one still has other things to do. */
  begin(places: readonly (string | Buffer)[]): BegunLook | undefined
}

/** For one look at these very places. */
export interface BegunLook {
  readonly places: readonly (string | Buffer)[]
  readonly values: Float64Array
  readonly state: Int32Array<SharedArrayBuffer>
}

const fields = 7
/** Files taken at a time. */
const few = 32
/** For fewer it is not worth waking the thread. */
const worthwhile = 200
/** A program that looks at the same files so often stays; starting the thread takes longer than one look. */
const looksBefore = 2
const patienceMs = 5

/**
 * Of the shared numbers the first counts what is taken, and then there is one for each few: 1 when they are done. A file
 * that is not there has mode 0.
 */
const secondThread = `
const { lstatSync } = require("node:fs")
const { parentPort } = require("node:worker_threads")
let places = []
parentPort.on("message", (request) => {
  places = request.places ?? places
  const looks = new Float64Array(request.looks)
  const state = new Int32Array(request.state)
  for (let at = Atomics.add(state, 0, 1); at < state.length - 1; at = Atomics.add(state, 0, 1)) {
    for (let i = at * ${few}; i < Math.min((at + 1) * ${few}, places.length); i++) {
      try {
        const { ctimeMs, mtimeMs, ino, mode, uid, gid, size } = lstatSync(places[i])
        looks.set([ctimeMs, mtimeMs, ino, mode, uid, gid, size], i * ${fields})
      } catch {
        looks[i * ${fields} + 3] = 0
      }
    }
    Atomics.store(state, at + 1, 1)
    Atomics.notify(state, at + 1)
  }
})
parentPort.postMessage("ready")
`

/** `program` is what the thread runs. */
export function createSecondLook(program = secondThread): SecondLook {
  let thread: Worker | undefined
  let isStarting = false
  let last: readonly (string | Buffer)[] | undefined
  let lastSent: readonly (string | Buffer)[] | undefined
  let looks = 0

  async function start(): Promise<void> {
    const { Worker } = await import("node:worker_threads")
    const starting = new Worker(program, { eval: true, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 16 } })
    starting.unref()
    starting.on("message", () => {
      starting.unref() // that it began to run has undone the first one
      thread = starting
    })
    const forget = () => {
      thread = undefined
    }
    starting.on("error", forget)
    starting.on("exit", forget)
  }

  function beginIn(to: Worker, places: readonly (string | Buffer)[]): BegunLook {
    // New ones each time: a thread that comes late must not write into what is looked at next.
    const shared = new SharedArrayBuffer(places.length * fields * Float64Array.BYTES_PER_ELEMENT)
    const parts = Math.ceil(places.length / few)
    const state = new Int32Array(new SharedArrayBuffer((parts + 1) * Int32Array.BYTES_PER_ELEMENT))
    to.postMessage({ places: places === lastSent ? undefined : places, looks: shared, state: state.buffer })
    lastSent = places
    return { places, values: new Float64Array(shared), state }
  }

  function share({ places, values, state }: BegunLook): (Look | undefined)[] {
    const found: (Look | undefined)[] = new Array(places.length)
    const parts = state.length - 1
    const isOurs = new Set<number>()
    for (let at = Atomics.add(state, 0, 1); at < parts; at = Atomics.add(state, 0, 1)) {
      isOurs.add(at)
      lookHere(places, at, found)
    }
    for (let at = 0; at < parts; at++) {
      if (isOurs.has(at)) continue
      if (isDone(state, at)) readLooks(values, at, found)
      else lookHere(places, at, found)
    }
    return found
  }

  return {
    begin: (places) => (thread === undefined || places.length < worthwhile ? undefined : beginIn(thread, places)),
    lookAtAll(places, begun) {
      looks = places === last ? looks + 1 : 0
      last = places
      if (begun?.places === places) return share(begun)
      if (places.length >= worthwhile) {
        if (thread !== undefined) return share(beginIn(thread, places))
        if (looks >= looksBefore && !isStarting) {
          isStarting = true
          start().catch(() => {}) // the main thread does without
        }
      }
      return places.map((place) => lookAtDisk(place))
    },
  }
}

function lookHere(places: readonly (string | Buffer)[], at: number, found: (Look | undefined)[]): void {
  const end = Math.min((at + 1) * few, places.length)
  for (let i = at * few; i < end; i++) found[i] = lookAtDisk(places[i] as string | Buffer)
}

function isDone(state: Int32Array<SharedArrayBuffer>, at: number): boolean {
  return Atomics.load(state, at + 1) === 1 || Atomics.wait(state, at + 1, 0, patienceMs) !== "timed-out"
}

function readLooks(values: Float64Array, at: number, found: (Look | undefined)[]): void {
  const end = Math.min((at + 1) * few, found.length)
  for (let i = at * few; i < end; i++) {
    const field = (number: number) => values[i * fields + number] as number
    const mode = field(3)
    if (mode === 0) continue
    found[i] = {
      ctimeMs: field(0),
      mtimeMs: field(1),
      ino: field(2),
      mode,
      uid: field(4),
      gid: field(5),
      size: field(6),
    }
  }
}
