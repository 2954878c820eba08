/** One `git cat-file` that answers questions in the order they are asked. Needs git 2.36. */
import { KeepupError } from "@ku0/agent-runtime-core"
import type { ObjectType } from "./git-objects.js"
import { abandon, type Git, tooSlow, waitAtMost } from "./git-process.js"

export interface Answer {
  readonly type: ObjectType
  readonly size: number
  /** Empty when only the facts were asked for. */
  readonly data: Buffer
}

export interface BatchProcess {
  readonly hasEnded: boolean
  ask(id: string, wantsContent: boolean): Promise<Answer | undefined>
  /** Answers what was asked, then ends. */
  end(): void
  kill(): void
}

interface Waiting {
  readonly wantsContent: boolean
  resolve(value: Answer | undefined): void
  reject(error: unknown): void
}

const nothing = Buffer.alloc(0)

export function startBatchProcess(git: Git): BatchProcess {
  const child = git.start(["cat-file", "--batch-command"])
  const waiting: Waiting[] = []
  let chunks: Buffer[] = []
  let buffered = 0
  let wanted = 1
  let hasEnded = false
  let questions = ""
  let stopWaiting: (() => void) | undefined

  /** Nobody waits for ever for the next bytes. */
  function watch(): void {
    stopWaiting?.()
    stopWaiting = waiting.length === 0 ? undefined : waitAtMost(git.timeLimitMs, giveUp)
  }

  /** What is asked in one go is sent in one go: thousands of small writes take longer than their answers. */
  function send(): void {
    if (questions !== "") child.stdin?.write(questions)
    questions = ""
  }

  function giveUp(): void {
    abandon(child)
    fail(tooSlow("cat-file", git.timeLimitMs))
  }

  /** An idle git must not keep the program alive; one that owes an answer must. */
  function hold(needed: boolean): void {
    const parts = [child, child.stdin, child.stdout, child.stderr] as ({ ref?(): void; unref?(): void } | null)[]
    for (const part of parts) needed ? part?.ref?.() : part?.unref?.()
  }

  function deliver(): void {
    let data = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
    wanted = 1
    while (waiting.length > 0) {
      const taken = takeAnswer(data, (waiting[0] as Waiting).wantsContent)
      if ("wanted" in taken) {
        wanted = taken.wanted
        break
      }
      data = data.subarray(taken.length)
      waiting.shift()?.resolve(taken.answer)
    }
    if (waiting.length === 0) hold(false)
    chunks = data.length > 0 ? [data] : []
    buffered = data.length
  }

  function fail(error: KeepupError): void {
    hasEnded = true
    for (const one of waiting.splice(0)) one.reject(error)
    watch()
  }

  child.stdout?.on("data", (chunk: Buffer) => {
    chunks.push(chunk)
    buffered += chunk.length
    if (buffered >= wanted) deliver()
    watch()
  })
  child.stderr?.resume()
  child.stdin?.on("error", () => {}) // the end of the process says what there is to say
  child.on("error", (cause) => fail(new KeepupError("UNAVAILABLE", "git could not be started.", { cause })))
  child.on("close", () => fail(endedUnexpectedly()))

  return {
    get hasEnded() {
      return hasEnded
    },
    ask(id, wantsContent) {
      if (hasEnded) return Promise.reject(endedUnexpectedly())
      hold(true)
      return new Promise((resolve, reject) => {
        waiting.push({ wantsContent, resolve, reject })
        if (stopWaiting === undefined) watch()
        if (questions === "") queueMicrotask(send)
        questions += `${wantsContent ? "contents" : "info"} ${id}\n`
      })
    },
    end() {
      send()
      child.stdin?.end()
    },
    kill() {
      child.kill("SIGKILL")
      fail(new KeepupError("CANCELLED", "The snapshot store was closed."))
    },
  }
}

function endedUnexpectedly(): KeepupError {
  return new KeepupError("UNAVAILABLE", "git cat-file ended unexpectedly.")
}

/** The first answer in the bytes, or how many bytes there must be before it is worth looking again. */
function takeAnswer(
  data: Buffer,
  hasContent: boolean,
): { answer: Answer | undefined; length: number } | { wanted: number } {
  const line = data.indexOf(10)
  if (line < 0) return { wanted: data.length + 1 }
  const [, type, words] = data.toString("latin1", 0, line).split(" ")
  if (words === undefined) return { answer: undefined, length: line + 1 }
  const size = Number(words)
  if (!hasContent) return { answer: { type: type as ObjectType, size, data: nothing }, length: line + 1 }
  const end = line + 1 + size
  if (data.length < end + 1) return { wanted: end + 1 }
  const content = Buffer.from(data.subarray(line + 1, end))
  return { answer: { type: type as ObjectType, size, data: content }, length: end + 1 }
}
