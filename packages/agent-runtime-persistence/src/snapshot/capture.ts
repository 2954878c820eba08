/**
 * Takes one snapshot: find what may have changed, hash it, write one pack, then the refs, then what the next snapshot
 * can build on. Each step is durable before the next one starts.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import { KeepupError, type Snapshot } from "@ku0/agent-runtime-core"
import { monotonicNow } from "../store/monotonic-time.js"
import { type BytePath, foldersAbove } from "./byte-path.js"
import type { FolderFollower } from "./change-hints.js"
import { beginLook } from "./compare-index.js"
import { countChanges } from "./count-changes.js"
import { syncAll } from "./durable-file.js"
import { type Candidates, findChangesAt, findChangesExactly, type ScanContext } from "./find-changes.js"
import { foldIndex, listHeldFiles, removeOldIndexes } from "./fold-index.js"
import type { TreeNames } from "./git-objects.js"
import { type Hashed, hashCandidates } from "./hash-candidates.js"
import type { IgnoreRules } from "./ignore-rules.js"
import { createPackWriter, type PackWriter } from "./pack-writer.js"
import { compactMarks, hasManyMore, noteSeen } from "./private-files.js"
import { checkpointRef, indexTreeRef, latestRef, type PreparedRef } from "./refs.js"
import { type KnownFile, type Overlay, prepareScanState, type ScanState, saveScanState } from "./scan-state.js"
import {
  addCommit,
  describeSkipped,
  findSnapshotCommit,
  holdsSame,
  isSame,
  readSnapshotCommit,
} from "./snapshot-commit.js"
import type { SnapshotEnvironment } from "./snapshot-environment.js"
import { startSeeded } from "./start-seeded.js"
import { sweepLeftovers } from "./sweep-leftovers.js"
import { compareTrees, editTree, type FileEntry, type TreeChange } from "./trees.js"
import { requireRoot } from "./workspace-root.js"

export interface CaptureRequest {
  readonly message: string
  /** The ref that keeps the snapshot is made from it. Without one only the newest snapshot is kept. */
  readonly checkpointId?: string
  /** Paths where something happened since the last snapshot; undefined: look at everything. */
  readonly hints?: Iterable<BytePath> | undefined
  /** Those of the hints where something else may be now than was there. */
  readonly replaced?: ReadonlySet<BytePath>
  /** Captured even if a rule ignores them, because a restore is about to write them. */
  readonly alsoCapture?: readonly BytePath[]
  /** Watches every folder that is read. */
  readonly follower?: FolderFollower | undefined
  readonly timeBudgetMs: number
  /** When false and nothing changed, nothing is written and null is returned. */
  readonly allowEmpty: boolean
  /** The snapshot "nothing changed" is meant against; the newest one by default. */
  readonly since?: string
  /** When nothing changed since the newest snapshot, that one is kept under this id too, and no other is written. */
  readonly share?: boolean
  /** Read every file, and take nothing from the user's repository. */
  readonly unseeded?: boolean
  /** A look at the workspace that nobody keeps: no ref is written, and it is nobody's base. */
  readonly temporary?: boolean
  /** Told what it is as soon as that is known, while the disk is at work. Must not throw. */
  readonly onFound?: (found: FoundSnapshot) => void
  /** Stops it as long as files are read: nothing is kept, and the reason is thrown. */
  readonly signal?: AbortSignal
}

/** A snapshot that can be read here, but is not on disk yet. */
export interface FoundSnapshot {
  readonly commit: string
  /** False: nothing changed, and the newest one stands for it too. */
  readonly isNew: boolean
  /** The newest one before it, if any, and what differs from that. */
  readonly since: string | null
  readonly changes: readonly TreeChange[]
  /** The files whose content was looked at for it. */
  readonly seen: ReadonlyMap<BytePath, KnownFile | "gone">
}

export interface Captured {
  readonly snapshot: Snapshot
  readonly state: ScanState
  /** It began from the user's index. */
  readonly wasSeeded: boolean
}

