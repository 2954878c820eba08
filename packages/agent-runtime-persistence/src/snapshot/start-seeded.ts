/**
 * Begins the first snapshot in a git repository from the user's own index: borrows its objects, lets git compare the
 * files with it at once, and meanwhile works out what of it is certain.
 */
import { join } from "node:path"
import { KeepupError } from "@ku0/agent-runtime-core"
import { type BytePath, nameOf, parentOf } from "./byte-path.js"
import { removeFile, replaceFile } from "./durable-file.js"
import { fileVersion, listStale, type ScanContext } from "./find-changes.js"
import { copyIndexFile } from "./fold-index.js"
import { namesOf } from "./git-objects.js"
import { listUntracked } from "./list-untracked.js"
import type { ObjectReader } from "./object-reader.js"
import type { PackWriter } from "./pack-writer.js"
import {
  askSizes,
  canSeedFrom,
  findConverted,
  listFiltered,
  readSeed,
  readUserIndex,
  type Seed,
  type SeedOptions,
} from "./seed-from-user.js"
import type { SnapshotEnvironment } from "./snapshot-environment.js"
import { findEntry } from "./trees.js"
import { readText } from "./user-repository.js"

/** Changes the state to start from the seed. Undefined where there is nothing to start from: then every file is read. */
export function startSeeded(
  environment: SnapshotEnvironment,
  context: ScanContext,
  pack: PackWriter,
): ScanContext["seeded"] {
  const { repository, userConfig, store, step, reader } = environment
  if (repository === undefined || !canSeedFrom(repository, userConfig)) return undefined
  const indexFile = join(repository.gitDirectory, "index")
  const version = fileVersion(indexFile)
  if (version === "none") return undefined
  context.files.refresh()
  // Git and we go on at once with what takes longest: everything else waits for it.
  const listed = listStale(context, indexFile, repository.prefix)
  const comparing = Promise.resolve(listed)
  comparing.catch(() => {}) // awaited below, unless there is no seed
  const stop = new AbortController()
  const isLarge = listed instanceof Promise // where few files are compared, folders are read as fast
  const canAsk = isLarge && repository.prefix === "" && context.rules.include.isEmpty && !context.follower
  const isStill = () => fileVersion(indexFile) === version
  const listing = canAsk ? listUntracked({ ...context, indexFile, beside: comparing, stop }) : undefined
  const untracked = listing?.then((paths) => (isStill() ? paths : undefined))
  const index = readUserIndex(repository)
  const { state } = context
  const alternates = join(store, "objects/info/alternates")
  // Checkpoints may need what lends to them already: it is the notes of what was seen that can be lost.
  const lenders = new Set(
    readText(alternates)
      ?.split("\n")
      .filter((line) => line !== ""),
  )
  const isNew = lenders.size === 0
  if (index !== undefined) {
    lenders.add(join(repository.commonDirectory, "objects"))
    replaceFile(alternates, [...lenders, ""].join("\n"), { durable: false })
    step("capture:borrowed")
    reader.renew()
  }
  // Of a part of a repository, the others are nothing to us.
  const sizes = index === undefined || repository.prefix !== "" ? undefined : askSizes(index, reader)
  sizes?.catch(() => {}) // awaited below, unless there is no seed
  const seed = index && readSeed(index, { repository, rules: context.rules, maxFileSize: context.files.maxFileSize })
  for (const path of state.privateMarks.keys()) if (!isHeld(seed, path)) state.privateMarks.delete(path)
  if (seed?.isWhole !== true) stop.abort()
  if (seed === undefined) {
    if (index !== undefined && isNew) removeFile(alternates)
    return undefined
  }
  reader.tree(seed.tree).catch(() => {}) // the git that reads objects starts while the files are looked at
  comparing.then((paths) => readAhead(reader, seed.tree, paths)).catch(() => {}) // whoever needs it hears of a failure
  for (const [id, data] of seed.newTrees) {
    pack.add(id, "tree", data)
    reader.keepTree(id, namesOf(data))
  }
  state.seed = seed.readEntries
  const copy = seed.isWhole ? copyIndexFile(store, seed.data) : undefined
  if (copy !== undefined) state.indexFile = copy.name
  state.indexTree = seed.tree
  state.lastTree = seed.tree
  state.fileCount = seed.starts.length
  const options: SeedOptions = { ...environment, repository, rules: context.rules }
  const asked = sizes && { sizes, files: index?.starts.length as number }
  const converted = findConverted(seed, options, asked)
  const stale = Promise.all([listUncertain(seed, comparing, converted), copy?.written]).then(([paths]) => {
    if (isStill()) return paths
    // Git and we may have read two different ones: the whole snapshot is begun again, without it.
    throw new KeepupError("CORRUPT", "The user's index changed while it was read.")
  })
  stale.catch(() => stop.abort()) // the scan awaits it, unless something else fails first
  return { readNames: seed.readNames, stale, untracked, listFiltered: (there) => listFiltered(seed, options, there) }
}

/** The folders of what changed, while other gits are still at work. */
async function readAhead(reader: ObjectReader, tree: string, paths: readonly BytePath[]): Promise<void> {
  await Promise.all(paths.slice(0, 100).map((path) => findEntry(reader, tree, path)))
}

async function listUncertain(
  seed: Seed,
  comparing: Promise<BytePath[]>,
  finding: Promise<BytePath[]>,
): Promise<BytePath[]> {
  const [stale, converted] = await Promise.all([comparing, finding])
  return [...stale.filter((path) => isHeld(seed, path)), ...converted, ...seed.uncertain]
}

function isHeld(seed: Seed | undefined, path: BytePath): boolean {
  return seed?.isWhole === true || seed?.readNames().get(parentOf(path))?.has(nameOf(path)) === true
}
