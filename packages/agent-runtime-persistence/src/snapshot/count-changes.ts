/** How much changed, in files and lines. */
import { isKeepupError } from "@ku0/agent-runtime-core"
import { isTooSlow } from "./git-process.js"
import { countLines } from "./line-counts.js"
import type { ObjectReader } from "./object-reader.js"
import { readAhead } from "./read-ahead.js"
import type { TreeChange } from "./trees.js"

/** Files whose lines are counted; the rest of a huge change counts as changed only. */
const countedFiles = 500
/** From so many on it is worth asking how large they are. Of fewer, that question brings the content too, of all at once. */
const manyFiles = 100

/** `isComplete`: all of the content was there to be counted. What can't be read counts as empty: no snapshot fails for it. */
export async function countChanges(reader: ObjectReader, changes: readonly TreeChange[]) {
  const counts = { filesChanged: changes.length, insertions: 0, deletions: 0 }
  let isComplete = true
  const changed = changes.slice(0, countedFiles).filter(({ before, after }) => before?.id !== after?.id)
  const find = (id: string) => reader.find(id)
  const befores = changed.flatMap(({ before }) => before?.id ?? [])
  const findBefore = changed.length < manyFiles ? undefined : await readAhead(reader, befores, find).catch(refuseOthers)
  let place = 0
  const read = async (id: string | undefined, ahead = id === undefined ? undefined : find(id)) => {
    // git may have ended over one that was asked for in the same go
    const found = await ahead?.catch(refuseOthers).then((one) => one ?? find(id as string).catch(refuseOthers))
    if (id !== undefined && found === undefined) isComplete = false
    return found?.data
  }
  for (const { before, after } of changed) {
    const ahead = before === undefined ? undefined : findBefore?.(place++)
    const lines = countLines(...(await Promise.all([read(before?.id, ahead), read(after?.id)])))
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
