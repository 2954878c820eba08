/** Which parts of a line differ from the line that took its place. Word by word, and only where that helps. */

export interface Part {
  readonly text: string
  readonly isChanged: boolean
}

const longest = 400
const mostWords = 120

/** The parts of `text`, joined they are `text` again. A line that shares too little with the other is one part. */
export function markWords(text: string, other: string | null): Part[] {
  if (other === null || text === other || text.length > longest || other.length > longest) return whole(text)
  const mine = splitWords(text)
  const theirs = splitWords(other)
  if (mine.length > mostWords || theirs.length > mostWords) return whole(text)
  const kept = findCommon(mine, theirs)
  const keptText = mine.filter((word, index) => kept.has(index) && word.trim() !== "").join("").length
  if (keptText * 3 < Math.max(text.trim().length, other.trim().length)) return whole(text)
  const parts: { text: string; isChanged: boolean }[] = []
  mine.forEach((word, index) => {
    const isChanged = !kept.has(index)
    const last = parts.at(-1)
    if (last && last.isChanged === isChanged) last.text += word
    else parts.push({ text: word, isChanged })
  })
  return parts
}

function whole(text: string): Part[] {
  return text === "" ? [] : [{ text, isChanged: false }]
}

function splitWords(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? []
}

/** Indexes of the words of `mine` that are part of a longest common subsequence with `theirs`. */
function findCommon(mine: readonly string[], theirs: readonly string[]): ReadonlySet<number> {
  const width = theirs.length + 1
  const lengths = new Uint16Array((mine.length + 1) * width)
  const at = (row: number, column: number) => lengths[row * width + column] as number
  for (let row = mine.length - 1; row >= 0; row--) {
    for (let column = theirs.length - 1; column >= 0; column--) {
      lengths[row * width + column] =
        mine[row] === theirs[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1))
    }
  }
  const kept = new Set<number>()
  let [row, column] = [0, 0]
  while (row < mine.length && column < theirs.length) {
    if (mine[row] === theirs[column]) {
      kept.add(row++)
      column++
    } else if (at(row + 1, column) >= at(row, column + 1)) row++
    else column++
  }
  return kept
}