/** Of what changed since the last snapshot, or since the user's index, so much is compressed later. */
export const mostPlain = 32 << 20
/** Overlay entries from which on the index is rewritten. */
const foldAt = 256

/** Must run under the store's lock. `state` is changed; after a failure it must be thrown away. */
export async function capture(
  environment: SnapshotEnvironment,
  state: ScanState,
  request: CaptureRequest,
): Promise<Captured | null> {
  const { step, refs, reader, packFolder } = environment
  if (request.checkpointId !== undefined) checkpointRef(request.checkpointId)
  // Not where folders are watched: that must begin before anything is looked at.
  const isLookEarly = request.hints === undefined && request.follower === undefined
  const begun = isLookEarly ? beginLook(environment.files) : undefined
  reader.refill()
  requireRoot(environment.files)
  const latest = refs.read(latestRef)
  const before = latest === undefined ? undefined : await findSnapshotCommit(environment, latest)
  const base = before === undefined ? null : (latest as string)
  const isFirst = state.lastCommit === null
  const canSeed = isFirst && request.unseeded !== true && environment.repository !== undefined
  const marksBefore = state.privateMarks.size
  const started = monotonicNow()
  const overAt = isFirst ? Number.POSITIVE_INFINITY : started + request.timeBudgetMs
  const rules = await environment.readRules()
  const pack = createPackWriter(packFolder, isFirst && !canSeed ? {} : { plainBytes: mostPlain })
  const prepared: PreparedRef[] = []
  let durable: Promise<unknown> | undefined
  try {
    step("capture:scan")
    const scanned = await scan(environment, state, rules, { ...request, begun, canSeed }, pack, overAt)
    const current = scanned.state
    const wasSeeded = current.seed !== undefined
    step("capture:hash")
    const hashed = await hashCandidates(scanned.candidates.paths, {
      ...environment,
      state: current,
      pack,
      isOver: () => monotonicNow() > overAt,
      signal: request.signal,
    })
    requireRoot(environment.files)
    applySeen(current, scanned.candidates, hashed)
    if (hasManyMore(current.privateMarks, marksBefore))
      current.privateMarks = compactMarks(current.privateMarks, listHeldFiles(environment.store, current))
    if (scanned.kind === "stopped") current.skipped.set(".", "time-budget")
    step("capture:trees")
    const newTrees = new Map<string, TreeNames>()
    reader.hold(newTrees)
    const fileAt = (path: BytePath) => asFile(current.overlay.get(path))
    const tree = await editTree(reader, current.lastTree, hashed.changed, fileAt, (id, data, names) => {
      pack.add(id, "tree", data)
      if (before !== undefined) newTrees.set(id, names)
    })
    // A first snapshot of a large tree needs the room for its index.
    hashed.changed.length = 0
    const { emptyFolders } = scanned.candidates
    const { privateMarks, skipped } = current
    const held = { tree, emptyFolders, privateMarks, skipped }
    const since = request.since === undefined ? before : await readSnapshotCommit(environment, request.since)
    const isWhole = ![...current.skipped.values()].includes("time-budget") // else nobody knows whether anything changed
    if (!request.allowEmpty && isWhole && holdsSame(since, held)) {
      pack.abandon()
      return null
    }
    const shared = request.share === true && isSame(before, held) ? before : undefined
    const changes = before === undefined ? [] : await compareTrees(reader, before.tree, tree)
    const createdAt = shared?.createdAt ?? environment.clock.now()
    const facts = {
      ...{ message: request.message, base, emptyFolders, privateMarks, skipped, createdAt },
      files: current.fileCount,
    }
    const id = shared === undefined ? addCommit(environment, pack, tree, facts) : (latest as string)
    step("capture:pack")
    if (request.temporary !== true) {
      const names = request.checkpointId === undefined ? [] : [checkpointRef(request.checkpointId)]
      if (shared === undefined) prepared.push(...refs.prepareAll([latestRef, ...names], id))
      else prepared.push(...names.map((name) => refs.prepareSame(name, latestRef, id)))
    }
    current.lastTree = tree
    current.lastCommit = id
    const index = scanned.kind === "exact" ? foldIfNeeded(environment, current) : undefined
    const together = [
      ...prepared.filter(({ isDurable }) => !isDurable).map(({ temporary }) => temporary),
      ...(isFirst ? listBorrowing(environment) : []),
      ...(index === undefined ? [] : [index, environment.store]),
    ]
    if (shared !== undefined) pack.abandon()
    durable = shared === undefined ? pack.finish(together) : syncAll(together)
    durable.catch(() => {}) // awaited below, unless something else fails first
    request.onFound?.({ commit: id, isNew: shared === undefined, since: base, changes, seen: hashed.seen })
    // Counted while the disk is at work, where all of it is in memory; once more if something was not.
    const counting = hashed.isKept ? countChanges(reader, changes) : undefined
    counting?.catch(() => {}) // awaited below, unless something else fails first
    if (scanned.kind === "exact" && hashed.isKept) prepareScanState(current) // a large snapshot needs the room
    await durable
    step("capture:refs")
    for (const ref of prepared) ref.place()
    await syncAll([...new Set(prepared.map(({ folder }) => folder))])
    step("capture:state")
    current.skipped.delete(".")
    // Ignored files a restore asked for are in this snapshot only: the next exact scan asks the rules anew.
    if (request.alsoCapture !== undefined && request.alsoCapture.length > 0) current.rules = ""
    if (scanned.kind === "exact") finishExact(environment, current, index !== undefined)
    sweepLeftovers(environment.files, scanned.candidates.leftovers, environment.now())
    step("capture:done")
    const early = await counting
    const { counts } = early?.isComplete ? early : await countChanges(reader, changes)
    const snapshot: Snapshot = {
      commit: id,
      base: shared === undefined ? base : shared.base,
      tree,
      ...counts,
      skipped: describeSkipped(
        scanned.kind === "stopped" ? [...current.skipped, [".", "time-budget"]] : current.skipped,
      ),
      createdAt,
      scan: scanned.kind,
      sizeBytes: shared === undefined ? pack.sizeBytes : 0,
      owned: !existsSync(join(environment.store, "objects/info/alternates")),
    }
    return { snapshot, state: current, wasSeeded }
  } catch (error) {
    await durable?.catch(() => {}) // the pack must not be taken away under who writes it
    pack.abandon()
    reader.forgetKept()
    for (const ref of prepared) ref.abandon()
    throw explainFailure(error)
  } finally {
    reader.hold(new Map())
  }
}

