/**
 * Reads folders and finds the files in them that a snapshot should hold, level by level. Git is asked what it ignores
 * while the folders are read that it surely does not. Fills the folder table. Never enters an ignored folder unless `capture.include` may name something
 * inside, and never follows a link.
 */
import { readFileSync } from "node:fs"
import { setImmediate as yieldToOthers } from "node:timers/promises"
import { monotonicNow } from "../store/monotonic-time.js"
import { type BytePath, foldersAbove, joinPath, nameOf } from "./byte-path.js"
import type { FolderFollower } from "./change-hints.js"
import { type DirectoryTable, describeDirectory } from "./directory-table.js"
import type { IgnoreRules } from "./ignore-rules.js"
import { createNameFilter, eitherFilter, type NameFilter, suspectsAll, suspectsNone } from "./name-filter.js"
import { isDotted } from "./own-files.js"
import { isLeftover } from "./sweep-leftovers.js"
import { lookAtDisk, lookAtFolder, type NamedEntry, type WorkspaceFiles } from "./workspace-files.js"
import { missingWorkspace } from "./workspace-root.js"

export interface WalkOptions {
  readonly files: WorkspaceFiles
  readonly rules: IgnoreRules
  readonly table: DirectoryTable
  /** The names of a folder that the last snapshot holds; those need no question to git. */
  readonly knownNames: (folder: BytePath) => KnownNames | Promise<KnownNames>
  /** Ask about known files too, because the rules changed; then `found` lists every captured file. */
  readonly askKnown: boolean
  /** What git said before, under the same rules. */
  readonly answers?: IgnoreAnswers | undefined
  readonly follower?: FolderFollower | undefined
  readonly signal: AbortSignal
  /** Folders read so far, of those found so far. Must not throw. */
  readonly onFolders?: ((done: number, total: number) => void) | undefined
  /** Milliseconds of the real clock; file times are compared with it. */
  readonly now: () => number
}

/** Path, with a slash in front of a folder's → whether git ignores it. */
export type IgnoreAnswers = Map<string, boolean>

interface KnownNames {
  has(name: BytePath): boolean
}

export interface WalkResult {
  /** Files to look at. */
  readonly found: BytePath[]
  readonly unreadable: BytePath[]
  /** Temporary files of keepup. */
  readonly leftovers: BytePath[]
  /** Ignore files that are left out themselves, but decide about others. */
  readonly hiddenRules: BytePath[]
  /** False when folders became links while git was asked about what is in them. */
  readonly isCertain: boolean
}

interface Step {
  readonly path: BytePath
  /** "asked": only what an include pattern names. "all": everything, a pattern named a folder above. */
  readonly included: "no" | "asked" | "all"
  /** Names in it that a rule may match; git is asked only about those. */
  readonly suspects: NameFilter
}

interface Suspect {
  readonly path: BytePath
  readonly suspects: NameFilter
}

/** The program stays responsive, and its clock can end the walk. */
const yieldMs = 15

export async function walkFolders(start: readonly BytePath[], options: WalkOptions): Promise<WalkResult> {
  const { rules, table, signal } = options
  const found: BytePath[] = []
  const unreadable: BytePath[] = []
  const leftovers: BytePath[] = []
  const hiddenRules: BytePath[] = []
  const above = createFolderRules(options.files)
  const open = start.filter((path) => !["", ...foldersAbove(path)].some(above.isEndless))
  let level: Step[] = open.map((path) => ({
    path,
    included: table.entries.get(path)?.onlyIncluded ? "asked" : "no",
    suspects: ["", ...foldersAbove(path)].reduce(
      (filter, folder) => (folder === path ? filter : eitherFilter(filter, above.readFilter(folder))),
      rules.outsideNames,
    ),
  }))
  let isCertain = true
  let done = 0
  let lastYield = monotonicNow()
  let folders: Suspect[] = []
  let files: Suspect[] = []
  let asked: Promise<Step[]> | undefined
  while (level.length > 0 || asked !== undefined) {
    const next: Step[] = []
    for (const step of level) {
      done++
      if (monotonicNow() - lastYield > yieldMs) {
        options.onFolders?.(done, done + level.length - level.indexOf(step) - 1 + next.length)
        await yieldToOthers()
        lastYield = monotonicNow()
      }
      signal.throwIfAborted()
      const names = options.knownNames(step.path)
      const known = names instanceof Promise ? await names : names
      const { entries, hasRules } = readFolder(step, options)
      if (entries === undefined) {
        unreadable.push(step.path)
        continue
      }
      const suspects = hasRules ? eitherFilter(step.suspects, readFilter(options.files, step.path)) : step.suspects
      const mayExclude = !rules.onlyDottedExcluded || isDotted(step.path)
      for (const entry of entries) {
        const { name } = entry
        const isFolder = entry.isDirectory()
        if (!isFolder && !options.askKnown && known.has(name)) continue
        const path = joinPath(step.path, name)
        if ((mayExclude || name.startsWith(".")) && rules.isExcluded(path, isFolder)) {
          if (!isFolder && isLeftover(name)) leftovers.push(path)
          if (name === ".gitignore" && step.included === "no") hiddenRules.push(path)
          continue
        }
        if (isFolder && !options.askKnown && table.entries.has(path)) continue
        if (step.included !== "no") considerIncluded(path, isFolder, step, rules, next, found)
        else if (suspects(name)) (isFolder ? folders : files).push({ path, suspects })
        else if (isFolder) next.push({ path, included: "no", suspects })
        else found.push(path)
      }
    }
    if (next.length === 0 && asked !== undefined) {
      for (const step of await asked) next.push(step)
      asked = undefined
    }
    if (asked === undefined && folders.length + files.length > 0) {
      asked = askGit(folders, files)
      asked.catch(() => {}) // awaited above, unless something else fails first
      folders = []
      files = []
    }
    level = next
    options.onFolders?.(done, done + level.length)
  }
  return { found, unreadable, leftovers, hiddenRules, isCertain }

  /** Finds the files that are not ignored, and returns the folders to read. */
  async function askGit(someFolders: readonly Suspect[], someFiles: readonly Suspect[]): Promise<Step[]> {
    const keys = [...someFolders.map(({ path }) => `/${path}`), ...someFiles.map(({ path }) => path)]
    const isIgnored = await answer(keys)
    const steps: Step[] = []
    for (const { path } of someFiles) {
      if (!isIgnored(path) || rules.include.match(path, false)) found.push(path)
      else if (nameOf(path) === ".gitignore") hiddenRules.push(path)
    }
    for (const { path, suspects } of someFolders) {
      if (!isIgnored(`/${path}`)) steps.push({ path, included: "no", suspects })
      else considerIncluded(path, true, { path, included: "asked", suspects }, rules, steps, found)
    }
    return steps
  }

  /** In folders that change often the same names are ignored each time. */
  async function answer(keys: readonly string[]): Promise<(key: string) => boolean> {
    const answers: IgnoreAnswers = options.answers ?? new Map()
    const paths = keys.filter((key) => !answers.has(key)).map(pathOfKey)
    const { ignored, isCertain: isAnswer } = await rules.findIgnored(paths, signal)
    isCertain &&= isAnswer
    if (isAnswer && answers.size + paths.length <= mostAnswers)
      for (const key of keys) answers.set(key, answers.get(key) ?? ignored.has(pathOfKey(key)))
    return (key) => answers.get(key) ?? ignored.has(pathOfKey(key))
  }
}

