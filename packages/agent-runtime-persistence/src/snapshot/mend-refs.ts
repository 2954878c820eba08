/** Refs that can be made again, because what they say is known from elsewhere: the newest snapshot, and the tree of the index. */
import { lstatSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { isKeepupError } from "@ku0/agent-runtime-core"
import { checkpointRefs, indexTreeRef, latestRef } from "./refs.js"
import { readSnapshotCommit } from "./snapshot-commit.js"
import type { SnapshotEnvironment } from "./snapshot-environment.js"
import { listTree } from "./trees.js"

/** Returns the names of those that were damaged. The caller holds the lock, and no scan state goes by the index any more. */
export async function mendRefs(environment: SnapshotEnvironment): Promise<string[]> {
  const { refs, reader } = environment
  const mended: string[] = []
  const listIndex = (id: string) => listTree(reader, id)
  if (await isDamaged(environment, indexTreeRef, listIndex)) {
    refs.remove([indexTreeRef]) // the next index brings its own
    mended.push(indexTreeRef)
  }
  if (await isDamaged(environment, latestRef, (id) => readTime(environment, id))) {
    const newest = await findNewest(environment)
    // where nothing is left, what it says is the last that is known of it
    if (newest !== undefined) {
      refs.write(latestRef, newest)
      mended.push(latestRef)
    }
  }
  return mended
}

async function isDamaged(
  { store, refs, reader }: SnapshotEnvironment,
  name: string,
  read: (id: string) => Promise<unknown>,
): Promise<boolean> {
  const file = join(store, name)
  const id = refs.read(name)
  // what is unreadable in its file, an older line of the packed refs stands for
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() && readFileSync(file, "utf8").trim() !== id) return true
  return id !== undefined && (await attempt(reader, () => read(id))) === undefined
}

/** Of the snapshots that are kept and can be read, the one that was taken last. */
async function findNewest(environment: SnapshotEnvironment): Promise<string | undefined> {
  let newest: { readonly id: string; readonly time: number } | undefined
  const { refs, reader } = environment
  const kept = [...refs.list(checkpointRefs)].toSorted().map(([, id]) => id)
  const packed = refs.read(latestRef)
  for (const id of new Set(packed === undefined ? kept : [packed, ...kept])) {
    const time = await attempt(reader, () => readTime(environment, id))
    if (time !== undefined && (newest === undefined || time >= newest.time)) newest = { id, time }
  }
  return newest?.id
}

/** When a snapshot was taken, if its list of files can be read. */
async function readTime(environment: SnapshotEnvironment, id: string): Promise<number> {
  const { tree, createdAt } = await readSnapshotCommit(environment, id)
  await listTree(environment.reader, tree)
  return createdAt
}

/** Nothing where something is lost or damaged. */
async function attempt<Result>(
  reader: SnapshotEnvironment["reader"],
  read: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await read()
  } catch (error) {
    if (!isKeepupError(error)) throw error
    reader.renew()
    return undefined
  }
}