interface Scanned {
  readonly kind: Snapshot["scan"]
  readonly candidates: Candidates
  readonly state: ScanState
}

async function scan(
  environment: SnapshotEnvironment,
  state: ScanState,
  rules: IgnoreRules,
  request: CaptureRequest & Pick<ScanContext, "begun"> & { readonly canSeed: boolean },
  pack: PackWriter,
  overAt: number,
): Promise<Scanned> {
  const also = new Set(request.alsoCapture)
  const controller = new AbortController()
  const stop = () => controller.abort()
  request.signal?.throwIfAborted()
  request.signal?.addEventListener("abort", stop, { once: true })
  const { follower, begun } = request
  const context: ScanContext = { ...environment, state, rules, signal: controller.signal, follower, begun }
  const left = overAt - monotonicNow()
  const timer = Number.isFinite(left) ? setTimeout(stop, Math.max(left, 0)) : undefined
  try {
    if (request.hints !== undefined) {
      const candidates = await findChangesAt(context, request.hints, request.replaced)
      if (candidates !== undefined) return { kind: "hinted", candidates: withPaths(candidates, also), state }
      state.rules = "" // it may have read some folders already: read all of them again
    }
    const seeded = request.canSeed ? startSeeded(environment, context, pack) : undefined
    const candidates = await findChangesExactly(seeded === undefined ? context : { ...context, seeded })
    return { kind: "exact", candidates: withPaths(candidates, also), state }
  } catch (error) {
    if (!controller.signal.aborted) throw error
    request.signal?.throwIfAborted()
    // What the scan saw so far is incomplete: go back to the last complete state and look at what was named.
    const complete = environment.loadState()
    const paths = new Set([...(request.hints ?? []), ...also].filter((path) => path !== ""))
    const last = complete.lastCommit === null ? undefined : await findSnapshotCommit(environment, complete.lastCommit)
    const emptyFolders = last?.emptyFolders ?? complete.directories.listEmpty()
    return { kind: "stopped", candidates: { ...nothingFound(), paths, emptyFolders }, state: complete }
  } finally {
    request.signal?.removeEventListener("abort", stop)
    clearTimeout(timer)
  }
}

