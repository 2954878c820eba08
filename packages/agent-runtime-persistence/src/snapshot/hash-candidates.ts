/** Decides what each candidate path is now, and puts content the store does not have yet into the pack. */

import { setImmediate as yieldToOthers } from "node:timers/promises"
import { promisify } from "node:util"
import { deflate } from "node:zlib"
import type { SkipReason } from "@ku0/agent-runtime-core"
import { monotonicNow } from "../store/monotonic-time.js"
import type { BytePath } from "./byte-path.js"
import { isSettled } from "./file-stat.js"
import { objectId, treeMode } from "./git-objects.js"
import { keptBytes, type ObjectReader } from "./object-reader.js"
import { deflateOptions, type PackWriter } from "./pack-writer.js"
import type { KnownFile, ScanState } from "./scan-state.js"
import { findEntry } from "./trees.js"
import type { WorkspaceFiles } from "./workspace-files.js"

export interface HashOptions {
  readonly files: WorkspaceFiles
  readonly reader: ObjectReader
  readonly state: ScanState
  readonly pack: PackWriter
  readonly now: () => number
  /** When to stop; what is left is skipped. */
  readonly isOver: () => boolean
  /** Stops it: its reason is thrown. */
  readonly signal?: AbortSignal | undefined
  /** Must not throw. */
  readonly onProgress?: (done: number, total: number) => void
}

export interface Hashed {
  /** Paths that differ from the state's last tree. */
  readonly changed: BytePath[]
  /** What was seen, also where nothing changed. */
  readonly seen: Map<BytePath, KnownFile | "gone">
  readonly skipped: Map<BytePath, SkipReason>
  /** Files more than before; negative when files went. */
  readonly growth: number
  /** Whether the reader keeps all that was added to the pack. */
  readonly isKept: boolean
}

/** Looked up when it is called: reading a list must not pay for loading zlib. */
const deflateAsync = (data: Buffer, options: object) =>
  (promisify(deflate) as (data: Buffer, options: object) => Promise<Buffer>)(data, options)
/** A file this large is compressed on another thread, so that the program stays responsive. */
const largeFile = 256 << 10
/** From this size on it is worth a look whether the store has it: content comes back with every restore. */
const worthALook = 16 << 10

/** `paths` is used up: a first snapshot of a large tree needs the room. */
export async function hashCandidates(paths: Set<BytePath>, options: HashOptions): Promise<Hashed> {
  const { files, reader, state, pack, now } = options
  const changed: BytePath[] = []
  const seen = new Map<BytePath, KnownFile | "gone">()
  const skipped = new Map<BytePath, SkipReason>()
  const sorted = [...paths].filter((path) => !isKnown(path)).sort()
  paths.clear()
  // Their folders are read together, not one after the other.
  await Promise.all(sorted.slice(0, 1000).map((path) => findEntry(reader, state.lastTree, path)))
  let growth = 0
  let addedBytes = 0
  let lastYield = monotonicNow()
  for (const [done, path] of sorted.entries()) {
    options.signal?.throwIfAborted()
    const before = await findEntry(reader, state.lastTree, path)
    const old = before?.mode === treeMode ? undefined : before
    const present = options.isOver() ? ({ kind: "skipped", reason: "time-budget" } as const) : look(path)
    if (present.kind === "skipped") skipped.set(path, present.reason)
    if (present.kind !== "file") {
      seen.set(path, "gone")
      if (old !== undefined) {
        changed.push(path)
        growth--
      }
    } else {
      seen.set(path, present.file)
      if (old === undefined) growth++
      if (old?.id !== present.file.id || old.mode !== present.file.mode) changed.push(path)
      if (old?.id !== present.file.id) await add(present.file.id, present.data)
    }
    if (monotonicNow() - lastYield > 15) {
      options.onProgress?.(done, sorted.length)
      await yieldToOthers()
      lastYield = monotonicNow()
    }
  }
  options.onProgress?.(sorted.length, sorted.length)
  return { changed, seen, skipped, growth, isKept: addedBytes <= keptBytes }

  /** Whether the file is as the last snapshot saw it, which then holds it: nothing of the store need be read for it. */
  function isKnown(path: BytePath): boolean {
    const known = state.overlay.get(path)
    if (typeof known !== "object" || !isSettled(known.stat, known.seenAt) || options.isOver()) return false
    const seenAt = now()
    const found = files.look(path)
    if (found.kind !== "file" || found.stat !== known.stat) return false
    // Seen again now: so that it is settled one day for git's index too, and no longer looked at each time.
    seen.set(path, { ...known, seenAt })
    return true
  }

  function look(path: BytePath) {
    const seenAt = now()
    const content = files.read(path)
    if (content.kind !== "content") return content
    const id = objectId("blob", content.data)
    const file: KnownFile = { mode: content.mode, id, stat: content.stat, seenAt }
    return { kind: "file" as const, file, data: content.data }
  }

  async function add(id: string, data: Buffer): Promise<void> {
    if (pack.has(id)) return
    if (data.length >= worthALook && state.lastCommit !== null && reader.isOwned(id)) return
    addedBytes += data.length
    if (state.lastCommit !== null && addedBytes <= keptBytes) reader.keep(id, "blob", data)
    if (data.length < largeFile) pack.add(id, "blob", data)
    else pack.add(id, "blob", data, await deflateAsync(data, deflateOptions(data.length)))
  }
}
