/**
 * Finds the paths that may differ from the last snapshot: the exact way, which looks at every file and folder, and the
 * hinted way, which looks only where something is said to have happened. Both only name candidates; their content
 * decides.
 */
import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { KeepupError } from "@ku0/agent-runtime-core"
import type { BytePath } from "./byte-path.js"
import { isInside, nameOf, parentOf } from "./byte-path.js"
import type { FolderFollower } from "./change-hints.js"
import { findStale } from "./compare-index.js"
import { isUnchanged } from "./directory-table.js"
import { treeMode } from "./git-objects.js"
import type { Git } from "./git-process.js"
import { type IgnoreRules, isExcludedAnywhere } from "./ignore-rules.js"
import { type NamesByFolder, readNamesByFolder } from "./index-names.js"
import { readUntracked, type Untracked } from "./list-untracked.js"
import type { ObjectReader } from "./object-reader.js"
import { dropIgnoredAgain, findNewlyIgnored, noteHiddenRules, touchesRules } from "./rule-changes.js"
import type { ScanState } from "./scan-state.js"
import type { BegunLook } from "./second-look.js"
import { findEntry, listTree } from "./trees.js"
import type { UserRepository } from "./user-repository.js"
import { type WalkOptions, type WalkResult, walkFolders } from "./walk-folders.js"
import { lookAtFolder, type WorkspaceFiles } from "./workspace-files.js"
import { missingWorkspace } from "./workspace-root.js"

export interface ScanContext {
  readonly git: Git
  readonly store: string
  readonly state: ScanState
  readonly reader: ObjectReader
  readonly files: WorkspaceFiles
  readonly rules: IgnoreRules
  readonly repository: UserRepository | undefined
  readonly signal: AbortSignal
  readonly now: () => number
  /** Must not throw. */
  readonly onProgress?: (done: number, total: number, what?: string) => void
  /** Watches the folders that are read. */
  readonly follower?: FolderFollower | undefined
  /** The files of the store's own index are looked at already. */
  readonly begun?: BegunLook | undefined
  /** At the first snapshot in a repository: files of the last tree by folder, and those whose content must be read. */
  readonly seeded?: {
    readonly readNames: () => NamesByFolder
    readonly stale: Promise<BytePath[]>
    /** What is there beside those files, where git is asked for it. */
    readonly untracked: Promise<Untracked | undefined> | undefined
    /** Those of them that git may keep with other bytes. */
    readonly listFiltered: (there: "disk" | "index") => Promise<ReadonlySet<BytePath>>
  }
}

export interface Candidates {
  readonly paths: Set<BytePath>
  /** In the last snapshot, still there, and now left out by a rule. */
  readonly ignored: Set<BytePath>
  readonly unreadable: BytePath[]
  readonly leftovers: readonly BytePath[]
  readonly emptyFolders: readonly BytePath[]
}

/** Looks at everything. The state's folder table is brought up to date on the way. */
export async function findChangesExactly(context: ScanContext): Promise<Candidates> {
  const { state, rules } = context
  context.files.refresh()
  const rulesChanged = state.rules !== rules.signature
  if (rulesChanged) {
    state.directories.clear()
    state.answers.clear()
  }
  const isFirst = state.lastCommit === null
  // Watched before its files are looked at: what changes in between must be heard of.
  for (const [path, { inode }] of context.follower === undefined ? [] : state.directories.entries)
    context.follower?.follow(path, inode)
  const [stale, forced, walked] = await Promise.all([
    context.seeded?.stale ?? listOwnStale(context),
    refreshForced(context),
    state.directories.entries.size === 0 ? readFolders(context, rulesChanged && !isFirst) : checkFolders(context),
  ])
  const paths = new Set<BytePath>([...stale, ...forced.look, ...walked.found])
  // Attributes that the user's git does not track yet, or that are others now, say what the index may not be trusted about.
  if (walked.found.some(isAttributes))
    for (const path of (await context.seeded?.listFiltered("disk")) ?? []) paths.add(path)
  if (stale.some(isAttributes)) for (const path of (await context.seeded?.listFiltered("index")) ?? []) paths.add(path)
  for (const path of state.skipped.keys()) if (!state.directories.entries.has(path)) paths.add(path)
  for (const [path, overlay] of state.overlay) {
    if (overlay !== "ignored") paths.add(path)
    else paths.delete(path)
  }
  const isHiddenChanged = noteHiddenRules(context, walked.hiddenRules, rulesChanged)
  if (!rulesChanged && (isHiddenChanged || touchesRules(context, paths))) {
    state.rules = ""
    return findChangesExactly({ ...context, begun: undefined })
  }
  const ignored = rulesChanged && !isFirst ? await findNewlyIgnored(context, walked.found) : forced.dropped
  for (const path of ignored) paths.delete(path)
  if (rulesChanged) for (const path of dropIgnoredAgain(context, walked.found)) paths.delete(path)
  state.rules = walked.isCertain ? rules.signature : "" // asked anew the next time
  const { unreadable, leftovers, emptyFolders = state.directories.listEmpty() } = walked
  return { paths, ignored, unreadable, leftovers, emptyFolders }
}

