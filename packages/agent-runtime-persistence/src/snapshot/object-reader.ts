/**
 * Reads objects of the shadow repository: a few from its own packs, more through a git that stays open. That one knows
 * packs, deltas and borrowed objects, and finds packs that were written after it was started. Trees, the newest commit
 * and what was written last are kept in memory.
 */
import { KeepupError } from "@ku0/agent-runtime-core"
import { type Answer, type BatchProcess, startBatchProcess } from "./batch-process.js"
import { emptyTree, namesOf, type ObjectType, type TreeNames } from "./git-objects.js"
import type { Git } from "./git-process.js"
import { createPackReader } from "./pack-reader.js"

/** Ids of 20 bytes each, so many bytes behind these places. */
export interface IdList {
  readonly bytes: Buffer
  readonly places: Uint32Array
  readonly skip: number
}

export interface ObjectReader {
  /** The object, or undefined when the store does not have it. */
  find(id: string): Promise<Answer | undefined>
  /** Its content, or `CORRUPT` when it is missing or of another type. */
  get(id: string, type: ObjectType): Promise<Buffer>
  /** Type and size without the content. */
  describe(ids: readonly string[]): Promise<({ type: ObjectType; size: number } | undefined)[]>
  /** Sizes modulo 2^32 of the objects of each list, one list after the other, and -1 for those that are missing: all in one go. */
  sizes(lists: readonly IdList[]): Promise<Float64Array>
  /** Names of a folder. The map is shared: do not change it. */
  tree(id: string): Promise<TreeNames>
  /** Whether a pack of the store has it, whole and undamaged. False where only git could tell. */
  isOwned(id: string): boolean
  /** Remembers a tree that was just written. */
  keepTree(id: string, names: TreeNames): void
  /** Trees that are on no disk yet: they can be read here until other ones are given. */
  hold(unwritten: ReadonlyMap<string, TreeNames>): void
  /** Remembers a copy of an object that is about to be written, for a while, and if it is small. */
  keep(id: string, type: ObjectType, data: Buffer): void
  /** What was about to be written was not, or must be seen on disk. */
  forgetKept(): void
  /** A few are read without git again. Call where work begins that others wait for. */
  refill(): void
  /** Sees from now on what changed underneath: other places to borrow from, objects that are gone. */
  renew(): void
  close(): void
}

/** Names in cached trees. */
const cachedNames = 15_000
/** Bytes of kept objects: the newest ones. */
export const keptBytes = 1 << 20
/** Git would otherwise keep all of the user's packs in memory that it touched once. */
const smallWindows = ["-c", "core.packedGitWindowSize=1m", "-c", "core.packedGitLimit=32m"]
/** From this many questions on, a git of its own answers them faster. */
const manyIds = 500

/** So many are read here before a git is started for them. */
const fewObjects = 64

