/**
 * Reads objects of the shadow repository through one `git cat-file` that stays open: it knows packs, deltas and
 * borrowed objects, and finds packs that were written after it was started. Needs git 2.36. Trees are kept in memory.
 */
import type { ChildProcess } from "node:child_process"
import { KeepupError } from "@ku0/agent-runtime-core"
import { emptyTree, type ObjectType, parseTree, type TreeEntry } from "./git-objects.js"
import type { Git } from "./git-process.js"

export interface ObjectReader {
  /** The object, or undefined when the store does not have it. */
  find(id: string): Promise<{ type: ObjectType; data: Buffer } | undefined>
  /** Its content, or `CORRUPT` when it is missing or of another type. */
  get(id: string, type: ObjectType): Promise<Buffer>
  /** Type and size without the content. */
  describe(ids: readonly string[]): Promise<({ type: ObjectType; size: number } | undefined)[]>
  /** Names of a folder. The map is shared: do not change it. */
  tree(id: string): Promise<ReadonlyMap<string, TreeEntry>>
  /** Remembers a tree that was just written. */
  keepTree(id: string, data: Buffer): void
  close(): void
}

interface Answer {
  readonly type: ObjectType
  readonly size: number
  readonly data: Buffer
}

interface Waiting {
  readonly wantsContent: boolean
  resolve(value: Answer | undefined): void
  reject(error: unknown): void
}

/** Names in cached trees. */
const cachedNames = 50_000
/** From this many questions on, a git of its own answers them faster. */
const manyIds = 500
const nothing = Buffer.alloc(0)

export function createObjectReader(git: Git): ObjectReader {
  const trees = new Map<string, ReadonlyMap<string, TreeEntry>>()
  let names = 0
  let child: ChildProcess | undefined
  let waiting: Waiting[] = []
  let chunks: Buffer[] = []
  let buffered = 0
  let wanted = 1
  trees.set(emptyTree, new Map())

  function start(): ChildProcess {
    const started = git.start(["cat-file", "--batch-command"])
    child = started
    started.stdout?.on("data", (chunk: Buffer) => {
      chunks.push(chunk)
      buffered += chunk.length
      if (buffered >= wanted) deliver()
    })
    started.stderr?.resume()
    started.stdin?.on("error", () => {})
    const fail = () => {
      if (child === started) stop(new KeepupError("UNAVAILABLE", "git cat-file ended unexpectedly."))
    }
    started.on("error", fail)
    started.on("close", fail)
    return started
  }

  function deliver(): void {
    let data = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)
    while (waiting.length > 0) {
      const line = data.indexOf(10)
      if (line < 0) {
        wanted = data.length + 1
        break
      }
      const [, type, size] = data.toString("latin1", 0, line).split(" ")
      if (size === undefined) {
        data = data.subarray(line + 1)
        waiting.shift()?.resolve(undefined)
        continue
      }
      if (!waiting[0]?.wantsContent) {
        data = data.subarray(line + 1)
        waiting.shift()?.resolve({ type: type as ObjectType, size: Number(size), data: nothing })
        continue
      }
      const end = line + 1 + Number(size)
      if (data.length < end + 1) {
        wanted = end + 1
        break
      }
      const content = Buffer.from(data.subarray(line + 1, end))
      data = data.subarray(end + 1)
      waiting.shift()?.resolve({ type: type as ObjectType, size: content.length, data: content })
    }
    if (waiting.length === 0) {
      wanted = 1
      hold(child, false)
    }
    chunks = data.length > 0 ? [data] : []
    buffered = data.length
  }

  function ask(id: string, wantsContent: boolean): Promise<Answer | undefined> {
    const running = child ?? start()
    hold(running, true)
    return new Promise((resolve, reject) => {
      waiting.push({ wantsContent, resolve, reject })
      running.stdin?.write(`${wantsContent ? "contents" : "info"} ${id}\n`)
    })
  }

  const find = (id: string) => ask(id, true)

  function stop(error?: unknown): void {
    const stopped = child
    const left = waiting
    child = undefined
    waiting = []
    chunks = []
    buffered = 0
    wanted = 1
    stopped?.kill("SIGKILL")
    for (const one of left) one.reject(error ?? new KeepupError("CANCELLED", "The snapshot store was closed."))
  }

  async function get(id: string, type: ObjectType): Promise<Buffer> {
    const found = await find(id)
    if (found?.type === type) return found.data
    throw new KeepupError("CORRUPT", `The snapshot store has no ${type} ${id}.`, {
      hint: "Run the check of the snapshot store; content that is still in the workspace can be repaired.",
      details: { id, type },
    })
  }

  function keepTree(id: string, data: Buffer): ReadonlyMap<string, TreeEntry> {
    if (names > cachedNames) {
      trees.clear()
      trees.set(emptyTree, new Map())
      names = 0
    }
    const entries = new Map<string, TreeEntry>()
    for (const entry of parseTree(data)) entries.set(entry.name, entry)
    trees.set(id, entries)
    names += entries.size
    return entries
  }

  return {
    find,
    get,
    async describe(ids) {
      if (ids.length < manyIds) return Promise.all(ids.map((id) => ask(id, false)))
      const { stdout } = await git.run(["cat-file", "--batch-check=%(objecttype) %(objectsize)", "--buffer"], {
        input: ids.map((id) => `${id}\n`).join(""),
      })
      return stdout
        .toString("latin1")
        .split("\n")
        .slice(0, ids.length)
        .map((line) => {
          const [type, size] = line.split(" ")
          const known = type === "blob" || type === "tree" || type === "commit"
          return known ? { type, size: Number(size) } : undefined
        })
    },
    async tree(id) {
      return trees.get(id) ?? keepTree(id, await get(id, "tree"))
    },
    keepTree,
    close: () => stop(),
  }
}

/** An idle git must not keep the program alive; one that owes an answer must. */
function hold(child: ChildProcess | undefined, needed: boolean): void {
  const parts = [child, child?.stdin, child?.stdout, child?.stderr] as ({ ref?(): void; unref?(): void } | undefined)[]
  for (const part of parts) needed ? part?.ref?.() : part?.unref?.()
}
