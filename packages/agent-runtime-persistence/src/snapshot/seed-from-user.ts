/**
 * The first snapshot in a git repository need not read the tree: the user's index already says which content each
 * unchanged file has. What is copied is only what is certain; everything else is looked at like any new file.
 */
import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { KeepupError } from "@ku0/agent-runtime-core"
import { type BytePath, foldersAbove, joinPath, parentOf } from "./byte-path.js"
import { FolderNames, type NameBytes, nameAt } from "./folder-names.js"
import {
  assumeUnchanged,
  type IndexEntry,
  idAt,
  idOf,
  newestSecondOf,
  type ParsedIndex,
  parseIndex,
  sizeOf,
  unusual,
} from "./git-index.js"
import { formatTree, objectId, sortTree, type TreeEntry, treeMode } from "./git-objects.js"
import type { Git } from "./git-process.js"
import type { IgnoreRules } from "./ignore-rules.js"
import { visitNames } from "./index-names.js"
import type { IdList, ObjectReader } from "./object-reader.js"
import { isDotted } from "./own-files.js"
import type { UserRepository } from "./user-repository.js"

const dot = 0x2e

export interface Seed {
  /** Made when asked for: most first snapshots never need an object for each file. */
  readonly readEntries: () => readonly IndexEntry[]
  /** The index, and where in it each of the entries starts. */
  readonly data: Buffer
  readonly starts: Uint32Array
  readonly tree: string
  /** Trees that are borrowed with the files in them. */
  readonly listTrees: () => IdList
  /** Trees the user's repository does not have. */
  readonly newTrees: ReadonlyMap<string, Buffer>
  readonly byFolder: ReadonlyMap<BytePath, FolderNames>
  /** Files of which the index does not say anything certain: their content must be read. */
  readonly uncertain: BytePath[]
  /** Whether the index as it is has exactly these entries, and git may scan with it. */
  readonly isWhole: boolean
  readonly hasAttributes: boolean
}

export interface SeedOptions {
  readonly git: Git
  readonly reader: ObjectReader
  readonly repository: UserRepository
  readonly attributesFile: string | undefined
  readonly rules: IgnoreRules
}

/** The user's index, cleaned; undefined when it can't be trusted or used. */
export function readSeed({ repository, rules }: Pick<SeedOptions, "repository" | "rules">): Seed | undefined {
  const prefix = repository.prefix === "" ? "" : `${repository.prefix}/`
  const touched = new Set<BytePath>()
  const uncertain: BytePath[] = []
  const byFolder = new Map<BytePath, FolderNames>()
  const excludedFolders = new Map<BytePath, boolean>()
  const source: NameBytes = { bytes: Buffer.alloc(0) }
  let isWhole = prefix === ""
  let hasAttributes = false
  let folder: ReturnType<typeof describe> | undefined
  const index = readUserIndex(repository, source, enter, (start, entry, mode, flags, second) => {
    if (folder === undefined) return false
    const isDotted = source.bytes[start] === dot
    const isSuspect = isDotted || folder.isSuspect
    if (!isPlain(mode, flags) || folder.isExcluded || (isSuspect && rules.isExcluded(pathAt(start), false))) {
      isWhole = false
      for (const one of ["", ...foldersAbove(folder.path), folder.path]) touched.add(one)
      return false
    }
    folder.names.add(start)
    if (isDotted && nameAt(source.bytes, start) === ".gitattributes") hasAttributes = true
    const isAssumed = (flags & assumeUnchanged) !== 0
    if (isAssumed) isWhole = false
    if (isAssumed || newestSecondOf(entry) >= second - 1) uncertain.push(pathAt(start))
    return true
  })
  if (index === undefined || index.starts.length === 0) return undefined
  const { data, starts, parsed } = index
  const readEntries = () => selectEntries(data, starts, prefix.length)
  const newTrees = new Map<string, Buffer>()
  const isSame = prefix === "" && touched.size === 0
  const tree = (isSame ? parsed.rootTree : undefined) ?? buildTree(readEntries(), listKnown(parsed), newTrees)
  const listTrees = () =>
    isSame ? { bytes: data, places: parsed.findTrees(), skip: 0 } : listIds([...listKnown(parsed).values()])
  return { readEntries, data, starts, tree, listTrees, newTrees, byFolder, uncertain, isWhole, hasAttributes }

  function enter(fullPath: BytePath): void {
    const isInside = prefix === "" || fullPath === repository.prefix || fullPath.startsWith(prefix)
    folder = isInside ? describe(fullPath.slice(prefix.length)) : undefined
  }

  function describe(path: BytePath) {
    const names = byFolder.get(path) ?? new FolderNames(source)
    byFolder.set(path, names)
    const isSuspect = !rules.onlyDottedExcluded || isDotted(path)
    return { path, isSuspect, isExcluded: isSuspect && isFolderExcluded(path, rules, excludedFolders), names }
  }

  function pathAt(start: number): BytePath {
    return joinPath(folder?.path ?? "", nameAt(source.bytes, start))
  }

  /** Trees of folders all of whose entries were taken. */
  function listKnown({ readTrees }: Pick<ParsedIndex, "readTrees">): Map<BytePath, string> {
    const known = new Map<BytePath, string>()
    for (const [path, id] of readTrees()) {
      const inner = path === repository.prefix ? "" : path.startsWith(prefix) ? path.slice(prefix.length) : undefined
      if (inner !== undefined && !touched.has(inner)) known.set(inner, id)
    }
    return known
  }
}

