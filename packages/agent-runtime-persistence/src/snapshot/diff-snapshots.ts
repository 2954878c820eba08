/** What differs between two trees: paths, kinds of change, line counts, renames, patches. Huge and binary files stay cheap. */
import type { FileChange, FileStatus } from "@ku0/agent-runtime-core"
import { type BytePath, displayPath } from "./byte-path.js"
import { countLines } from "./line-counts.js"
import type { ObjectReader } from "./object-reader.js"
import type { TreeChange } from "./trees.js"

export interface SnapshotChange extends FileChange {
  /** The exact bytes of the path. */
  readonly bytePath: BytePath
  readonly before: string | undefined
  readonly after: string | undefined
}

const hugeBytes = 2 << 20

/** Describes tree changes; a file that went and came with the same content under another name is a rename. */
export async function describeChanges(reader: ObjectReader, changes: readonly TreeChange[]): Promise<SnapshotChange[]> {
  const gone = new Map<string, TreeChange[]>()
  for (const change of changes) {
    if (change.before === undefined || change.after !== undefined) continue
    gone.set(change.before.id, [...(gone.get(change.before.id) ?? []), change])
  }
  const renamed = new Map<TreeChange, TreeChange>()
  const consumed = new Set<TreeChange>()
  for (const change of changes) {
    if (change.after === undefined || change.before !== undefined) continue
    const from = gone.get(change.after.id)?.find((one) => !consumed.has(one) && one.before?.mode === change.after?.mode)
    if (from === undefined) continue
    consumed.add(from)
    renamed.set(change, from)
  }
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