const mostAnswers = 5_000
const pathOfKey = (key: string): BytePath => (key.startsWith("/") ? key.slice(1) : key)

/** The rules of the folders above those that are read: many of these lie in the same ones. */
function createFolderRules(files: WorkspaceFiles) {
  const endless = new Map<BytePath, boolean>()
  const filters = new Map<BytePath, NameFilter>()
  const remember = <Value>(known: Map<BytePath, Value>, folder: BytePath, find: () => Value): Value => {
    const value = known.get(folder) ?? find()
    known.set(folder, value)
    return value
  }
  return {
    isEndless: (folder: BytePath) => remember(endless, folder, () => isEndless(files, folder)),
    readFilter: (folder: BytePath) => remember(filters, folder, () => readFilter(files, folder)),
  }
}

/** What the folder's own .gitignore may match. Git reads no link there; whatever else it is, git is asked. */
function readFilter(files: WorkspaceFiles, folder: BytePath): NameFilter {
  const path = files.resolve(joinPath(folder, ".gitignore"))
  const stat = lookAtDisk(path)
  if (stat === undefined) return suspectsNone
  if (!stat.isFile()) return suspectsAll
  try {
    return createNameFilter(readFileSync(path, "latin1"))
  } catch {
    return suspectsAll
  }
}

/** Whether git would wait for ever for the rules of a folder: it opens whatever has their name. Nothing in it can be asked. */
function isEndless(files: WorkspaceFiles, folder: BytePath): boolean {
  const stat = lookAtDisk(files.resolve(joinPath(folder, ".gitignore")))
  return stat !== undefined && (stat.isFIFO() || stat.isCharacterDevice() || stat.isBlockDevice())
}

interface ReadFolder {
  /** Undefined when it can't be read. */
  readonly entries: readonly NamedEntry[] | undefined
  readonly hasRules: boolean
}

function readFolder(step: Step, { files, table, now, follower }: WalkOptions): ReadFolder {
  const readAt = now()
  const stat = lookAtFolder(files.resolve(step.path))
  if (stat === undefined && step.path === "") throw missingWorkspace(files.root)
  if (stat === undefined || stat instanceof Error) {
    table.delete(step.path)
    return { entries: stat === undefined ? [] : undefined, hasRules: false }
  }
  follower?.follow(step.path, stat.ino)
  const listed = files.list(step.path)
  const hasRules = listed?.some(isRules) === true
  const entries = hasRules && isEndless(files, step.path) ? undefined : listed
  const isEmpty = entries?.length === 0 && step.included === "no"
  const directory = describeDirectory(stat, readAt, isEmpty, step.included !== "no")
  table.set(step.path, entries === undefined ? { ...directory, readAt: 0 } : directory)
  return { entries, hasRules }
}

function isRules({ name }: NamedEntry): boolean {
  return name === ".gitignore"
}

function considerIncluded(
  path: BytePath,
  isFolder: boolean,
  step: Step,
  rules: IgnoreRules,
  next: Step[],
  found: BytePath[],
): void {
  const named = step.included === "all" || rules.include.match(path, isFolder) === true
  if (!isFolder) {
    if (named) found.push(path)
  } else if (named) next.push({ ...step, path, included: "all" })
  else if (rules.include.canMatchInside(path)) next.push({ ...step, path, included: "asked" })
}
