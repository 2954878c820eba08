/** What differs between two trees: paths, kinds of change, line counts, renames, patches. Huge and binary files stay cheap. */
import type { FileChange, FileStatus } from "@ku0/agent-runtime-core"
import { type BytePath, displayPath, nameOf } from "./byte-path.js"
import { countLines } from "./line-counts.js"
import type { ObjectReader } from "./object-reader.js"
import type { FileEntry, TreeChange } from "./trees.js"

export interface SnapshotChange extends FileChange {
  /** The exact bytes of the path. */
  readonly bytePath: BytePath
  readonly before: string | undefined
  readonly after: string | undefined
}

const hugeBytes = 2 << 20
/** Git looks at so many files of the same content for one with the right name. */
const mostAlike = 102

/**
 * What came → what went for it: a file with the same content under another name is a rename, and nothing else is. Of
 * several that went, one with the same last name is taken, else the first: as git does, so that a patch says the same.
 */
export function findRenames(changes: readonly TreeChange[]): Map<TreeChange, TreeChange> {
  const sorted = [...changes].sort((a, b) => (a.path < b.path ? -1 : 1))
  const gone = new Map<string, TreeChange[]>()
  for (const change of sorted) {
    if (change.before === undefined || change.after !== undefined) continue
    const key = keyOf(change.before)
    const same = gone.get(key)
    if (same === undefined) gone.set(key, [change])
    else same.push(change)
  }
  const renames = new Map<TreeChange, TreeChange>()
  for (const change of sorted) {
    if (change.after === undefined || change.before !== undefined) continue
    const left = gone.get(keyOf(change.after)) ?? []
    const named = left.slice(0, mostAlike).findIndex(({ path }) => nameOf(path) === nameOf(change.path))
    const [from] = left.splice(Math.max(0, named), 1)
    if (from !== undefined) renames.set(change, from)
  }
  return renames
}

/** A link is no file, whatever both say; the executable bit may change with the name. */
function keyOf({ id, mode }: FileEntry): string {
  return `${mode.startsWith("100") ? "file" : mode} ${id}`
}

/** Describes tree changes, as a patch between the two trees has them. */
export async function describeChanges(reader: ObjectReader, changes: readonly TreeChange[]): Promise<SnapshotChange[]> {
  const renamed = findRenames(changes)
  const consumed = new Set(renamed.values())
  const counted = changes.filter((change) => !consumed.has(change) && !renamed.has(change))
  const sizes = await readSizes(reader, counted)
  const described: SnapshotChange[] = []
  for (const change of changes) {
    if (consumed.has(change)) continue
    const from = renamed.get(change)
    described.push({
      path: displayPath(change.path),
      bytePath: change.path,
      status: from === undefined ? statusOf(change) : "renamed",
      ...(from === undefined ? {} : { from: displayPath(from.path) }),
      before: from?.before?.id ?? change.before?.id,
      after: change.after?.id,
      ...(from === undefined
        ? await countChange(reader, change, sizes)
        : { insertions: 0, deletions: 0, binary: false }),
    })
  }
  return described.sort((a, b) => (a.bytePath < b.bytePath ? -1 : 1))
}

function statusOf({ before, after }: TreeChange): FileStatus {
  if (before === undefined) return "added"
  if (after === undefined) return "deleted"
  if ((before.mode === "120000") !== (after.mode === "120000")) return "type"
  return before.id === after.id ? "mode" : "modified"
}

async function readSizes(reader: ObjectReader, changes: readonly TreeChange[]): Promise<Map<string, number>> {
  const ids = [...new Set(changes.flatMap(({ before, after }) => [before?.id, after?.id]))].filter(
    (id) => id !== undefined,
  )
  if (ids.length === 0) return new Map()
  const facts = await reader.describe(ids)
  return new Map(ids.map((id, i) => [id, facts[i]?.size ?? 0]))
}

async function countChange(reader: ObjectReader, { before, after }: TreeChange, sizes: ReadonlyMap<string, number>) {
  if (before?.id === after?.id) return { insertions: 0, deletions: 0, binary: false }
  const isHuge = [before, after].some((one) => one !== undefined && (sizes.get(one.id) ?? 0) > hugeBytes)
  if (isHuge) return { insertions: 0, deletions: 0, binary: true }
  const read = async (id: string | undefined) => (id === undefined ? undefined : reader.get(id, "blob"))
  return countLines(await read(before?.id), await read(after?.id))
}
