/** How many lines were added and removed between two contents. Cheap by design: huge and binary contents count as none. */

export interface LineCounts {
  readonly insertions: number
  readonly deletions: number
  readonly binary: boolean
}

const hugeBytes = 2 << 20
const maxSteps = 1500

export function isBinary(data: Buffer): boolean {
  return data.subarray(0, 8000).includes(0)
}

/** Contents too large to compare are reported as binary. */
export function countLines(before: Buffer | undefined, after: Buffer | undefined): LineCounts {
  const old = before ?? Buffer.alloc(0)
  const now = after ?? Buffer.alloc(0)
  if (old.length > hugeBytes || now.length > hugeBytes || isBinary(old) || isBinary(now)) {
    return { insertions: 0, deletions: 0, binary: true }
  }
  const a = splitLines(old)
  const b = splitLines(now)
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let endA = a.length
  let endB = b.length
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA--
    endB--
  }
  const common = countCommon(a.slice(start, endA), b.slice(start, endB))
  return { deletions: endA - start - common, insertions: endB - start - common, binary: false }
}

function splitLines(data: Buffer): string[] {
  const lines = data.toString("latin1").split("\n")
  if (lines.at(-1) === "") lines.pop()
  else lines[lines.length - 1] += "\0" // a last line without its end is another line
  return lines
}

/** Length of the longest common subsequence (Myers); gives up on very different contents and counts them as replaced. */
function countCommon(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 || b.length === 0) return 0
  const limit = Math.min(a.length + b.length, maxSteps)
  const furthest = new Int32Array(2 * limit + 3)
  const center = limit + 1
  for (let steps = 0; steps <= limit; steps++) {
    for (let k = -steps; k <= steps; k += 2) {
      const down =
        k === -steps || (k !== steps && (furthest[center + k - 1] as number) < (furthest[center + k + 1] as number))
      let x = down ? (furthest[center + k + 1] as number) : (furthest[center + k - 1] as number) + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++
      furthest[center + k] = x
      if (x >= a.length && x - k >= b.length) return (a.length + b.length - steps) / 2
    }
  }
  return 0
}
