/**
 * A first snapshot that began from a large index of the user looked at few of its files itself. Afterwards, while nobody
 * waits, this finds out which of them are private, so that the next snapshot knows.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setImmediate as yieldToOthers } from "node:timers/promises"
import { monotonicNow } from "../store/monotonic-time.js"
import type { BytePath } from "./byte-path.js"
import { fewFiles } from "./find-changes.js"
import { listHeldFiles } from "./fold-index.js"
import { visitIndex } from "./git-index.js"
import { compactMarks, hasManyMore, isPrivateMode, notePrivate } from "./private-files.js"
import { loadScanState, saveScanState } from "./scan-state.js"
import type { StoreSession } from "./store-session.js"
import { lookAtDisk } from "./workspace-files.js"

/** The program stays responsive. */
const yieldMs = 5

export async function findPrivateFiles(session: StoreSession): Promise<void> {
  const { environment, lock } = session
  const { store } = environment
  const indexFile = loadScanState(store)?.indexFile
  if (!indexFile) return
  const found = await listPrivate(session, indexFile)
  if (found.length === 0) return
  await lock.hold(async () => {
    session.saveLocked()
    const state = loadScanState(store)
    // A file that changed since has another change time than this index says: the next snapshot looks at it anyway.
    if (state?.indexFile !== indexFile) return
    const before = state.privateMarks.size
    for (const path of found) if (!state.overlay.has(path)) notePrivate(state.privateMarks, path, true)
    if (hasManyMore(state.privateMarks, before))
      state.privateMarks = compactMarks(state.privateMarks, listHeldFiles(store, state))
    saveScanState(store, state)
    session.forget()
  })
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
