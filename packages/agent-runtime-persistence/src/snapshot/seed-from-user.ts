/**
 * The first snapshot in a git repository need not read the tree: the user's index already says which content each
 * unchanged file has. What is copied is only what is certain; everything else is looked at like any new file.
 */
import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { KeepupError } from "@ku0/agent-runtime-core"
import type { BytePath } from "./byte-path.js"
import { type CertainEntries, findCertain, type IndexToRead } from "./certain-entries.js"
import { findEntries, type IndexEntry, type IndexFacts, idAt, idOf, parseIndex, sizeOf } from "./git-index.js"
import { formatTree, objectId, sortTree, type TreeEntry, treeMode } from "./git-objects.js"
import type { Git } from "./git-process.js"
import type { IgnoreRules } from "./ignore-rules.js"
import { type NamesByFolder, readNamesByFolder } from "./index-names.js"
import type { IdList, ObjectReader } from "./object-reader.js"
import type { UserRepository } from "./user-repository.js"

export interface Seed extends CertainEntries {
  /** The index its entries are in. */
  readonly data: Buffer
  /** Made when asked for: most first snapshots never need an object for each file. */
  readonly readEntries: () => readonly IndexEntry[]
  readonly tree: string
  /** Trees that are borrowed with the files in them. */
  readonly listTrees: () => IdList
  /** Trees the user's repository does not have. */
  readonly newTrees: ReadonlyMap<string, Buffer>
  /** By folder; made when asked for. */
  readonly readNames: () => NamesByFolder
}

export interface SeedOptions {
  readonly git: Git
  readonly reader: ObjectReader
  readonly repository: UserRepository
  readonly attributesFile: string | undefined
  readonly rules: IgnoreRules
}

/** The user's index as it is. */
export interface UserIndex extends IndexToRead {
  readonly facts: IndexFacts
}

/** Undefined when it can't be used. */
export function readUserIndex({ gitDirectory }: UserRepository): UserIndex | undefined {
  const file = join(gitDirectory, "index")
  try {
    const second = Math.floor(statSync(file).mtimeMs / 1000)
    const data = readFileSync(file)
    const { starts, facts } = findEntries(data)
    return facts.isSplit || facts.isSparse ? undefined : { data, starts, facts, second }
  } catch {
    return undefined // no index, or one we do not understand: look at everything
  }
}

/** What of the user's index is certain; undefined when nothing is. */
export function readSeed(
  index: UserIndex,
  { repository, rules, maxFileSize }: Pick<SeedOptions, "repository" | "rules"> & { readonly maxFileSize: number },
): Seed | undefined {
  const { data, facts } = index
  const isAll = repository.prefix === ""
  const prefix = isAll ? "" : `${repository.prefix}/`
  const innerPath = (path: BytePath) =>
    isAll || path === repository.prefix || path.startsWith(prefix) ? path.slice(prefix.length) : undefined
  let certain: CertainEntries
  try {
    certain = findCertain(index, { rules, innerPath, isAll, maxFileSize })
  } catch {
    return undefined // it is damaged
  }
  const { starts, touched } = certain
  if (starts.length === 0) return undefined
  const readEntries = () => selectEntries(data, starts, prefix.length)
  const newTrees = new Map<string, Buffer>()
  const isSame = isAll && touched.size === 0
  const tree = (isSame ? facts.rootTree : undefined) ?? buildTree(readEntries(), listKnown(), newTrees)
  const listTrees = () => (isSame ? listAllTrees(data, facts) : listIds([...listKnown().values()]))
  let names: NamesByFolder | undefined
  const readNames = () => {
    names ??= readNamesByFolder(data, { starts, innerPath })
    return names
  }
  return { ...certain, data, tree, readEntries, listTrees, newTrees, readNames }

  /** Trees of folders all of whose entries were taken. */
  function listKnown(): Map<BytePath, string> {
    const known = new Map<BytePath, string>()
    for (const [path, id] of facts.readTrees()) {
      const inner = innerPath(path)
      if (inner !== undefined && !touched.has(inner)) known.set(inner, id)
    }
    return known
  }
}

function listAllTrees(bytes: Buffer, facts: IndexFacts): IdList {
  return { bytes, places: facts.findTrees(), skip: 0 }
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

/** Sizes of all that an index names, files first, and of all trees it knows. Objects must be borrowed before. */
export function askSizes({ data, starts, facts }: UserIndex, reader: ObjectReader): Promise<Float64Array> {
  return reader.sizes([{ bytes: data, places: starts, skip: idAt }, listAllTrees(data, facts)])
}

/**
 * Git may have changed bytes between disk and object (line ends, filters, encodings). A size that differs gives most
 * away; for filters, which may keep the size, git's attributes are asked. Objects must be borrowed before. `CORRUPT`
 * when the repository has lost some of them: then nothing of it is taken. `asked` are the sizes of all the index names,
 * where they were asked for early.
 */
export async function findConverted(
  seed: Seed,
  options: SeedOptions,
  asked?: { readonly sizes: Promise<Float64Array>; readonly files: number },
): Promise<BytePath[]> {
  const { data, starts, numbers } = seed
  const [sizes, filtered] = await Promise.all([
    asked?.sizes ?? options.reader.sizes([{ bytes: data, places: starts, skip: idAt }, seed.listTrees()]),
    mayHaveAttributes(seed, options) ? listFiltered(seed, options) : new Set<BytePath>(),
  ])
  const sizeAt = (i: number) => sizes[asked === undefined ? i : (numbers?.[i] ?? i)]
  const trees = sizes.subarray(asked?.files ?? starts.length)
  if (trees.includes(-1) || starts.some((_, i) => sizeAt(i) === -1)) {
    throw new KeepupError("CORRUPT", "The user's repository does not have all that its index names.")
  }
  const entry = { bytes: data, at: 0 }
  const isSame = starts.every((at, i) => {
    entry.at = at
    return sizeAt(i) === sizeOf(entry)
  })
  if (isSame && filtered.size === 0) return []
  const converted = seed.readEntries().filter((entry, i) => sizeAt(i) !== sizeOf(entry) || filtered.has(entry.path))
  return converted.map(({ path }) => path)
}

/** Where attributes may come from that apply before the workspace was looked at. */
function mayHaveAttributes(seed: Seed, { repository, attributesFile }: SeedOptions): boolean {
  const outside = ["/etc/gitattributes", attributesFile, join(repository.commonDirectory, "info/attributes")]
  const above = join(repository.root, ".gitattributes")
  const files = [...outside, above].filter((path) => path !== undefined)
  return seed.hasAttributes || repository.prefix !== "" || files.some((path) => existsSync(path))
}

/** Files with an attribute by which git may keep other bytes than the disk has, as the files of attributes say it there. */
export async function listFiltered(
  seed: Seed,
  options: SeedOptions,
  there: "disk" | "index" = "disk",
): Promise<Set<BytePath>> {
  const { git, repository, attributesFile } = options
  const prefix = repository.prefix === "" ? "" : `${repository.prefix}/`
  const { stdout } = await git.run(
    [
      ...["-c", `core.attributesFile=${attributesFile ?? "/dev/null"}`],
      ...["check-attr", "-z", "--stdin", ...(there === "index" ? ["--cached"] : [])],
      ...["filter", "ident", "working-tree-encoding"],
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
