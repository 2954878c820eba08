/**
 * Begins the first snapshot in a git repository from the user's own index: borrows its objects, lets git compare the
 * files with it at once, and meanwhile works out what of it is certain.
 */
import { join } from "node:path"
import { KeepupError } from "@ku0/agent-runtime-core"
import { type BytePath, nameOf, parentOf } from "./byte-path.js"
import { replaceFile } from "./durable-file.js"
import { fileVersion, listStale, type ScanContext } from "./find-changes.js"
import { copyIndexFile } from "./fold-index.js"
import { namesOf } from "./git-objects.js"
import type { PackWriter } from "./pack-writer.js"
import { canSeedFrom, findConverted, listFiltered, readSeed, type Seed, type SeedOptions } from "./seed-from-user.js"
import type { SnapshotEnvironment } from "./snapshot-environment.js"

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
  const comparing = Promise.resolve(listStale(context, indexFile, repository.prefix))
  comparing.catch(() => {}) // awaited below, unless there is no seed
  const seed = readSeed({ repository, rules: context.rules })
  const { state } = context
  for (const path of state.privateMarks.keys()) if (!isHeld(seed, path)) state.privateMarks.delete(path)
  if (seed === undefined) return undefined
  const alternates = join(store, "objects/info/alternates")
  replaceFile(alternates, `${join(repository.commonDirectory, "objects")}\n`, { durable: false })
  step("capture:borrowed")
  reader.renew()
  reader.tree(seed.tree).catch(() => {}) // the git that reads objects starts while the files are looked at
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
  const stale = Promise.all([listUncertain(options, seed, comparing), copy?.written]).then(([paths]) => {
    if (fileVersion(indexFile) === version) return paths
    // Git and we may have read two different ones: the whole snapshot is begun again, without it.
    throw new KeepupError("CORRUPT", "The user's index changed while it was read.")
  })
  stale.catch(() => {}) // the scan awaits it, unless something else fails first
  return { byFolder: seed.byFolder, stale, listFiltered: () => listFiltered(seed, options) }
}

async function listUncertain(options: SeedOptions, seed: Seed, comparing: Promise<BytePath[]>): Promise<BytePath[]> {
  const [stale, converted] = await Promise.all([comparing, findConverted(seed, options)])
  return [...stale.filter((path) => isHeld(seed, path)), ...converted, ...seed.uncertain]
}

function isHeld(seed: Seed | undefined, path: BytePath): boolean {
  return seed?.byFolder.get(parentOf(path))?.has(nameOf(path)) === true
}
