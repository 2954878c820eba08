/**
 * A first snapshot that began from a large index of the user looked at few of its files itself, and let git read the
 * folders. Afterwards, while nobody waits, this finds out which of the files are private and what the folders are, so
 * that the next snapshot need not.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setImmediate as yieldToOthers } from "node:timers/promises"
import { monotonicNow } from "../store/monotonic-time.js"
import { type BytePath, joinPath } from "./byte-path.js"
import { createDirectoryTable, type DirectoryTable } from "./directory-table.js"
import { fewFiles, fileVersion } from "./find-changes.js"
import { listHeldFiles } from "./fold-index.js"
import { visitIndex } from "./git-index.js"
import { readNamesByFolder } from "./index-names.js"
import { compactMarks, hasManyMore, isPrivateMode, notePrivate } from "./private-files.js"
import { loadScanState, type ScanState, saveScanState } from "./scan-state.js"
import type { StoreSession } from "./store-session.js"
import { walkFolders } from "./walk-folders.js"
import { lookAtDisk } from "./workspace-files.js"

/** The program stays responsive. */
const yieldMs = 5

export async function finishFirstLook(session: StoreSession): Promise<void> {
  const { environment, lock } = session
  const { store } = environment
  const looked = loadScanState(store)
  if (looked === undefined || looked.indexFile === null) return
  const found = await listPrivate(session, looked.indexFile)
  const directories = looked.directories.entries.size === 0 ? await readDirectories(session, looked) : undefined
  if (found.length === 0 && directories === undefined) return
  await lock.hold(async () => {
    session.saveLocked()
    const state = loadScanState(store)
    // A file that changed since has another change time than this index says: the next snapshot looks at it anyway.
    if (state?.indexFile !== looked.indexFile) return
    const before = state.privateMarks.size
    for (const path of found) if (!state.overlay.has(path)) notePrivate(state.privateMarks, path, true)
    if (hasManyMore(state.privateMarks, before))
      state.privateMarks = compactMarks(state.privateMarks, listHeldFiles(store, state))
    const isSame = state.lastCommit === looked.lastCommit && state.rules === looked.rules
    if (isSame && directories?.areStill() && state.directories.entries.size === 0) state.directories = directories.table
    saveScanState(store, state)
    session.forget()
  })
}

interface ReadDirectories {
  readonly table: DirectoryTable
  /** Whether git had the same rules for all of them. */
  areStill(): boolean
}

/**
 * The folders, if they have no name in them that the last snapshot does not know: it is known of each folder then that
 * it holds nothing new as long as its times stay the same. Whatever is odd is left to the next snapshot.
 */
async function readDirectories(
  { environment, lock }: StoreSession,
  state: ScanState,
): Promise<ReadDirectories | undefined> {
  const { store, files, now } = environment
  const excludeFile = join(store, "info/exclude")
  // Every snapshot, also one that fails, hands git the rules of its moment: this walk must have had the same all along.
  const { rules, version } = await lock.hold(async () => {
    const rules = await environment.readRules()
    return { rules, version: fileVersion(excludeFile) }
  })
  if (rules.signature !== state.rules) return undefined
  const names = readNamesByFolder(readFileSync(join(store, state.indexFile as string)))
  const isSeen = (path: BytePath) => typeof state.overlay.get(path) === "object" || state.skipped.has(path)
  const table = createDirectoryTable()
  const { found, unreadable, hiddenRules, isCertain } = await walkFolders([""], {
    ...{ files, rules, table, now, askKnown: false, signal: new AbortController().signal },
    knownNames: (folder) => ({
      has: (name) => names.get(folder)?.has(name) === true || isSeen(joinPath(folder, name)),
    }),
  })
  if (!isCertain || [found, unreadable, hiddenRules].some(({ length }) => length > 0)) return undefined
  return { table, areStill: () => fileVersion(excludeFile) === version }
}

/** Files of an index that are private, where it has more of them than every snapshot looks at itself. */
async function listPrivate({ environment: { store, files } }: StoreSession, indexFile: string): Promise<BytePath[]> {
  const paths: BytePath[] = []
  visitIndex(readFileSync(join(store, indexFile)), (path) => paths.push(path))
  if (paths.length <= fewFiles) return []
  const found: BytePath[] = []
  let lastYield = monotonicNow()
  for (const path of paths) {
    const stat = lookAtDisk(files.resolve(path))
    if (stat?.isFile() && isPrivateMode(stat.mode)) found.push(path)
    if (monotonicNow() - lastYield < yieldMs) continue
    await yieldToOthers()
    lastYield = monotonicNow()
  }
  return found
}
