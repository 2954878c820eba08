/** How much one tree differs from another, in files and lines. */
import { countLines } from "./line-counts.js"
import type { ObjectReader } from "./object-reader.js"
import { compareTrees } from "./trees.js"

/** Files whose lines are counted; the rest of a huge change counts as changed only. */
const countedFiles = 500

export async function countChanges(reader: ObjectReader, before: string | undefined, after: string) {
  const counts = { filesChanged: 0, insertions: 0, deletions: 0 }
  if (before === undefined) return counts
  const changes = await compareTrees(reader, before, after)
  counts.filesChanged = changes.length
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