const isAttributes = (path: BytePath) => nameOf(path) === ".gitattributes"

/** Without the empty folders the state's table has them. */
type FolderResult = WalkResult & { readonly emptyFolders?: readonly BytePath[] }

/** Reads all folders, or lets git do it. */
async function readFolders(context: ScanContext, askKnown: boolean): Promise<FolderResult> {
  const { seeded } = context
  const untracked = await seeded?.untracked
  const { table, ...options } = { ...walkOptions(context, askKnown), knownNames: findKnownNames(context, askKnown) }
  if (seeded === undefined || untracked === undefined) return walkFolders([""], { ...options, table })
  return readUntracked(untracked, seeded.stale, options)
}

const none: ReadonlySet<BytePath> = new Set()

/**
 * For a look at all folders: an index is faster read than the trees of all of them. Nobody asks for the names where
 * every file is asked about, and what differs from the index is looked at in any case.
 */
function findKnownNames({ seeded, state, store }: ScanContext, askKnown: boolean): WalkOptions["knownNames"] {
  if (askKnown || (seeded === undefined && state.indexFile === null)) return () => none
  const read = () => readNamesByFolder(readFileSync(join(store, state.indexFile as string)))
  let names: NamesByFolder | undefined
  return (folder) => {
    names ??= seeded === undefined ? read() : seeded.readNames()
    return names.get(folder) ?? none
  }
}

function walkOptions(context: ScanContext, askKnown: boolean) {
  const { files, rules, state, signal, now, follower, onProgress } = context
  return {
    files,
    rules,
    signal,
    now,
    follower,
    askKnown,
    answers: rules.isSelfContained ? state.answers : undefined,
    onFolders: (done: number, total: number) => onProgress?.(done, total, "Looking at folders"),
    table: state.directories,
    knownNames: (folder: BytePath) => readKnownNames(context, folder),
  }
}

async function readKnownNames({ reader, state }: ScanContext, folder: BytePath) {
  const entry = await findEntry(reader, state.lastTree, folder)
  if (entry?.mode !== treeMode) return none
  const names = await reader.tree(entry.id)
  return { has: (name: BytePath) => (names.get(name)?.mode ?? treeMode) !== treeMode }
}

/** Up to so many files are compared here; then a git is faster. */
export const fewFiles = 1500

function listOwnStale(context: ScanContext): BytePath[] | Promise<BytePath[]> {
  const { state, store } = context
  if (state.indexFile === null) return []
  const indexFile = join(store, state.indexFile)
  // Git takes one that is not there for an empty one, and would find nothing to compare.
  if (!existsSync(indexFile)) throw new KeepupError("CORRUPT", "The index of the snapshot store is gone.")
  return listStale(context, indexFile, "")
}

/**
 * Files of an index whose stat is not what the index says. With a prefix the index is that of the repository around the
 * workspace. Where few are compared, which of them are private is noted on the way.
 */
