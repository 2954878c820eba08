/**
 * The snapshots of one workspace: take one, compare, read, go back. All methods that change the store or the workspace
 * run one at a time, also across processes; reading needs no lock.
 */
import { randomUUID } from "node:crypto"
import { join } from "node:path"
import { type Clock, isKeepupError, type SkippedPath, type Snapshot } from "@ku0/agent-runtime-core"
import { toBytePath } from "./byte-path.js"
import type { FoundSnapshot } from "./capture.js"
import { watchChanges } from "./change-hints.js"
import { checkStore, repairStore, type StoreReport } from "./check-store.js"
import {
  collectGarbage,
  consolidatePacks,
  countPacks,
  measurePacks,
  ownObjects,
  type SweptSnapshots,
} from "./consolidate.js"
import type { SnapshotChange } from "./diff-snapshots.js"
import { finishFirstLook } from "./finish-first-look.js"
import { createHousekeeping } from "./housekeeping.js"
import { openStoreSession } from "./open-store-session.js"
import { createSnapshotReading } from "./read-snapshots.js"
import { checkpointRefs } from "./refs.js"
import {
  prepareRestore,
  type RestoreHooks,
  type RestoreOptions,
  type RestoreOutcome,
  restoreSnapshot,
  settleRestore,
} from "./restore.js"
import { listJournals, listPrepared, type RestoreJournal } from "./restore-journal.js"
import type { RestoreWork } from "./restore-plan.js"
import { sweepStaging } from "./restore-stage.js"
import type { ShadowLocation } from "./shadow-repository.js"
import { readSnapshotCommit } from "./snapshot-commit.js"
import { createStoreLock } from "./store-lock.js"
import { findCommit } from "./store-session.js"
import { exportObjects, type ImportedObjects, importObjects, type SnapshotObject } from "./transfer-objects.js"

export interface OpenSnapshotStoreOptions extends ShadowLocation {
  /** Handed to git without any `GIT_*`. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  /** The git program; found through `PATH` by default. */
  readonly git?: string
  /** How long git may take for what it can answer at once; default 30 s. */
  readonly gitTimeLimitMs?: number
  readonly capture?: {
    /** Ignored files to capture all the same, as .gitignore patterns. */
    readonly include?: readonly string[]
    /** Larger files are skipped, and said to be; default 50 MB. */
    readonly maxFileSize?: number
  }
  /** Files that are keepup's own databases, wherever they lie: never part of a snapshot. */
  readonly databases?: readonly string[]
  /** How long a snapshot after the first one may look and read; default 10 s. */
  readonly timeBudgetMs?: number
  /** How long to wait for another process; default 30 s. */
  readonly lockTimeoutMs?: number
  /** Files read so far, of how many. Must not throw. */
  readonly onProgress?: (done: number, total: number, what?: string) => void
  /** Called at every named step; a test may end the process in it. */
  readonly onStep?: (name: string) => void
}

export interface CaptureOptions {
  readonly message: string
  /** A ref keeps the snapshot under this id until `gc` is told otherwise. */
  readonly checkpointId?: string
  /** Paths that changed since the last snapshot, relative to the workspace. */
  readonly hints?: readonly string[]
  /** Look at every file even if a watcher runs. Default: as the watcher allows. */
  readonly exact?: boolean
  /** When nothing changed since the newest snapshot, keep that one under this id too instead of writing another. */
  readonly share?: boolean
  /** For `captureIfChanged`: compare with this snapshot instead of the newest one. */
  readonly since?: string
  readonly timeBudgetMs?: number
  /** Told what it is as soon as that is known, while the disk is at work. Must not throw. */
  readonly onFound?: (found: FoundSnapshot) => void
  /** Stops it as long as files are read: nothing is kept, and the reason is thrown. */
  readonly signal?: AbortSignal
}

export interface SnapshotFile {
  readonly path: string
  readonly mode: string
  readonly id: string
}

