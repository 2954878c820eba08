/** Tables that fit: when the terminal is too narrow, the columns that may shrink do, and cells are cut with an ellipsis. */
import { cut, pad, type Styles, textWidth } from "./text.js"

export interface Column {
  readonly title: string
  readonly align?: "left" | "right"
  /** May be cut down to this many columns. */
  readonly shrinksTo?: number
  /** How a cell is cut; at its end unless told. */
  readonly cut?: (text: string, width: number) => string
  /** Dropped first, the highest number first, when nothing else helps. */
  readonly dispensable?: number
  /** Colours a padded cell. */
  readonly paint?: (cell: string, row: number) => string
}

export interface TableOptions {
  readonly columns: readonly Column[]
  readonly rows: readonly (readonly string[])[]
  /** Columns of the terminal; `Infinity` for a pipe. */
  readonly width: number
  readonly styles: Styles
  readonly separator?: string
}

export function renderTable(options: TableOptions): string {
  const { rows, styles } = options
  const separator = options.separator ?? "  "
  const shown = fit(options, separator)
  const line = (cells: readonly string[], paint: (text: string, column: Column) => string) =>
    shown
      .map(({ column, at, width }, place) => {
        const cell = (column.cut ?? cut)(cells[at] ?? "", width)
        const isLast = place === shown.length - 1 && column.align !== "right"
        return paint(isLast ? cell : pad(cell, width, column.align), column)
      })
      .join(styles.dim(separator))
      .trimEnd()
  const titles = options.columns.map(({ title }) => title)
  return [
    line(titles, (text) => styles.bold(text)),
    ...rows.map((cells, row) => line(cells, (text, { paint }) => paint?.(text, row) ?? text)),
  ].join("\n")
}

interface FittedColumn {
  readonly column: Column
  readonly at: number
  readonly width: number
}

function fit({ columns, rows, width }: TableOptions, separator: string): FittedColumn[] {
  let shown: FittedColumn[] = columns.map((column, at) => ({
    column,
    at,
    width: Math.max(textWidth(column.title), ...rows.map((cells) => textWidth(cells[at] ?? ""))),
  }))
  const excess = () => shown.reduce((sum, one) => sum + one.width, (shown.length - 1) * separator.length) - width
  while (excess() > 0) {
    const most = shown.filter(canShrink).sort((a, b) => b.width - a.width)[0]
    if (most !== undefined) {
      const width = Math.max(most.column.shrinksTo as number, most.width - excess())
      shown = shown.map((one) => (one === most ? { ...one, width } : one))
      continue
    }
    const [least] = shown
      .filter(({ column }) => column.dispensable !== undefined)
      .sort((a, b) => (b.column.dispensable as number) - (a.column.dispensable as number))
    if (least === undefined) break
    shown = shown.filter((one) => one !== least)
  }
  return shown
}

function canShrink({ column, width }: FittedColumn): boolean {
  return column.shrinksTo !== undefined && width > Math.max(column.shrinksTo, 1)
}
