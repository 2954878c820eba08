/** Where each character of the text being written stands on the screen, and where the cursor goes on up and down. */
import { cut, textWidth } from "../../output/text.js"
import { foldLabel } from "./editor.js"
import { splitGraphemes } from "./graphemes.js"

export interface Cell {
  /** What is drawn. */
  readonly shown: string
  readonly width: number
  /** Place in the text. */
  readonly at: number
  readonly isFold: boolean
}

export interface Row {
  readonly cells: readonly Cell[]
  readonly start: number
  /** Where the cursor stands at its end. */
  readonly end: number
}

export interface Layout {
  readonly rows: readonly Row[]
  readonly cursorRow: number
  readonly cursorColumn: number
}

export interface LayoutInput {
  readonly text: string
  readonly cursor: number
  readonly folds: readonly string[]
}

/** No row is wider than `width`; the cursor after a full row stands on the next one. */
export function layOut({ text, cursor, folds }: LayoutInput, width: number): Layout {
  const room = Math.max(2, width)
  const rows: Row[] = []
  let start = 0
  for (const line of text.split("\n")) {
    rows.push(...layOutLine(line, start, folds, room))
    start += line.length + 1
  }
  let cursorRow = rows.length - 1
  while (cursorRow > 0 && (rows[cursorRow] as Row).start > cursor) cursorRow--
  const row = rows[cursorRow] as Row
  const cursorColumn = row.cells.reduce((sum, cell) => (cell.at < cursor ? sum + cell.width : sum), 0)
  return { rows, cursorRow, cursorColumn }
}

function layOutLine(line: string, start: number, folds: readonly string[], room: number): Row[] {
  const rows: Row[] = []
  let cells: Cell[] = []
  let used = 0
  let at = start
  let rowStart = start
  const close = () => {
    rows.push({ cells, start: rowStart, end: at })
    cells = []
    used = 0
    rowStart = at
  }
  for (const character of splitGraphemes(line)) {
    const label = foldLabel(character, folds)
    const shown = cut(label ?? (character === "\t" ? "  " : character), room)
    const width = textWidth(shown)
    if (used + width > room) close()
    cells.push({ shown, width, at, isFold: label !== undefined })
    used += width
    at += character.length
    if (used >= room) close()
  }
  if (cells.length > 0 || rows.length === 0 || used === 0) close()
  return rows
}

/** The place one row up (-1) or down (1) in the same column; nothing where there is no such row. */
export function moveByRow(layout: Layout, by: -1 | 1): number | undefined {
  const row = layout.rows[layout.cursorRow + by]
  if (row === undefined) return undefined
  let column = 0
  for (const cell of row.cells) {
    if (column + cell.width > layout.cursorColumn) return cell.at
    column += cell.width
  }
  const isCut = layout.rows[layout.cursorRow + by + 1]?.start === row.end
  return isCut ? (row.cells.at(-1)?.at ?? row.start) : row.end
}