export interface SnapshotDescription {
  readonly commit: string
  readonly base: string | null
  readonly tree: string
  readonly message: string
  readonly createdAt: number
  readonly emptyFolders: readonly string[]
  readonly skipped: readonly SkippedPath[]
}

/** "workspace" stands for the files as they are now. */
export type SnapshotRef = string | "workspace"

export interface SnapshotStore {
  readonly workspacePath: string
  readonly directory: string
  /** There was no workspace when it was opened: it can be read only. When there is one again, open it anew. */
  readonly isGone: boolean
  capture(options: CaptureOptions): Promise<Snapshot>
  /** Like `capture`, but null when nothing changed since the newest snapshot. */
  captureIfChanged(options: CaptureOptions): Promise<Snapshot | null>
  diff(from: SnapshotRef, to: SnapshotRef): Promise<SnapshotChange[]>
  /** The difference as a patch git can read. */
  patch(from: SnapshotRef, to: SnapshotRef, paths?: readonly string[]): Promise<Buffer>
  listFiles(commit: string): Promise<SnapshotFile[]>
  readFile(commit: string, path: string): Promise<Buffer>
  /** Content by object id, as a `diff` names it. */
  readContent(id: string): Promise<Buffer>
  /** Writes a whole snapshot into an empty folder. */
  writeAllTo(commit: string, directory: string): Promise<number>
  /** What a restore would do. */
  planRestore(commit: string, options?: RestoreOptions): Promise<RestoreWork>
  restore(commit: string, options?: RestoreOptions & RestoreHooks & { readonly id?: string }): Promise<RestoreOutcome>
  /** Restores a crash broke off. */
  listUnfinishedRestores(): RestoreJournal[]
  /** Takes away what restores left that were killed before they changed a file. */
  sweepRestores(): Promise<void>
  finishRestore(journal: RestoreJournal, hooks?: RestoreHooks): Promise<RestoreOutcome>
  takeBackRestore(journal: RestoreJournal, hooks?: RestoreHooks): Promise<RestoreOutcome>
  /** What a snapshot's commit says of itself. */
  describe(commit: string): Promise<SnapshotDescription>
  /** Checkpoint id → commit. */
  listCheckpoints(): Map<string, string>
  /** Every object these commits hold, children before their parents. */
  exportObjects(commits: readonly string[]): AsyncIterable<SnapshotObject>
  /** Keeps objects of another store, proven one by one, then the refs: checkpoint id → commit. */
  importObjects(objects: Iterable<SnapshotObject>, refs: ReadonlyMap<string, string>): Promise<ImportedObjects>
  /** Lets snapshots be hinted by a watcher from now on. False where the system can't watch. */
  watch(): Promise<boolean>
  check(): Promise<StoreReport>
  repair(): Promise<StoreReport>
  /** Few packs instead of many; objects of the user's repository become the store's own. */
  consolidate(): Promise<void>
  /** Drops every checkpoint whose id is not listed, and the content only they held. Says what that came to on the disk. */
  gc(keepCheckpointIds: Iterable<string>): Promise<SweptSnapshots>
  /** Waits for work in the background and lets go of everything. */
  close(): Promise<void>
}

/** Packs from which on it is time to merge them: a store stays under fifty files. With too many it can't wait. */
const manyPacks = 10
const tooManyPacks = 20

