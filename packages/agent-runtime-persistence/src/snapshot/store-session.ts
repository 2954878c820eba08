/** An open store's memory: what the last snapshot knew, what was hinted since, and when everything was last looked at. */
import { isKeepupError, KeepupError, type Snapshot } from "@ku0/agent-runtime-core"
import { monotonicNow } from "../store/monotonic-time.js"
import type { BytePath } from "./byte-path.js"
import { type CaptureRequest, capture } from "./capture.js"
import type { ChangeHints } from "./change-hints.js"
import { removeRubbish } from "./consolidate.js"
import { hasLenderDamage, noteLenderDamage, settleLenderDamage } from "./lender-damage.js"
import { sweepStaging } from "./restore-stage.js"
import { createScanState, type ScanState, saveScanState, stateVersion } from "./scan-state.js"
import type { SnapshotEnvironment } from "./snapshot-environment.js"
import type { StoreLock } from "./store-lock.js"
import { missingWorkspace } from "./workspace-root.js"

export interface SessionRequest extends Omit<CaptureRequest, "hints" | "replaced"> {
  /** Look at everything, whatever is hinted. */
  readonly exact: boolean
  /** Paths the caller says have changed. Without a watcher only these are looked at. */
  readonly hints?: readonly BytePath[] | undefined
}

export interface StoreSession {
  readonly environment: SnapshotEnvironment
  readonly lock: StoreLock
  watcher: ChangeHints | undefined
  /** Takes a snapshot. The caller holds the lock. */
  captureLocked(request: SessionRequest): Promise<Snapshot | null>
  /** Paths keepup itself changed: part of the next hints. */
  touch(paths: Iterable<BytePath>): void
  /** Forgets what is in memory; the next snapshot looks at everything. */
  forget(): void
  /** What is borrowed can't all be read: the next snapshot reads every file and writes all of it anew, once. */
  distrustLender(): void
  /** Whether something is only in memory. */
  readonly isUnsaved: boolean
  /** Writes down what is only in memory. The caller holds the lock. */
  saveLocked(): void
}

/** At the latest after this many hinted snapshots, or this long, everything is looked at again. */
const hintedInARow = 50
const hintedForMs = 5 * 60_000

export function createStoreSession(environment: SnapshotEnvironment, lock: StoreLock): StoreSession {
  let state: ScanState | undefined
  let version = ""
  let isSaved = true
  let pending = new Set<BytePath>()
  let replaced = new Set<BytePath>()
  let hintedCount = 0
  let lastExact = Number.NEGATIVE_INFINITY
  let isLenderTrusted = true

  async function captureLocked(request: SessionRequest): Promise<Snapshot | null> {
    if (environment.isGone) throw missingWorkspace(environment.files.root)
    const onDisk = stateVersion(environment.store)
    if (state === undefined || version !== onDisk) {
      sweepStaging(environment)
      removeRubbish(environment) // large ones of killed first snapshots would pile up
      state = environment.loadState()
      isLenderTrusted = !hasLenderDamage(environment.store)
      lastExact = Number.NEGATIVE_INFINITY
      version = onDisk
    }
    const hinted = await session.watcher?.take()
    for (const path of hinted?.paths ?? []) pending.add(path)
    for (const path of hinted?.replaced ?? []) replaced.add(path)
    for (const path of request.hints ?? []) pending.add(path)
    if (hinted?.isReliable === false) lastExact = Number.NEGATIVE_INFINITY
    const isWatched = session.watcher !== undefined || request.hints !== undefined
    const isDue = hintedCount >= hintedInARow || monotonicNow() - lastExact > hintedForMs
    const anew = isLenderTrusted ? {} : { unseeded: true }
    const useHints = isWatched && isLenderTrusted && !request.exact && !isDue && state.lastCommit !== null
    const current = isLenderTrusted ? state : createScanState()
    const taken = pending
    const takenReplaced = replaced
    const giveBack = () => {
      for (const path of taken) pending.add(path)
      for (const path of takenReplaced) replaced.add(path)
    }
    state = undefined
    pending = new Set()
    replaced = new Set()
    try {
      const known = { replaced: takenReplaced, follower: session.watcher }
      const wanted = { ...request, ...known, ...anew, hints: useHints ? taken : undefined }
      const result = await capture(environment, current, wanted).catch((error) => {
        // What we noted, what the last snapshot held or what the user's repository says is damaged: look at everything
        // and write all of it again.
        if (!isKeepupError(error) || error.code !== "CORRUPT") throw error
        return capture(environment, createScanState(), { ...wanted, hints: undefined, unseeded: true })
      })
      if (result === null) {
        // Nothing was written, so what was seen is not remembered either.
        giveBack()
        return null
      }
      state = result.state
      if (!isLenderTrusted) settleLenderDamage(environment.store)
      isLenderTrusted = true
      if (result.snapshot.scan === "exact") {
        // Git began to compare before anything was watched: what happened meanwhile nobody hinted.
        if (!result.wasSeeded) lastExact = monotonicNow()
        hintedCount = 0
        isSaved = true
        version = stateVersion(environment.store)
      } else {
        hintedCount++
        isSaved = false
        if (result.snapshot.scan === "stopped") {
          giveBack()
          lastExact = Number.NEGATIVE_INFINITY // it went back to an older state: earlier hints are in none any more
        }
      }
      return result.snapshot
    } catch (error) {
      giveBack()
      lastExact = Number.NEGATIVE_INFINITY
      throw error
    }
  }

  const session: StoreSession = {
    environment,
    lock,
    watcher: undefined,
    get isUnsaved() {
      return state !== undefined && !isSaved
    },
    captureLocked,
    touch(paths) {
      for (const path of paths) pending.add(path)
    },
    forget() {
      state = undefined
      version = ""
    },
    distrustLender() {
      noteLenderDamage(environment.store)
      isLenderTrusted = !hasLenderDamage(environment.store)
    },
    saveLocked() {
      if (state === undefined || isSaved || stateVersion(environment.store) !== version) return
      saveScanState(environment.store, state)
      version = stateVersion(environment.store)
      isSaved = true
    },
  }
  return session
}

/** The commit's full id, or why it can't be used. */
export async function findCommit(environment: SnapshotEnvironment, commit: string): Promise<string> {
  if (!/^[0-9a-f]{40}$/.test(commit)) {
    throw new KeepupError("INVALID_INPUT", `Not a snapshot id: ${JSON.stringify(commit)}.`, {
      hint: "Give the 40 hexadecimal digits of a snapshot's commit.",
    })
  }
  const found = await environment.reader.find(commit)
  if (found?.type === "commit") return commit
  throw new KeepupError("NOT_FOUND", `There is no snapshot ${commit} in this store.`)
}
