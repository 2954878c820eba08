/**
 * Styled text before it has a width: spans, broken into lines that never exceed one. What others wrote is made harmless
 * here, once: no control character of theirs reaches the terminal.
 */
import { manyLines, textWidth } from "../../output/text.js"
import { splitGraphemes } from "../input/graphemes.js"

export type Style = "plain" | "bold" | "dim" | "italic" | "code" | "link" | "strong" | "added" | "removed"

export interface Span {
  readonly text: string
  readonly style: Style
}

/** Colours and movements of others are taken out whole, other control characters are shown, tabs become spaces. */
export function neutralise(text: string): string {
  return manyLines(
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: whole sequences are to go
      .replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*\u001b\\)/g, "")
      .replace(/\r\n?/g, "\n")
      .replace(/[\u2028\u2029]/g, "\n"),
  ).replaceAll("\t", "    ")
}

/** Breaks spans at spaces, and words longer than a line anywhere. Later lines begin with `indent` columns of space. */
export function wrapSpans(spans: readonly Span[], width: number, indent = 0): Span[][] {
  const room = Math.max(2, width)
  const lead = Math.min(indent, Math.max(0, room - 8))
  const lines: Span[][] = [[]]
  let used = 0
  let pending: { span: Span; width: number } | undefined
  const add = (span: Span) => {
    const line = lines.at(-1) as Span[]
    const last = line.at(-1)
    if (last !== undefined && last.style === span.style)
      line[line.length - 1] = { ...last, text: last.text + span.text }
    else line.push(span)
  }
  const breakLine = () => {
    lines.push(lead > 0 ? [{ text: " ".repeat(lead), style: "plain" }] : [])
    used = lead
    pending = undefined
  }
  for (const word of splitWords(spans)) {
    const wide = word.reduce((sum, { text }) => sum + textWidth(text), 0)
    if (word[0]?.text.trim() === "" && word.length === 1) {
      pending = { span: word[0], width: wide }
      continue
    }
    const isFirst = used === (lines.length === 1 ? 0 : lead)
    if (pending !== undefined && (!isFirst || lines.length === 1)) {
      if (used + pending.width + Math.min(wide, room - lead) > room) breakLine()
      else {
        add(pending.span)
        used += pending.width
      }
    }
    pending = undefined
    if (used + wide > room && used > (lines.length === 1 ? 0 : lead) && wide <= room - lead) breakLine()
    if (used + wide <= room) {
      for (const span of word) add(span)
      used += wide
      continue
    }
    for (const { text, style } of word) {
      for (const character of splitGraphemes(text)) {
        const one = textWidth(character)
        if (used + one > room) breakLine()
        add({ text: character, style })
        used += one
      }
    }
  }
  return lines
}

/** Runs of spaces, and words: a word may change its style in the middle. */
function splitWords(spans: readonly Span[]): Span[][] {
  const words: Span[][] = []
  let isOpen = false
  for (const { text, style } of spans) {
    for (const part of text.split(/( +)/)) {
      if (part === "") continue
      const isSpace = part.startsWith(" ")
      if (!isSpace && isOpen) words.at(-1)?.push({ text: part, style })
      else words.push([{ text: part, style }])
      isOpen = !isSpace
    }
  }
  return words
}

/** Breaks one line that must keep its spaces: code, diffs, output. */
export function chopLine(text: string, width: number): string[] {
  const room = Math.max(2, width)
  if (text.length <= room && textWidth(text) <= room) return [text]
  const lines: string[] = []
  if (/^[\x20-\x7e]*$/.test(text)) {
    for (let from = 0; from < text.length; from += room) lines.push(text.slice(from, from + room))
    return lines
  }
  let line = ""
  let used = 0
  for (const character of splitGraphemes(text)) {
    const one = textWidth(character)
    if (used + one > room) {
      lines.push(line)
      line = ""
      used = 0
    }
    line += character
    used += one
  }
  return [...lines, line]
}

const codes: Readonly<Record<Style, readonly [number, number] | undefined>> = {
  plain: undefined,
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  code: [36, 39],
  link: [4, 24],
  strong: [1, 22],
  added: [32, 39],
  removed: [31, 39],
}

export function paintSpans(spans: readonly Span[], isColoured: boolean): string {
  return spans
    .map(({ text, style }) => {
      const code = isColoured ? codes[style] : undefined
      return code === undefined || text === "" ? text : `\u001b[${code[0]}m${text}\u001b[${code[1]}m`
    })
    .join("")
}
