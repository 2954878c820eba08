/** The lines of a diff as rows of a list, for one column or two. A row has a key that stays when others come and go. */
import type { DiffLine, Hunk } from "./parse-patch.js"

export interface HunkRow {
  readonly type: "hunk"
  readonly key: string
  readonly before: number
  readonly after: number
  readonly place: string
}

export interface LineRow {
  readonly type: "line"
  readonly key: string
  readonly line: DiffLine
  /** The line on the other side that took its place, for marking words. */
  readonly partner: DiffLine | null
}

export interface PairRow {
  readonly type: "pair"
  readonly key: string
  readonly left: DiffLine | null
  readonly right: DiffLine | null
}

export type UnifiedRow = HunkRow | LineRow
export type SplitRow = HunkRow | PairRow

export function toUnifiedRows(hunks: readonly Hunk[]): UnifiedRow[] {
  return hunks.flatMap((hunk, index): UnifiedRow[] => {
    const partners = findPartners(hunk.lines)
    return [
      hunkRow(hunk, index),
      ...hunk.lines.map(
        (line, at): LineRow => ({ type: "line", key: `${index}.${at}`, line, partner: partners.get(line) ?? null }),
      ),
    ]
  })
}

export function toSplitRows(hunks: readonly Hunk[]): SplitRow[] {
  return hunks.flatMap((hunk, index): SplitRow[] => {
    const pairs = groupChanges(hunk.lines).flatMap(({ same, removed, added }) => {
      if (same) return [{ left: same, right: same }]
      const height = Math.max(removed.length, added.length)
      return Array.from({ length: height }, (_, at) => ({ left: removed[at] ?? null, right: added[at] ?? null }))
    })
    return [
      hunkRow(hunk, index),
      ...pairs.map(({ left, right }, at): PairRow => ({ type: "pair", key: `${index}.${at}`, left, right })),
    ]
  })
}

function hunkRow({ before, after, place }: Hunk, index: number): HunkRow {
  return { type: "hunk", key: `h${index}`, before, after, place }
}

interface Group {
  readonly same: DiffLine | null
  readonly removed: DiffLine[]
  readonly added: DiffLine[]
}

/** Lines that stay one by one; a run of removed and added lines together. */
function groupChanges(lines: readonly DiffLine[]): Group[] {
  const groups: Group[] = []
  let open: Group | undefined
  for (const line of lines) {
    if (line.kind === "same") {
      groups.push({ same: line, removed: [], added: [] })
      open = undefined
      continue
    }
    if (open === undefined || (line.kind === "removed" && open.added.length > 0)) {
      open = { same: null, removed: [], added: [] }
      groups.push(open)
    }
    open[line.kind].push(line)
  }
  return groups
}

function findPartners(lines: readonly DiffLine[]): ReadonlyMap<DiffLine, DiffLine> {
  const partners = new Map<DiffLine, DiffLine>()
  for (const { removed, added } of groupChanges(lines)) {
    for (let at = 0; at < Math.min(removed.length, added.length); at++) {
      const [one, other] = [removed[at] as DiffLine, added[at] as DiffLine]
      partners.set(one, other)
      partners.set(other, one)
    }
  }
  return partners
}