function listIds(ids: readonly string[]): IdList {
  return { bytes: Buffer.from(ids.join(""), "hex"), places: Uint32Array.from(ids, (_, i) => i * 20), skip: 0 }
}

function selectEntries(data: Buffer, starts: Uint32Array, prefixLength: number): IndexEntry[] {
  let next = 0
  const entries = parseIndex(data).entries.filter(({ at }) => at === starts[next] && ++next > 0)
  return prefixLength === 0 ? entries : entries.map((entry) => ({ ...entry, path: entry.path.slice(prefixLength) }))
}

/** Whether borrowing from this repository can work at all. */
export function canSeedFrom(repository: UserRepository, config: ReadonlyMap<string, string>): boolean {
  const format = config.get("extensions.objectformat")
  const isPartial = config.has("extensions.partialclone") || [...config.keys()].some((key) => key.endsWith(".promisor"))
  return (format === undefined || format === "sha1") && !isPartial && !repository.commonDirectory.includes("\n")
}

interface UserIndex {
  readonly data: Buffer
  /** Where the entries start that were taken. */
  readonly starts: Uint32Array
  readonly parsed: Omit<ParsedIndex, "entries">
}

type Take = (
  /** Of its name. */
  start: number,
  entry: { readonly bytes: Buffer; readonly at: number },
  mode: number,
  flags: number,
  /** When the index was written. */
  second: number,
) => boolean

function readUserIndex(
  repository: UserRepository,
  source: NameBytes,
  enter: (folder: BytePath) => void,
  take: Take,
): UserIndex | undefined {
  const file = join(repository.gitDirectory, "index")
  try {
    const second = Math.floor(statSync(file).mtimeMs / 1000)
    const data = readFileSync(file)
    const starts = new Uint32Array(data.length >> 6) // no entry is shorter than 64 bytes
    let count = 0
    const entry = { bytes: data, at: 0 }
    const parsed = visitNames(data, source, enter, (start, at, mode, flags) => {
      entry.at = at
      if (take(start, entry, mode, flags, second)) starts[count++] = at
    })
    return parsed.isSplit || parsed.isSparse ? undefined : { data, parsed, starts: starts.subarray(0, count) }
  } catch {
    return undefined // no index, or one we do not understand: look at everything
  }
}

/** Unmerged, sparse, intended and submodule entries say nothing certain about a file's content. */
function isPlain(mode: number, flags: number): boolean {
  return (mode === 0o100644 || mode === 0o100755 || mode === 0o120000) && (flags & unusual) === 0
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
 * away; for filters, which may keep the size, git's attributes are asked. Objects must be borrowed before. `CORRUPT`
 * when the repository has lost some of them: then nothing of it is taken.
 */
export async function findConverted(seed: Seed, options: SeedOptions): Promise<BytePath[]> {
  const { data, starts } = seed
  const [sizes, filtered] = await Promise.all([
    options.reader.sizes([{ bytes: data, places: starts, skip: idAt }, seed.listTrees()]),
    mayHaveAttributes(seed, options) ? listFiltered(seed, options) : new Set<BytePath>(),
  ])
  if (sizes.includes(-1)) {
    throw new KeepupError("CORRUPT", "The user's repository does not have all that its index names.")
  }
  const entry = { bytes: data, at: 0 }
  const isSame = starts.every((at, i) => {
    entry.at = at
    return sizes[i] === sizeOf(entry)
  })
  if (isSame && filtered.size === 0) return []
  const converted = seed.readEntries().filter((entry, i) => sizes[i] !== sizeOf(entry) || filtered.has(entry.path))
  return converted.map(({ path }) => path)
}

/** Where attributes may come from that apply before the workspace was looked at. */
function mayHaveAttributes(seed: Seed, { repository, attributesFile }: SeedOptions): boolean {
  const outside = ["/etc/gitattributes", attributesFile, join(repository.commonDirectory, "info/attributes")]
  const above = join(repository.root, ".gitattributes")
  const files = [...outside, above].filter((path) => path !== undefined)
  return seed.hasAttributes || repository.prefix !== "" || files.some((path) => existsSync(path))
}

/** Files with an attribute by which git may keep other bytes than the disk has. */
export async function listFiltered(seed: Seed, options: SeedOptions): Promise<Set<BytePath>> {
  const { git, repository, attributesFile } = options
  const prefix = repository.prefix === "" ? "" : `${repository.prefix}/`
  const { stdout } = await git.run(
    [
      ...["-c", `core.attributesFile=${attributesFile ?? "/dev/null"}`],
      ...["check-attr", "-z", "--stdin", "filter", "ident", "working-tree-encoding"],
    ],
    {
      gitDirectory: repository.gitDirectory,
      workTree: repository.root,
      systemAttributes: true,
      limit: "long",
      input: Buffer.from(
        seed
          .readEntries()
          .map((entry) => `${prefix}${entry.path}\0`)
          .join(""),
        "latin1",
      ),
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
    const data = formatTree(sortTree(children))
    const built = objectId("tree", data)
    emit.set(built, data)
    return built
  }
  return build("")
}
