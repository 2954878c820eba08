/** What the user has to decide, in place: what it is about, as much of it as fits, and the keys. */
import { cut, oneLine, type Styles } from "../../output/text.js"
import { renderPatch, renderPlain } from "../render/patch.js"
import type { Question } from "../state/chat-state.js"
import { plainLines } from "./item-lines.js"

export interface QuestionRoom {
  readonly columns: number
  /** Lines it may take. */
  readonly height: number
  /** Lines of the detail that were scrolled away. */
  readonly scroll: number
}

export interface QuestionLines {
  readonly lines: readonly string[]
  /** As far as one can scroll. */
  readonly furthest: number
}

export function renderQuestion(
  question: Question,
  { columns, height, scroll }: QuestionRoom,
  styles: Styles,
): QuestionLines {
  const bar = styles.magenta("┃ ")
  const width = Math.max(8, columns - 4)
  const title = plainLines(question.title, width)
    .slice(0, 3)
    .map((line) => styles.bold(line))
  const choices = wrapChoices(question, width, styles)
  const detail =
    question.detail.trim() === ""
      ? []
      : question.detailFormat === "patch"
        ? renderPatch(question.detail, width, styles.isOn)
        : renderPlain(question.detail, width)
  const room = Math.max(1, height - title.length - choices.length - 1)
  const isCut = detail.length > room
  const shownCount = isCut ? Math.max(1, room - 1) : detail.length
  const furthest = Math.max(0, detail.length - shownCount)
  const from = Math.min(scroll, furthest)
  const shown = detail.slice(from, from + shownCount)
  const left = detail.length - from - shown.length
  const more = isCut
    ? [styles.dim(cut(`${left === 0 ? "the end" : `… ${left} more lines`}, up and down scroll`, width))]
    : []
  const lines = [...title, ...shown, ...more, "", ...choices]
  return { lines: lines.map((line) => `${bar}${line}`.trimEnd()), furthest }
}

function wrapChoices({ choices, fallback }: Question, width: number, styles: Styles): string[] {
  const lines: string[] = []
  let used = 0
  for (const { key, label } of choices) {
    const text = `${key} ${oneLine(label)}${key === fallback ? " (Esc)" : ""}`
    const painted = `${styles.cyan(styles.bold(key))} ${oneLine(label)}${key === fallback ? styles.dim(" (Esc)") : ""}`
    if (lines.length > 0 && used + 3 + text.length <= width) {
      lines[lines.length - 1] += `   ${painted}`
      used += 3 + text.length
    } else {
      lines.push(painted)
      used = text.length
    }
  }
  return lines
}