export function createObjectReader(git: Git, packFolder: string): ObjectReader {
  const packs = createPackReader(packFolder)
  let readHere = 0
  const trees = new Map<string, TreeNames>()
  const reading = new Map<string, Promise<TreeNames>>()
  let unwritten: ReadonlyMap<string, TreeNames> = new Map()
  let names = 0
  let commit: { readonly id: string; readonly data: Buffer } | undefined
  let current: BatchProcess | undefined
  const kept = new Map<string, Answer>()
  let keptNow = 0

  function keep(id: string, type: ObjectType, data: Buffer): void {
    if (data.length > keptBytes) return
    keptNow += data.length - (kept.get(id)?.size ?? 0)
    kept.delete(id) // it becomes the newest one
    kept.set(id, { type, size: data.length, data: Buffer.from(data) })
    for (const [oldest, { size }] of kept) {
      if (keptNow <= keptBytes) break
      kept.delete(oldest)
      keptNow -= size
    }
  }

  function forgetKept(): void {
    kept.clear()
    keptNow = 0
  }

  function forgetTrees(): void {
    commit = undefined
    trees.clear()
    reading.clear()
    trees.set(emptyTree, new Map())
    names = 0
  }

  function ask(id: string, wantsContent: boolean): Promise<Answer | undefined> {
    if (current === undefined || current.hasEnded) current = startBatchProcess(git)
    return current.ask(id, wantsContent)
  }

  async function find(id: string): Promise<Answer | undefined> {
    const known = kept.get(id)
    if (known !== undefined) return known
    const here = readHere++ >= fewObjects ? undefined : packs.find(id)
    if (here !== undefined) return here
    readHere = fewObjects // git is needed anyway, and the others are likely to lie where this one does
    return await ask(id, true)
  }

  /** Whoever asks what a few objects are is about to read them. */
  async function findAndKeep(id: string): Promise<Answer | undefined> {
    const found = await find(id)
    if (found !== undefined && !kept.has(id)) keep(id, found.type, found.data)
    return found
  }

  async function get(id: string, type: ObjectType): Promise<Buffer> {
    if (type === "commit" && commit?.id === id) return commit.data
    const found = await find(id)
    if (type === "commit" && found?.type === type) commit = { id, data: found.data }
    if (found?.type === type) return found.data
    throw new KeepupError("CORRUPT", `The snapshot store has no ${type} ${id}.`, {
      hint: "Run the check of the snapshot store; content that is still in the workspace can be repaired.",
      details: { id, type },
    })
  }

  function keepTree(id: string, entries: TreeNames): TreeNames {
    if (names > cachedNames) forgetTrees()
    trees.set(id, entries)
    names += entries.size
    return entries
  }

  /** Asked for several times at once, a tree is read once. */
  function readTree(id: string): Promise<TreeNames> {
    const known = reading.get(id)
    if (known !== undefined) return known
    const read = get(id, "tree").then((data) => keepTree(id, namesOf(data)))
    reading.set(id, read)
    read.finally(() => reading.delete(id)).catch(() => {}) // whoever asked hears of a failure
    return read
  }

  forgetTrees()
  return {
    find,
    get,
    async describe(ids) {
      if (ids.length <= fewObjects) return Promise.all(ids.map(findAndKeep))
      if (ids.length < manyIds) return Promise.all(ids.map((id) => ask(id, false)))
      const { stdout } = await git.run(["cat-file", "--batch-check=%(objecttype) %(objectsize)", "--buffer"], {
        input: ids.map((id) => `${id}\n`).join(""),
        limit: "long",
      })
      const lines = stdout.toString("latin1").split("\n").slice(0, ids.length)
      return lines.map((line) => {
        const [type, size] = line.split(" ")
        const isKnown = type === "blob" || type === "tree" || type === "commit"
        return isKnown ? { type, size: Number(size) } : undefined
      })
    },
    async sizes(lists) {
      const args = [...smallWindows, "cat-file", "--batch-check=%(objectsize)", "--buffer"]
      const input = formatIds(lists)
      const { stdout } = await git.run(args, { input, limit: "long" })
      return parseSizes(stdout, input.length / lineLength)
    },
    async tree(id) {
      return trees.get(id) ?? unwritten.get(id) ?? (await readTree(id))
    },
    isOwned: (id) => packs.find(id) !== undefined,
    keepTree,
    hold(held) {
      unwritten = held
    },
    keep,
    forgetKept,
    refill() {
      readHere = 0
    },
    renew() {
      current?.end()
      current = undefined
      packs.renew()
      forgetTrees()
      forgetKept()
    },
    close() {
      current?.kill()
      current = undefined
      forgetTrees()
      forgetKept()
    },
  }
}

const digits = Buffer.from("0123456789abcdef", "latin1")

const lineLength = 41

/** One id in hexadecimal digits per line. */
function formatIds(lists: readonly IdList[]): Buffer {
  const lines = Buffer.allocUnsafe(lists.reduce((count, { places }) => count + places.length, 0) * lineLength)
  let to = 0
  for (const { bytes, places, skip } of lists) {
    for (let i = 0; i < places.length; i++, to += lineLength) writeId(lines, to, bytes, (places[i] as number) + skip)
  }
  return lines
}

function writeId(lines: Buffer, start: number, ids: Buffer, at: number): void {
  let to = start
  for (let from = at; from < at + 20; from++) {
    const byte = ids[from] as number
    lines[to++] = digits[byte >> 4] as number
    lines[to++] = digits[byte & 15] as number
  }
  lines[to] = 10
}

/** A line that is not a number says that an object is missing. */
function parseSizes(text: Buffer, count: number): Float64Array {
  const sizes = new Float64Array(count).fill(-1)
  let line = 0
  let value = 0
  let isNumber = false
  for (let at = 0; at < text.length && line < count; at++) {
    const byte = text[at] as number
    if (byte === 10) {
      sizes[line++] = isNumber ? value % 2 ** 32 : -1
      value = 0
      isNumber = false
    } else if (byte >= 48 && byte <= 57 && value >= 0) {
      value = value * 10 + byte - 48
      isNumber = true
    } else {
      value = Number.NEGATIVE_INFINITY
      isNumber = false
    }
  }
  return sizes
}