export function listStale(context: ScanContext, indexFile: string, prefix: BytePath): BytePath[] | Promise<BytePath[]> {
  const { files, state, begun } = context
  const stale = prefix === "" ? findStale(files, indexFile, fewFiles, state.privateMarks, begun) : undefined
  return stale ?? askForStale(context, indexFile, prefix)
}

/** Git compares, we decide. */
async function askForStale(context: ScanContext, indexFile: string, prefix: BytePath): Promise<BytePath[]> {
  const { git, files, repository, state, signal } = context
  // A first walk takes longer than git: on many threads git would only be in its way.
  const threads = state.lastCommit === null ? ["-c", "core.preloadIndex=false"] : []
  const args = [...threads, "diff-files", "--raw", "-z", "--no-renames", "--ignore-submodules=all"]
  const { stdout, stderr, exitCode } = await git.run(args, {
    workTree: prefix === "" ? files.root : (repository?.root as string),
    indexFile,
    accept: [128],
    signal,
  })
  if (exitCode !== 0) throw new KeepupError("CORRUPT", "The index of the snapshot store is damaged.")
  if (stderr !== "") return compareAll(context, indexFile, prefix)
  const parts = stdout.toString("latin1").split("\0")
  const paths = parts.filter((_, i) => i % 2 === 1)
  if (prefix === "") return paths
  return paths.filter((path) => path.startsWith(`${prefix}/`)).map((path) => path.slice(prefix.length + 1))
}

/** Git passes over what it may not look at, and says no more of it than that. Then we look, however many files there are. */
function compareAll({ files, state }: ScanContext, indexFile: string, prefix: BytePath): BytePath[] {
  const stale = prefix === "" ? findStale(files, indexFile, Number.POSITIVE_INFINITY, state.privateMarks) : undefined
  if (stale === undefined) throw new KeepupError("CORRUPT", "Git could not compare all files with its index.")
  return stale
}

/** Reads the folders whose times changed, and those that are new inside them. */
async function checkFolders(context: ScanContext): Promise<FolderResult> {
  const { state, files, signal } = context
  const again: BytePath[] = []
  const gone = new Set<BytePath>()
  let count = 0
  for (const [path, known] of state.directories.entries) {
    if (++count % 2000 === 0) signal.throwIfAborted()
    const stat = path !== "" && gone.has(parentOf(path)) ? undefined : files.lookAtFolder(path)
    if (stat === undefined || stat instanceof Error) gone.add(path)
    else if (!isUnchanged(known, stat)) again.push(path)
  }
  if (gone.has("")) throw missingWorkspace(files.root) // it may be back when all of it was looked at
  for (const path of gone) {
    state.directories.delete(path)
    context.follower?.forget(path)
  }
  return walkFolders(again, walkOptions(context, false))
}

/** Files the user's git tracks although a rule ignores them; read again when the user's index changed. */
async function refreshForced(context: ScanContext): Promise<{ look: BytePath[]; dropped: Set<BytePath> }> {
  const { state, repository, rules, reader } = context
  // The first snapshot holds all the user's git tracks, ignored or not; which of them are ignored matters only later.
  if (context.seeded !== undefined) return { look: [], dropped: new Set() }
  const indexFile = repository && join(repository.gitDirectory, "index")
  const version = indexFile === undefined ? "" : fileVersion(indexFile)
  const dropped = new Set<BytePath>()
  if (version !== state.userIndex || state.rules !== rules.signature) {
    const before = state.forced
    const listed = version === "" || version === "none" ? [] : await listForced(context, indexFile as string)
    state.forced = listed === undefined ? before : new Set(listed.filter((path) => !isExcludedAnywhere(rules, path)))
    for (const path of before) {
      if (!state.forced.has(path) && (await findEntry(reader, state.lastTree, path))) dropped.add(path)
    }
    state.userIndex = listed === undefined ? "" : version
  }
  const look: BytePath[] = []
  for (const path of state.forced) {
    if (!(await findEntry(reader, state.lastTree, path))) look.push(path)
  }
  return { look, dropped }
}

