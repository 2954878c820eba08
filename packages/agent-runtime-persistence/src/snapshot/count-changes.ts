/** How much changed, in files and lines. */
import { isKeepupError } from "@ku0/agent-runtime-core"
import { isTooSlow } from "./git-process.js"
import { countLines } from "./line-counts.js"
import type { ObjectReader } from "./object-reader.js"
import type { TreeChange } from "./trees.js"

/** Files whose lines are counted; the rest of a huge change counts as changed only. */
const countedFiles = 500

/** `isComplete`: all of the content was there to be counted. What can't be read counts as empty: no snapshot fails for it. */
export async function countChanges(reader: ObjectReader, changes: readonly TreeChange[]) {
  const counts = { filesChanged: changes.length, insertions: 0, deletions: 0 }
  let isComplete = true
  const read = async (id: string | undefined) => {
    const found = id === undefined ? undefined : await reader.find(id).catch(refuseOthers)
    if (id !== undefined && found === undefined) isComplete = false
    return found?.data
  }
  for (const { before, after } of changes.slice(0, countedFiles)) {
    if (before?.id === after?.id) continue
    const lines = countLines(...(await Promise.all([read(before?.id), read(after?.id)])))
    counts.insertions += lines.insertions
    counts.deletions += lines.deletions
  }
  return { counts, isComplete }
}

/** Git ends over an object it can't read. One that hangs would be waited for again at every file. */
function refuseOthers(error: unknown): undefined {
  if (isKeepupError(error) && error.code !== "CANCELLED" && !isTooSlow(error)) return undefined
  throw error
}
