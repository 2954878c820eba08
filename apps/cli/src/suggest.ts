/** The words a slip may have meant, nearest first. */
export function suggest(wanted: string, known: Iterable<string>): string[] {
  const limit = Math.max(1, Math.floor(wanted.length / 3))
  return [...new Set(known)]
    .map((word) => ({ word, far: isPart(wanted, word) ? 0 : distance(wanted.toLowerCase(), word.toLowerCase()) }))
    .filter(({ far }) => far <= limit)
    .sort((a, b) => a.far - b.far || (a.word < b.word ? -1 : 1))
    .map(({ word }) => word)
}

function isPart(wanted: string, word: string): boolean {
  return wanted.length >= 3 && word.toLowerCase().includes(wanted.toLowerCase())
}

/** Letters to add, drop, change or swap with their neighbour. */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const last = rows[i - 1] as number[]
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let best = Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, (last[j - 1] as number) + same)
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (isSwapped) best = Math.min(best, (rows[i - 2]?.[j - 2] as number) + 1)
      row.push(best)
    }
    rows.push(row)
  }
  return rows[a.length]?.[b.length] as number
}
