/**
 * What a restore would do, worked out from trees and a look at the workspace; changes nothing. Only paths the safety
 * snapshot holds are overwritten or deleted; everything else that stands in the way is reported and left alone.
 */
import { posix } from "node:path"
import { KeepupError, type RestorePlan, type SkipReason } from "@ku0/agent-runtime-core"
import { type BytePath, displayPath, foldersAbove, isInside, toBytePath } from "./byte-path.js"
import { compareBytes } from "./git-objects.js"
import { findIgnoredThen, isRuleFile } from "./ignored-then.js"
import { isPrivate } from "./private-files.js"
import { describeSkipped, readSnapshotCommit } from "./snapshot-commit.js"
import type { SnapshotEnvironment } from "./snapshot-environment.js"
import { compareTrees, type FileEntry, findEntry, listTree } from "./trees.js"

type SnapshotCommit = Awaited<ReturnType<typeof readSnapshotCommit>>

/** A plan with the exact bytes of its paths. */
export interface RestoreWork extends RestorePlan {
  readonly target: string
  readonly safety: string
  readonly writes: readonly {
    readonly path: BytePath
    readonly entry: FileEntry
    readonly before: FileEntry | undefined
    /** Whether the file is private in the target, and in the safety snapshot. */
    readonly isPrivate: boolean
    readonly wasPrivate: boolean
  }[]
  readonly deletes: readonly { readonly path: BytePath; readonly before: FileEntry; readonly wasPrivate: boolean }[]
  readonly makeFolders: readonly BytePath[]
  readonly removeFolders: readonly BytePath[]
  /** Of a restore that was broken off: what someone changed since, which stays as it is. */
  readonly changedMeanwhile: readonly string[]
}

export interface PlanOptions {
  readonly target: string
  /** The snapshot of the workspace as it is now. */
  readonly safety: string
  /** Restore only these files and folders. */
  readonly paths?: readonly string[] | undefined
  /** Refuse paths that neither snapshot knows of. */
  readonly requirePaths?: boolean | undefined
  /** A snapshot whose restore is taken back: what it brought goes, whatever the rules said. */
  readonly undoes?: string | undefined
  /** Restore only paths that differ between these two snapshots: the ones a broken-off restore was about. */
  readonly between?: readonly [string, string] | undefined
}

export async function planRestoreWork(environment: SnapshotEnvironment, options: PlanOptions): Promise<RestoreWork> {
  const { reader } = environment
  const target = await readSnapshotCommit(environment, options.target)
  const safety = await readSnapshotCommit(environment, options.safety)
  if (options.requirePaths === true) await refuseUnknown(environment, options.paths ?? [], [target, safety])
  const isNamed = createFilter(options.paths)
  const between = options.between && (await listDifferences(environment, options.between, isNamed))
  const lookedAt = await listLookedAt(environment, target)
  const isChosen = (path: BytePath) => (between?.paths.has(path) ?? isNamed(path)) && lookedAt?.has(path) !== false
  const notCaptured = new Map<BytePath, SkipReason>()
  for (const [path, reason] of [...target.skipped, ...safety.skipped]) {
    if (isChosen(path) || path === everything) notCaptured.set(path, reason)
  }
  const isLeftAlone = (path: BytePath) =>
    [path, "", ...foldersAbove(path)].some((one) => notCaptured.has(one)) || environment.own.holds(path)
  // Of a snapshot that ran out of time nobody knows which files were there and are not in it.
  const mayDelete = !target.skipped.has(".")

  const changes = await compareTrees(reader, safety.tree, target.tree)
  const writes: RestoreWork["writes"][number][] = []
  let deletes: RestoreWork["deletes"][number][] = []
  const changedMeanwhile: string[] = []
  for (const { path, before, after } of changes) {
    if (!isChosen(path) || isLeftAlone(path)) continue
    const wasPrivate = isPrivate(safety.privateMarks, path)
    if (before !== undefined && between?.isOnEitherSide(path, before) === false)
      changedMeanwhile.push(displayPath(path))
    else if (after !== undefined)
      writes.push({ path, entry: after, before, isPrivate: isPrivate(target.privateMarks, path), wasPrivate })
    else if (before !== undefined && mayDelete) deletes.push({ path, before, wasPrivate })
  }
  if (changes.some(({ path }) => isRuleFile(path))) {
    const stay = await findStaying(environment, target.tree, deletes, options.undoes)
    for (const path of stay) notCaptured.set(path, "ignored")
    deletes = deletes.filter(({ path }) => !stay.has(path))
  }
  for (const list of [writes, deletes]) list.sort((a, b) => compareBytes(a.path, b.path))
  const targetEmpty = new Set(target.emptyFolders)
  const makeFolders = target.emptyFolders.filter((path) => isChosen(path) && !safety.emptyFolders.includes(path))
  const removeFolders = safety.emptyFolders.filter((path) => mayDelete && isChosen(path) && !targetEmpty.has(path))
  const inTarget = target.files ?? (await listTree(reader, target.tree)).size
  return {
    target: options.target,
    safety: options.safety,
    writes,
    deletes,
    makeFolders,
    removeFolders,
    changedMeanwhile,
    write: writes.map(({ path }) => displayPath(path)),
    delete: deletes.map(({ path }) => displayPath(path)),
    untouched: inTarget - writes.length,
    notCaptured: describeSkipped(notCaptured),
  }
}

