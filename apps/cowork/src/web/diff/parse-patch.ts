/** Reads the hunks of one file's unified diff. What is no hunk (headers, notes of git) is left out. */

export type LineKind = "same" | "added" | "removed"

export interface DiffLine {
  readonly kind: LineKind
  readonly text: string
  /** Line numbers, from 1; `null` on the side that does not have the line. */
  readonly before: number | null
  readonly after: number | null
  /** The last line of the file, and no line end follows it. */
  readonly isOpenEnd?: boolean
}

export interface Hunk {
  readonly before: number
  readonly after: number
  /** What git says the hunk lies in: a function's first line, mostly. */
  readonly place: string
  readonly lines: readonly DiffLine[]
}

const start = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/

export function parsePatch(patch: string): Hunk[] {
  const hunks: Hunk[] = []
  let lines: DiffLine[] = []
  let [before, after, left, right] = [0, 0, 0, 0]
  for (const line of patch.split("\n")) {
    if (left > 0 || right > 0) {
      const text = line.slice(1)
      if (line.startsWith("+")) lines.push({ kind: "added", text, before: null, after: after++ })
      else if (line.startsWith("-")) lines.push({ kind: "removed", text, before: before++, after: null })
      else if (line.startsWith("\\")) markOpenEnd(lines)
      else lines.push({ kind: "same", text, before: before++, after: after++ })
      if (!line.startsWith("+") && !line.startsWith("\\")) left--
      if (!line.startsWith("-") && !line.startsWith("\\")) right--
      continue
    }
    if (line.startsWith("\\")) markOpenEnd(lines)
    const found = start.exec(line)
    if (found === null) continue
    before = Number(found[1])
    after = Number(found[3])
    left = Number(found[2] ?? 1)
    right = Number(found[4] ?? 1)
    lines = []
    hunks.push({ before, after, place: found[5] ?? "", lines })
  }
  return hunks
}

function markOpenEnd(lines: DiffLine[]): void {
  const last = lines.pop()
  if (last) lines.push({ ...last, isOpenEnd: true })
}