/** Opens the snapshot store of a workspace, and makes it if there is none. */
export async function openSnapshotStore(options: OpenSnapshotStoreOptions): Promise<SnapshotStore> {
  const session = await openStoreSession(options)
  const { environment, lock } = session
  const budget = options.timeBudgetMs ?? 10_000
  // One process tidies at a time; snapshots go on meanwhile. Taken before the store's lock, never inside it.
  const tidyLock = createStoreLock(join(environment.store, "tidy.db"), options.lockTimeoutMs ?? 30_000)
  const house = createHousekeeping((work) => tidyLock.hold(work))

  async function take(request: CaptureOptions, allowEmpty: boolean, temporary = false): Promise<Snapshot | null> {
    const { hints, exact = false, ...rest } = request
    const snapshot = await use(() =>
      session.captureLocked({
        ...{ timeBudgetMs: budget, ...rest, exact, allowEmpty, temporary },
        hints: hints?.map((path) => toBytePath(path)),
      }),
    )
    if (snapshot !== null) keepHouse(snapshot)
    return snapshot
  }

  function use<T>(work: () => Promise<T>): Promise<T> {
    return house.use(() => lock.hold(work))
  }

  function keepHouse(snapshot: Snapshot): void {
    if (!snapshot.owned) {
      house.start(() => finishFirstLook(session))
      house.start(() => ownObjects(environment, lock).catch(noteLender))
    }
    const packs = countPacks(environment)
    if (packs <= manyPacks) return
    const tidy = () => consolidatePacks(environment, lock)
    if (packs > tooManyPacks) house.start(tidy)
    else house.startWhenQuiet(tidy)
  }

  /** Whoever can't wait, or has no room, tries again; what git could not read it will not be able to read then. */
  function noteLender(error: unknown): void {
    if (isKeepupError(error) && error.code === "INTERNAL") session.distrustLender()
  }

  async function treeOf(ref: SnapshotRef): Promise<string> {
    if (ref !== "workspace") return (await readSnapshotCommit(environment, await findCommit(environment, ref))).tree
    const looked = await take({ message: "look", exact: true }, true, true)
    return (looked as Snapshot).tree
  }

  return {
    workspacePath: environment.files.root,
    directory: environment.store,
    isGone: environment.isGone,
    capture: async (request) => (await take(request, true)) as Snapshot,
    captureIfChanged: (request) => take(request, false),
    ...createSnapshotReading(environment, treeOf),
    planRestore: (commit, request = {}) =>
      use(async () => (await prepareRestore(session, commit, { ...request, temporary: true })).plan),
    restore: (commit, request = {}) =>
      use(() => restoreSnapshot(session, commit, { ...request, id: request.id ?? randomUUID() })),
    listUnfinishedRestores: () => listJournals(environment.store),
    async sweepRestores() {
      if (listPrepared(environment.store).length > 0) await lock.hold(async () => sweepStaging(environment))
    },
    finishRestore: (journal, hooks) => use(() => settleRestore(session, journal, "target", hooks)),
    takeBackRestore: (journal, hooks) => use(() => settleRestore(session, journal, "safety", hooks)),
    listCheckpoints() {
      const refs = [...environment.refs.list(checkpointRefs)]
      return new Map(refs.map(([name, commit]) => [name.slice(checkpointRefs.length), commit]))
    },
    exportObjects: (commits) => exportObjects(environment, commits),
    importObjects: (objects, refs) => importObjects(environment, lock, objects, refs),
    async watch() {
      session.watcher ??= await watchChanges(environment)
      return session.watcher !== undefined
    },
    async check() {
      await house.finish()
      environment.reader.forgetKept()
      return tidyLock.hold(() => checkStore(environment))
    },
    async repair() {
      await house.finish()
      return tidyLock.hold(() => lock.hold(() => repairStore(session)))
    },
    async consolidate() {
      await house.finish()
      await tidyLock.hold(async () => {
        await ownObjects(environment, lock)
        await consolidatePacks(environment, lock, { everything: true })
      })
    },
    async gc(keepCheckpointIds) {
      await house.finish()
      const keep = new Set(keepCheckpointIds)
      return await tidyLock.hold(async () => {
        const bytesBefore = measurePacks(environment)
        await ownObjects(environment, lock)
        const dropped = await collectGarbage(session, keep)
        return { dropped, bytesBefore, bytesAfter: measurePacks(environment) }
      })
    },
    async close() {
      await house.close()
      if (session.isUnsaved) await lock.hold(async () => session.saveLocked())
      session.watcher?.close()
      environment.reader.close()
      lock.close()
      tidyLock.close()
    },
  }
}
