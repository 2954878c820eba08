/**
 * What a repository's workspace holds beside the files of its index, as git lists it: git reads the folders of a large
 * one in half the time. It remembers nothing of them, so the next look at everything reads them once more.
 */
import { setTimeout as wait } from "node:timers/promises"
import { monotonicNow } from "../store/monotonic-time.js"
import { type BytePath, foldersAbove, nameOf, parentOf } from "./byte-path.js"
import { createDirectoryTable } from "./directory-table.js"
import type { Git } from "./git-process.js"
import { isExcludedAnywhere } from "./ignore-rules.js"
import { isLeftover } from "./sweep-leftovers.js"
import { type WalkOptions, type WalkResult, walkFolders } from "./walk-folders.js"
import type { WorkspaceFiles } from "./workspace-files.js"

export interface ListUntrackedOptions {
  readonly git: Git
  readonly files: WorkspaceFiles
  /** The index that says which files are tracked, of a repository whose root is the workspace. */
  readonly indexFile: string
  /** Ends with it, too. */
  readonly signal: AbortSignal
  /** Ends it; it is ended when nobody has to wait any more. */
  readonly stop: AbortController
  /** Git looks at every file of the index; reading the folders takes about as long. */
  readonly beside: Promise<unknown>
}

/** A folder has a slash behind it: it is new as a whole, or empty, or a repository of its own. */
export type Untracked = readonly BytePath[]

/** Git that reads folders must not take that much longer than git that looked at the files in them. */
const patienceMs = 2_000

/** Undefined where git could not read everything, or hangs at something: then the folders must be walked. Does not throw. */
export async function listUntracked({
  git,
  files,
  indexFile,
  signal,
  stop,
  beside,
}: ListUntrackedOptions): Promise<Untracked | undefined> {
  const end = () => stop.abort()
  signal.addEventListener("abort", end, { once: true })
  const listing = git.run(["ls-files", "--others", "--directory", "--exclude-standard", "-z"], {
    workTree: files.root,
    indexFile,
    signal: stop.signal,
  })
  const began = monotonicNow()
  const isOver = beside
    .then(() => wait(2 * (monotonicNow() - began) + patienceMs, undefined, { signal: stop.signal }))
    .catch(() => {}) // what failed beside us fails there
    .then(() => undefined)
  try {
    const listed = await Promise.race([listing, isOver])
    // A folder that it could not open it only tells of.
    if (listed === undefined || listed.stderr !== "") return undefined
    const paths = listed.stdout.toString("latin1").split("\0")
    paths.pop()
    return paths
  } catch {
    return undefined // whoever walks instead finds out what is the matter
  } finally {
    listing.catch(() => {}) // when it took too long
    signal.removeEventListener("abort", end)
    stop.abort()
  }
}

/** What a walk would find, and the folders that are empty. Only in folders that are new as a whole are rules looked for. */
export async function readUntracked(
  untracked: Untracked,
  stale: Promise<readonly BytePath[]>,
  options: Omit<WalkOptions, "table">,
): Promise<WalkResult & { readonly emptyFolders: BytePath[] }> {
  const { files, rules } = options
  const { replaced, emptied } = lookAtFolders(files, await stale)
  const { ignored, isCertain } = await rules.findIgnored([...replaced, ...emptied], options.signal)
  const isKept = (path: BytePath) => !ignored.has(path) && !isExcludedAnywhere(rules, path, true)
  const folders = replaced.filter(isKept)
  const found: BytePath[] = []
  const leftovers: BytePath[] = []
  const hiddenRules: BytePath[] = []
  for (const listed of untracked) {
    const isFolder = listed.endsWith("/")
    const path = isFolder ? listed.slice(0, -1) : listed
    if (!isExcludedAnywhere(rules, path, isFolder)) (isFolder ? folders : found).push(path)
    else if (isFolder || foldersAbove(path).some((folder) => rules.isExcluded(folder, true))) continue
    else if (isLeftover(nameOf(path))) leftovers.push(path)
    else if (nameOf(path) === ".gitignore") hiddenRules.push(path)
  }
  const table = createDirectoryTable()
  const walked = await walkFolders(folders, { ...options, table })
  const all = [...found, ...walked.found]
  // Git lists no file of rules that is ignored itself. It matters later if it takes in what others leave out, and goes.
  // Of a file in a folder that is taken in git names no rule: it must be asked about the folder.
  const including = await rules.listIncluding([...all, ...new Set(all.flatMap(foldersAbove))], options.signal)
  return {
    ...walked,
    found: all,
    isCertain: isCertain && walked.isCertain && including !== undefined,
    leftovers: [...leftovers, ...walked.leftovers],
    hiddenRules: [...hiddenRules, ...walked.hiddenRules, ...(including ?? [])],
    emptyFolders: [...new Set([...table.listEmpty(), ...emptied.filter(isKept)])].sort(),
  }
}

/**
 * Git calls no folder untracked that has the name of a file of the index, or in which the index has files, not even when
 * all of them are gone.
 */
function lookAtFolders(files: WorkspaceFiles, stale: readonly BytePath[]) {
  const looked = new Set<BytePath>()
  const replaced: BytePath[] = []
  const emptied: BytePath[] = []
  for (const path of stale) {
    if (files.isRealFolder(path)) replaced.push(path)
    let folder = parentOf(path)
    while (folder !== "" && !files.isRealFolder(folder)) folder = parentOf(folder)
    if (folder === "" || looked.has(folder)) continue
    looked.add(folder)
    if (files.list(folder)?.length === 0) emptied.push(folder)
  }
  return { replaced, emptied }
}