/** Stands for the whole workspace among what was skipped: there was no time to look for changes. */
const everything = "."

/**
 * What a snapshot that had no time to look around is known to hold: where it differs from the one before it. All else
 * in it is older than it is, and what is not in it may have been there. `undefined`: it looked at everything.
 */
async function listLookedAt(
  environment: SnapshotEnvironment,
  { skipped, base, tree }: SnapshotCommit,
): Promise<Set<BytePath> | undefined> {
  if (!skipped.has(everything)) return undefined
  const isThere = base !== null && (await environment.reader.find(base))?.type === "commit"
  if (!isThere) return new Set()
  const before = await readSnapshotCommit(environment, base)
  return new Set((await compareTrees(environment.reader, before.tree, tree)).map(({ path }) => path))
}

/** Files the target's rules left out, so that they may have been there then, unless the restore that is undone brought them. */
async function findStaying(
  environment: SnapshotEnvironment,
  tree: string,
  deletes: RestoreWork["deletes"],
  undoes: string | undefined,
): Promise<Set<BytePath>> {
  const paths = deletes.map(({ path }) => path)
  const stay = await findIgnoredThen(environment, tree, paths)
  if (undoes === undefined || stay.size === 0) return stay
  if ((await environment.reader.find(undoes))?.type !== "commit") return stay // it was let go meanwhile
  const undone = await readSnapshotCommit(environment, undoes)
  for (const path of stay) if (await findEntry(environment.reader, undone.tree, path)) stay.delete(path)
  return stay
}

/**
 * Files and empty folders that are not the same in two snapshots, and the folders above them: a restore that was broken
 * off may have made or emptied those. A file that is as on neither side is someone else's work since: no checkpoint
 * holds it.
 */
async function listDifferences(
  environment: SnapshotEnvironment,
  between: readonly [string, string],
  isNamed: (path: BytePath) => boolean,
) {
  const [a, b] = [await readSnapshotCommit(environment, between[0]), await readSnapshotCommit(environment, between[1])]
  const changes = new Map((await compareTrees(environment.reader, a.tree, b.tree)).map((one) => [one.path, one]))
  const paths = new Set(changes.keys())
  for (const folder of [...a.emptyFolders, ...b.emptyFolders]) paths.add(folder)
  const named = [...paths].filter(isNamed)
  return {
    paths: new Set(named.flatMap((path) => [path, ...foldersAbove(path)])),
    isOnEitherSide(path: BytePath, { id, mode }: FileEntry): boolean {
      const { before, after } = changes.get(path) ?? {}
      return [before, after].some((one) => one?.id === id && one.mode === mode)
    },
  }
}

/** A path is chosen when it, or a folder above it, was named. Names may be given as they are shown. */
function createFilter(paths: readonly string[] | undefined): (path: BytePath) => boolean {
  if (paths === undefined) return () => true
  const folders = paths.map(toNamed)
  const shown = new Set(paths)
  return (path) => folders.some((folder) => isInside(path, folder)) || shown.has(displayPath(path))
}

/** As a person writes it: `./a//b/` is `a/b`, and `.` is everything. What begins outside stays there: it names nothing. */
function toNamed(path: string): BytePath {
  const plain = posix.normalize(path).replace(/(?<=.)\/$/, "")
  return toBytePath(plain === "." ? "" : plain)
}

/** A name nobody knows is a slip of the hand: whoever made it would take "nothing to do" for done. */
async function refuseUnknown(
  { reader }: SnapshotEnvironment,
  paths: readonly string[],
  snapshots: readonly SnapshotCommit[],
): Promise<void> {
  const isKnown = async (shown: string, { tree, emptyFolders, skipped }: SnapshotCommit) => {
    const path = toNamed(shown)
    if ((await findEntry(reader, tree, path)) !== undefined) return true
    if (emptyFolders.some((folder) => isInside(folder, path))) return true
    if ([...skipped.keys()].some((one) => isInside(one, path) || isInside(path, one))) return true
    if (!shown.includes("\\x")) return false // bytes that are no UTF-8, as they are shown
    return [...(await listTree(reader, tree)).keys(), ...skipped.keys()].some((one) => displayPath(one) === shown)
  }
  for (const path of paths) {
    const known = await Promise.all(snapshots.map((one) => isKnown(path, one)))
    if (known.includes(true)) continue
    throw new KeepupError("NOT_FOUND", `Neither the checkpoint nor the workspace has ${path}.`, {
      hint: "Nothing was changed. `keepup checkpoint show REF --files` lists what it holds; ignored files are in none.",
      details: { path },
    })
  }
}