function nothingFound(): Candidates {
  return { paths: new Set(), ignored: new Set(), unreadable: [], leftovers: [], emptyFolders: [] }
}

function withPaths(candidates: Candidates, also: Set<BytePath>): Candidates {
  for (const path of also) candidates.paths.add(path)
  return candidates
}

function applySeen(state: ScanState, candidates: Candidates, hashed: Hashed): void {
  const isAll = state.overlay.size === 0 // a first snapshot sees much, and has no room for two of it
  if (isAll) state.overlay = hashed.seen
  for (const [path, known] of hashed.seen) {
    if (!isAll) state.overlay.set(path, known)
    noteSeen(state.privateMarks, path, known)
  }
  state.fileCount += hashed.growth
  for (const path of candidates.ignored) {
    const seen = hashed.seen.get(path)
    if (typeof seen === "object") continue
    if (seen === undefined) {
      state.fileCount--
      hashed.changed.push(path)
    }
    state.overlay.set(path, "ignored")
    noteSeen(state.privateMarks, path, "ignored")
  }
  // What is in a folder that can't be read goes without saying.
  const unreadable = new Set(candidates.unreadable)
  const isInUnreadable = (path: BytePath) => ["", ...foldersAbove(path)].some((folder) => unreadable.has(folder))
  state.skipped = new Map([...hashed.skipped].filter(([path]) => unreadable.size === 0 || !isInUnreadable(path)))
  for (const folder of unreadable) state.skipped.set(folder, "unreadable")
}

function asFile(known: Overlay | undefined): FileEntry | undefined {
  return typeof known === "object" ? known : undefined
}

/** Rewrites the index when it is worth it. Returns the path of a new one: it is a cache, but one that must not come back torn. */
function foldIfNeeded({ store }: SnapshotEnvironment, state: ScanState): string | undefined {
  state.looks += state.overlay.size
  // Few paths that are looked at each time cost as much in the end as writing the index once.
  const isWorn = state.looks >= Math.max(500, state.fileCount / 10)
  const isTooMuch = state.overlay.size >= foldAt || isWorn || state.indexFile === null
  const isFirst = state.seed !== undefined
  if (isTooMuch || [...state.overlay.values()].includes("ignored")) foldIndex(store, state)
  else if (!isFirst) return undefined
  delete state.seed // its index is in place, as the user's git wrote it
  return join(store, state.indexFile as string)
}

function finishExact({ store, refs }: SnapshotEnvironment, state: ScanState, isFolded: boolean): void {
  if (isFolded) refs.write(indexTreeRef, state.indexTree)
  saveScanState(store, state)
  if (isFolded) removeOldIndexes(store, state.indexFile)
}

/** What says where objects are borrowed from must be as durable as the snapshot that needs them. */
function listBorrowing({ store }: SnapshotEnvironment): string[] {
  const alternates = join(store, "objects/info/alternates")
  return existsSync(alternates) ? [alternates, join(store, "objects/info")] : []
}

function explainFailure(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code
  const isFull = code === "ENOSPC" || code === "EDQUOT"
  if (!isFull && code !== "EROFS" && code !== "EACCES" && code !== "EPERM") return error
  const what = isFull ? "Free some disk space" : "Make the state directory writable"
  return new KeepupError("UNAVAILABLE", `The snapshot could not be written: ${(error as Error).message}.`, {
    cause: error,
    hint: `${what} and try again; earlier snapshots are not affected.`,
  })
}
