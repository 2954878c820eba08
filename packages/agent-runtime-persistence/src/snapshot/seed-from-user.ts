/**
 * The first snapshot in a git repository need not read the tree: the user's index already says which content each
 * unchanged file has. What is copied is only what is certain; everything else is looked at like any new file.
 */
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { type BytePath, foldersAbove, nameOf, parentOf } from "./byte-path.js"
import {
  assumeUnchanged,
  type IndexEntry,
  idOf,
  newestSecondOf,
  type ParsedIndex,
  parseIndex,
  sizeOf,
  unusual,
} from "./git-index.js"
import { formatTree, objectId, type TreeEntry, treeMode } from "./git-objects.js"
import type { Git } from "./git-process.js"
import type { IgnoreRules } from "./ignore-rules.js"
import type { ObjectReader } from "./object-reader.js"
import { mayConvert, type UserRepository } from "./user-repository.js"

export interface Seed {
  readonly entries: readonly IndexEntry[]
  readonly tree: string
  /** Trees the user's repository does not have. */
  readonly newTrees: ReadonlyMap<string, Buffer>
  readonly byFolder: ReadonlyMap<BytePath, ReadonlySet<BytePath>>
  /** Files of which the index does not say anything certain: their content must be read. */
  readonly uncertain: BytePath[]
  /** The index as it is, where its entries are exactly these and git may scan with it. */
  readonly whole: Buffer | undefined
}

export interface SeedOptions {
  readonly git: Git
  readonly reader: ObjectReader
  readonly repository: UserRepository
  readonly userConfig: ReadonlyMap<string, string>
  readonly rules: IgnoreRules
}

/** The user's index, cleaned; undefined when it can't be trusted or used. */
export function readSeed({ repository, rules }: Pick<SeedOptions, "repository" | "rules">): Seed | undefined {
  const index = readUserIndex(repository)
  if (index === undefined) return undefined
  const prefix = repository.prefix === "" ? "" : `${repository.prefix}/`
  const touched = new Set<BytePath>()
  const entries: IndexEntry[] = []
  const uncertain: BytePath[] = []
  const byFolder = new Map<BytePath, Set<BytePath>>()
  const excludedFolders = new Map<BytePath, boolean>()
  let isWhole = prefix === ""
  // Entries are sorted, so most of them are in the folder of the one before.
  let folder = { path: "?", isExcluded: false, names: new Set<BytePath>() }
  for (const entry of index.parsed.entries) {
    if (!entry.path.startsWith(prefix)) continue
    const path = prefix === "" ? entry.path : entry.path.slice(prefix.length)
    const slash = path.lastIndexOf("/")
    const above = slash < 0 ? "" : path.slice(0, slash)
    if (above !== folder.path) {
      const names = byFolder.get(above) ?? new Set()
      folder = { path: above, isExcluded: isFolderExcluded(above, rules, excludedFolders), names }
    }
    if (isPlain(entry) && !folder.isExcluded && !rules.isExcluded(path, false)) {
      entries.push(prefix === "" ? entry : { ...entry, path })
      if (folder.names.size === 0) byFolder.set(above, folder.names)
      folder.names.add(path.slice(slash + 1))
      const isAssumed = (entry.flags & assumeUnchanged) !== 0
      if (isAssumed) isWhole = false
      if (isAssumed || isRacy(entry, index.second)) uncertain.push(path)
    } else {
      isWhole = false
      for (const one of ["", ...foldersAbove(path)]) touched.add(one)
    }
  }
  if (entries.length === 0) return undefined
  const newTrees = new Map<string, Buffer>()
  const isSame = prefix === "" && touched.size === 0
  const tree = (isSame ? index.parsed.rootTree : undefined) ?? buildTree(entries, listKnown(), newTrees)
  return { entries, tree, newTrees, byFolder, uncertain, whole: isWhole ? index.data : undefined }

  /** Trees of folders all of whose entries were taken. */
  function listKnown(): Map<BytePath, string> {
    const known = new Map<BytePath, string>()
    for (const [path, id] of (index as UserIndex).parsed.readTrees()) {
      const inner = path === repository.prefix ? "" : path.startsWith(prefix) ? path.slice(prefix.length) : undefined
      if (inner !== undefined && !touched.has(inner)) known.set(inner, id)
    }
    return known
  }
}

/** Whether borrowing from this repository can work at all. */
export function canSeedFrom(repository: UserRepository, config: ReadonlyMap<string, string>): boolean {
  const format = config.get("extensions.objectformat")
  const isPartial = config.has("extensions.partialclone") || [...config.keys()].some((key) => key.endsWith(".promisor"))
  return (format === undefined || format === "sha1") && !isPartial && !repository.commonDirectory.includes("\n")
}