/** Undefined when git can't read the user's index. A repository of another format must be asked itself. */
async function listForced({ repository, git, store, signal }: ScanContext, indexFile: string) {
  const { root, prefix, gitDirectory } = repository as UserRepository
  const excludes = ["-c", `core.excludesFile=${join(store, "info/exclude")}`]
  const args = [...excludes, "ls-files", "-c", "-i", "--exclude-standard", "-z"]
  for (const own of [{}, { gitDirectory }]) {
    const { stdout, exitCode } = await git.run(args, {
      ...{ workTree: root, indexFile, accept: [1, 128], signal, limit: "long" as const, ...own },
    })
    if (exitCode !== 0) continue
    const start = prefix === "" ? "" : `${prefix}/`
    const paths = stdout.toString("latin1").split("\0")
    return paths.filter((path) => path !== "" && path.startsWith(start)).map((path) => path.slice(start.length))
  }
  return undefined
}

/** "none" for a file that is not there or may not be looked at. */
export function fileVersion(path: string): string {
  try {
    const stat = statSync(path, { bigint: true })
    return `${stat.ino}-${stat.mtimeNs}-${stat.ctimeNs}-${stat.size}`
  } catch {
    return "none"
  }
}

/**
 * Looks only at the given paths and what is new below them. Returns undefined when that can't be right: the rules
 * changed, or nothing was ever scanned.
 */
export async function findChangesAt(
  context: ScanContext,
  hints: Iterable<BytePath>,
  replaced: ReadonlySet<BytePath> = new Set(),
): Promise<Candidates | undefined> {
  const { state, files, rules, reader } = context
  files.refresh()
  if (state.rules !== rules.signature || state.directories.entries.size === 0) return undefined
  const paths = new Set<BytePath>()
  const read = new Set<BytePath>()
  for (const path of state.skipped.keys()) (state.directories.entries.has(path) ? read : paths).add(path)
  for (const path of hints) {
    if (decidesRules(path)) return undefined
    if (isExcludedAnywhere(rules, path)) continue
    const entry = await findEntry(reader, state.lastTree, path)
    const found = files.look(path)
    const wasFile = entry !== undefined && entry.mode !== treeMode
    if (wasFile) paths.add(path)
    if (wasFile && found.kind === "file") continue
    const isSameFolder = found.kind === "folder" && !replaced.has(path) && isKnownFolder(context, path)
    if (!isSameFolder) {
      forgetFolders(context, path)
      const inside = entry?.mode === treeMode ? await listTree(reader, entry.id, path) : new Map<BytePath, unknown>()
      for (const inner of inside.keys()) paths.add(inner)
    }
    read.add(nearestKnown(context, isSameFolder ? path : parentOf(path)))
  }
  const walked = await walkFolders([...read], walkOptions(context, false))
  if (!walked.isCertain || walked.hiddenRules.some((path) => !state.hiddenRules.has(path))) return undefined
  for (const path of walked.found) {
    if (decidesRules(path)) return undefined
    paths.add(path)
  }
  const { unreadable, leftovers } = walked
  return { paths, ignored: new Set(), unreadable, leftovers, emptyFolders: state.directories.listEmpty() }
}

function decidesRules(path: BytePath): boolean {
  return nameOf(path) === ".gitignore" || path === ".keepupignore"
}

/** Whether a folder is the very one whose names we know, not another that took its place. */
function isKnownFolder({ state, files }: ScanContext, path: BytePath): boolean {
  const known = state.directories.entries.get(path)
  const found = known && lookAtFolder(files.resolve(path))
  return found !== undefined && !(found instanceof Error) && found.ino === known?.inode
}

function forgetFolders({ state: { directories }, follower }: ScanContext, path: BytePath): void {
  follower?.forget(path)
  if (!directories.entries.has(path)) return
  for (const known of [...directories.entries.keys()]) if (isInside(known, path)) directories.delete(known)
}

/** The folder itself if we know it, or the closest one above that we know: reading it finds what is new. */
function nearestKnown(context: ScanContext, path: BytePath): BytePath {
  let folder = path
  while (folder !== "" && !isKnownFolder(context, folder)) folder = parentOf(folder)
  return folder
}
