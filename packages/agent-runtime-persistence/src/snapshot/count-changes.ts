/** How much changed, in files and lines. */
import { countLines } from "./line-counts.js"
import type { ObjectReader } from "./object-reader.js"
import type { TreeChange } from "./trees.js"

/** Files whose lines are counted; the rest of a huge change counts as changed only. */
const countedFiles = 500

export async function countChanges(reader: ObjectReader, changes: readonly TreeChange[]) {
  const counts = { filesChanged: changes.length, insertions: 0, deletions: 0 }
  for (const change of changes.slice(0, countedFiles)) {
    if (change.before?.id === change.after?.id) continue
    const read = (id: string | undefined) =>
      id === undefined ? undefined : reader.find(id).then((found) => found?.data)
    const lines = countLines(await read(change.before?.id), await read(change.after?.id))
    counts.insertions += lines.insertions
    counts.deletions += lines.deletions
  }
  return counts
}