interface UserIndex {
  readonly data: Buffer
  readonly parsed: ParsedIndex
  /** When it was written. */
  readonly second: number
}

function readUserIndex(repository: UserRepository): UserIndex | undefined {
  const file = join(repository.gitDirectory, "index")
  try {
    const stat = statSync(file)
    const data = readFileSync(file)
    const parsed = parseIndex(data)
    return parsed.isSplit || parsed.isSparse ? undefined : { data, parsed, second: Math.floor(stat.mtimeMs / 1000) }
  } catch {
    return undefined // no index, or one we do not understand: look at everything
  }
}

/** Unmerged, sparse, intended and submodule entries say nothing certain about a file's content. */
function isPlain(entry: IndexEntry): boolean {
  const isFile = entry.mode === 0o100644 || entry.mode === 0o100755 || entry.mode === 0o120000
  return isFile && (entry.flags & unusual) === 0
}

function isRacy(entry: IndexEntry, indexSecond: number): boolean {
  return newestSecondOf(entry) >= indexSecond - 1
}

function isFolderExcluded(folder: BytePath, rules: IgnoreRules, known: Map<BytePath, boolean>): boolean {
  if (folder === "") return false
  let excluded = known.get(folder)
  if (excluded === undefined) {
    excluded = rules.isExcluded(folder, true) || isFolderExcluded(parentOf(folder), rules, known)
    known.set(folder, excluded)
  }
  return excluded
}

/**
 * Git may have changed bytes between disk and object (line ends, filters, encodings). A size that differs gives most
 * away; for filters, which may keep the size, git's attributes are asked. Objects must be borrowed before.
 */
export async function findConverted(entries: readonly IndexEntry[], options: SeedOptions): Promise<BytePath[]> {
  const [sizes, filtered] = await Promise.all([options.reader.sizes(entries), listFiltered(entries, options)])
  const converted = entries.filter((entry, i) => sizes[i] !== sizeOf(entry) || filtered.has(entry.path))
  return converted.map(({ path }) => path)
}

async function listFiltered(entries: readonly IndexEntry[], options: SeedOptions): Promise<Set<BytePath>> {
  const { git, repository, userConfig } = options
  const hasAttributes =
    mayConvert(userConfig) ||
    userConfig.has("core.attributesfile") ||
    entries.some((entry) => nameOf(entry.path) === ".gitattributes") ||
    statSync(join(repository.commonDirectory, "info/attributes"), { throwIfNoEntry: false }) !== undefined
  if (!hasAttributes && repository.prefix === "") return new Set()
  const prefix = repository.prefix === "" ? "" : `${repository.prefix}/`
  const attributesFile = userConfig.get("core.attributesfile")
  const { stdout } = await git.run(
    [
      ...(attributesFile === undefined ? [] : ["-c", `core.attributesFile=${attributesFile}`]),
      ...["check-attr", "-z", "--stdin", "filter", "ident", "working-tree-encoding"],
    ],
    {
      gitDirectory: repository.gitDirectory,
      workTree: repository.root,
      input: Buffer.from(entries.map((entry) => `${prefix}${entry.path}\0`).join(""), "latin1"),
    },
  )
  const filtered = new Set<BytePath>()
  const words = stdout.toString("latin1").split("\0")
  for (let i = 0; i + 2 < words.length; i += 3) {
    const value = words[i + 2]
    if (value !== "unspecified" && value !== "unset") filtered.add((words[i] as string).slice(prefix.length))
  }
  return filtered
}

/** The tree of sorted entries; folders whose tree is known are not built. */
function buildTree(
  entries: readonly IndexEntry[],
  known: ReadonlyMap<BytePath, string>,
  emit: Map<string, Buffer>,
): string {
  let at = 0
  function build(folder: BytePath): string {
    const prefix = folder === "" ? "" : `${folder}/`
    const id = known.get(folder)
    const children: TreeEntry[] = []
    while (at < entries.length) {
      const entry = entries[at] as IndexEntry
      if (!entry.path.startsWith(prefix)) break
      const slash = entry.path.indexOf("/", prefix.length)
      if (id !== undefined) at++
      else if (slash < 0) {
        children.push({ mode: entry.mode.toString(8), name: entry.path.slice(prefix.length), id: idOf(entry) })
        at++
      } else {
        const name = entry.path.slice(prefix.length, slash)
        children.push({ mode: treeMode, name, id: build(prefix + name) })
      }
    }
    if (id !== undefined) return id
    const data = formatTree(children)
    const built = objectId("tree", data)
    emit.set(built, data)
    return built
  }
  return build("")
}
