/**
 * Brings the index git scans with up to date with what the snapshots saw since, so that git again reports nothing for
 * files that did not change. Written beside the old one; whoever still scans with the old one is not disturbed.
 */
import { existsSync, readdirSync, readFileSync, writeFile } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { KeepupError } from "@ku0/agent-runtime-core"
import { randomHex } from "../store/lazy-crypto.js"
import type { BytePath } from "./byte-path.js"
import { removeFile, syncAll, writeNewFile } from "./durable-file.js"
import { isSettledForGit, withoutSize } from "./file-stat.js"
import { formatIndex, parseIndex, pathOf, type WritableEntry } from "./git-index.js"
import { compareBytes } from "./git-objects.js"
import type { KnownFile, ScanState } from "./scan-state.js"

const namePrefix = "index-"

/** Writes a new index, which the caller makes durable, and changes the state to use it. The state's last tree must hold exactly index and overlay. */
export function foldIndex(store: string, state: ScanState): void {
  const old = readOld(store, state)
  delete state.seed
  state.indexFile = writeIndexFile(
    store,
    formatIndex(merge(old, state.overlay), (path) => describe(state.overlay, path)),
  )
  state.indexTree = state.lastTree
  state.looks = 0
  // A file that was touched just now is looked at again next time, whatever git says of it.
  for (const [path, known] of state.overlay) {
    if (typeof known !== "object" || isSettledForGit(known.stat, known.seenAt)) state.overlay.delete(path)
  }
}

/** Every file of the last snapshot and of what was seen since. */
export function listHeldFiles(store: string, state: ScanState): BytePath[] {
  return merge(readOld(store, state), state.overlay).map(pathOf)
}

function readOld(store: string, state: ScanState): readonly WritableEntry[] {
  if (state.seed !== undefined) return state.seed()
  if (state.indexFile === null) return []
  const file = join(store, state.indexFile)
  if (!existsSync(file)) throw new KeepupError("CORRUPT", "The index of the snapshot store is gone.")
  return parseIndex(readFileSync(file)).entries
}

/** Returns the name of the new file in the store. It is on its way to the disk, but the caller must still see it there. */
function writeIndexFile(store: string, data: Buffer): string {
  const name = newName()
  const file = join(store, name)
  writeNewFile(file, data, { durable: false })
  syncAll([file]).catch(() => {}) // done again, and then awaited, with all that must be durable together
  return name
}

/** The same while others work: the file is there once `written` is kept. */
export function copyIndexFile(store: string, data: Buffer): { name: string; written: Promise<void> } {
  const name = newName()
  const file = join(store, name)
  // In one piece, which the function of `node:fs/promises` does not do: nobody must come back to it.
  const written = promisify(writeFile)(file, data, { flag: "wx" }).then(() => {
    syncAll([file]).catch(() => {}) // as above
  })
  return { name, written }
}

function newName(): string {
  return namePrefix + randomHex(6)
}

/** Removes index files no state names any more. Call under the lock. */
export function removeOldIndexes(store: string, current: string | null): void {
  for (const name of readdirSync(store)) {
    if (name.startsWith(namePrefix) && name !== current) removeFile(join(store, name))
  }
}

type Seen = ReadonlyMap<BytePath, KnownFile | "gone" | "ignored">

function merge(old: readonly WritableEntry[], overlay: Seen): (WritableEntry | BytePath)[] {
  const merged: (WritableEntry | BytePath)[] = old.filter((entry) => !overlay.has(entry.path))
  const before = merged.length
  for (const [path, known] of overlay) if (typeof known === "object") merged.push(path)
  if (merged.length === before) return merged
  return merged.sort((a, b) => compareBytes(pathOf(a), pathOf(b)))
}

function describe(overlay: Seen, path: BytePath): WritableEntry {
  const known = overlay.get(path) as KnownFile
  const stat = isSettledForGit(known.stat, known.seenAt) ? known.stat : withoutSize(known.stat)
  return { path, mode: Number.parseInt(known.mode, 8), id: known.id, stat }
}
