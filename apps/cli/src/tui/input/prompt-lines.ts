/** The prompt as lines: the text with its cursor, a hint where there is none, and the list of what could be meant. */
import { cut, oneLine, pad, type Styles, textWidth } from "../../output/text.js"
import type { CompletionList } from "./completion.js"
import type { Editor } from "./editor.js"
import { type Cell, layOut, type Row } from "./layout.js"

export interface PromptRoom {
  readonly columns: number
  /** Rows for the text; more of it is scrolled to the cursor. */
  readonly height: number
}

/** Columns for text: the mark takes two, and one stays free for the cursor. */
export function promptColumns(columns: number): number {
  return Math.max(4, columns - 3)
}

export function renderPrompt(editor: Editor, { columns, height }: PromptRoom, styles: Styles): string[] {
  const mark = styles.cyan("> ")
  if (editor.text === "") {
    const hint = "Ask something, / for commands, @ for files"
    return [`${mark}${invert(" ")}${styles.dim(cut(hint, promptColumns(columns) - 1))}`]
  }
  const layout = layOut(editor, promptColumns(columns))
  const from = Math.max(0, Math.min(layout.cursorRow - Math.floor(height / 2), layout.rows.length - height))
  return layout.rows.slice(from, from + height).map((row, at) => {
    const hasCursor = from + at === layout.cursorRow
    return `${from + at === 0 ? mark : "  "}${renderRow(row, hasCursor ? editor.cursor : undefined, styles)}`
  })
}

function renderRow({ cells, end }: Row, cursor: number | undefined, styles: Styles): string {
  const draw = (cell: Cell) => {
    if (cell.at === cursor) return invert(cell.shown)
    return cell.isFold ? styles.dim(cell.shown) : cell.shown
  }
  const text = cells.map(draw).join("")
  const isAtEnd = cursor !== undefined && cursor >= end && !cells.some(({ at }) => at === cursor)
  return isAtEnd ? `${text}${invert(" ")}` : text
}

/** The cursor is no colour: it stays where colours are off. */
function invert(text: string): string {
  return `\u001b[7m${text}\u001b[27m`
}

export function renderList(
  { options, chosen }: CompletionList,
  { columns, height }: PromptRoom,
  styles: Styles,
): string[] {
  const from = Math.max(0, Math.min(chosen - Math.floor(height / 2), options.length - height))
  const shown = options.slice(from, from + height)
  const widest = Math.max(...shown.map(({ label }) => textWidth(oneLine(label))))
  const width = Math.min(widest, Math.max(8, columns - 4))
  return shown.map(({ label, detail }, at) => {
    const isChosen = from + at === chosen
    const name = pad(cut(oneLine(label), width), width)
    const more = columns - width - 7 >= 12 ? `  ${styles.dim(cut(oneLine(detail), columns - width - 7))}` : ""
    return `${isChosen ? "> " : "  "}${isChosen ? styles.cyan(styles.bold(name)) : name}${more}`.trimEnd()
  })
}
