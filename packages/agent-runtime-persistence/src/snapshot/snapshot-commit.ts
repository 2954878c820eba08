/** The commit of a snapshot: what it says beside its tree, written, read and compared. */
import { isKeepupError, type SkippedPath, type SkipReason } from "@ku0/agent-runtime-core"
import { type BytePath, displayPath } from "./byte-path.js"
import { formatCommit, objectId, parseCommit } from "./git-objects.js"
import type { PackWriter } from "./pack-writer.js"
import { hasSameMarks } from "./private-files.js"
import type { SnapshotEnvironment } from "./snapshot-environment.js"
import { formatSnapshotMessage, parseSnapshotMessage, type SnapshotFacts } from "./snapshot-message.js"

export async function readSnapshotCommit(environment: SnapshotEnvironment, commit: string) {
  const facts = parseCommit(await environment.reader.get(commit, "commit"))
  return { ...parseSnapshotMessage(facts.message), tree: facts.tree }
}

/** The newest snapshot may be damaged; then there is no base, and life goes on. */
export async function findSnapshotCommit(environment: SnapshotEnvironment, commit: string) {
  return readSnapshotCommit(environment, commit).catch((error) => {
    if (isKeepupError(error) && error.code === "CORRUPT") return undefined
    throw error
  })
}

export function addCommit(
  { reader }: SnapshotEnvironment,
  pack: PackWriter,
  tree: string,
  facts: SnapshotFacts,
): string {
  const time = Math.floor(facts.createdAt / 1000)
  const commit = formatCommit({ tree, time, message: formatSnapshotMessage(facts) })
  const id = objectId("commit", commit)
  pack.add(id, "commit", commit)
  reader.keep(id, "commit", commit)
  return id
}

type Held = Pick<SnapshotFacts, "emptyFolders" | "privateMarks" | "skipped"> & { readonly tree: string }

/** Whether a snapshot says everything that one taken now would say. */
export function isSame(known: Held | undefined, now: Held): boolean {
  return (
    holdsSame(known, now) &&
    known?.skipped.size === now.skipped.size &&
    [...now.skipped].every(([path, reason]) => known.skipped.get(path) === reason)
  )
}

/** The same, whatever could not be captured. */
export function holdsSame(known: Held | undefined, now: Held): boolean {
  return (
    known?.tree === now.tree &&
    sameFolders(known.emptyFolders, now.emptyFolders) &&
    hasSameMarks(known.privateMarks, now.privateMarks)
  )
}

function sameFolders(a: readonly BytePath[], b: readonly BytePath[]): boolean {
  return a.length === b.length && a.every((path, i) => path === b[i])
}

export function describeSkipped(skipped: Iterable<readonly [BytePath, SkipReason]>): SkippedPath[] {
  return [...skipped].map(([path, reason]) => ({ path: path === "" ? "." : displayPath(path), reason }))
}
