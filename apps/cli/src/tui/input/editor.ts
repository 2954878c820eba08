/**
 * The text being written, and every way to change it. Pure: each call returns the next state. The cursor always stands on
 * the border of a character. A long paste is kept aside and stands in the text as one character that is drawn as a label.
 */
import { thousands } from "../../output/text.js"
import { borderAt, nextBorder, nextWord, previousBorder, previousWord } from "./graphemes.js"

export interface Editor {
  readonly text: string
  readonly cursor: number
  /** Long pastes, in the order they came. */
  readonly folds: readonly string[]
  /** What was cut last; `yank` puts it back. */
  readonly killed: string
  /** Texts to go back to, the newest last. */
  readonly past: readonly Moment[]
  /** The kind of the last change: typing goes back as one. */
  readonly last: "type" | "kill" | "other"
}

interface Moment {
  readonly text: string
  readonly cursor: number
}

export const emptyEditor: Editor = { text: "", cursor: 0, folds: [], killed: "", past: [], last: "other" }

const mostMoments = 200
/** A paste is folded from this many characters or lines on. */
const foldFrom = { characters: 1_000, lines: 8 }
/** Folds are characters of the last private plane, which no one types. */
const firstFold = 0x100000
const foldPattern = /[\u{100000}-\u{10ffff}]/gu

export function insertText(editor: Editor, text: string): Editor {
  return put(editor, clean(text), "type")
}

export function insertNewline(editor: Editor): Editor {
  return put(editor, "\n", "other")
}

export function pasteText(editor: Editor, pasted: string): Editor {
  const text = clean(pasted)
  const isLong = text.length >= foldFrom.characters || text.split("\n", foldFrom.lines + 1).length > foldFrom.lines
  if (!isLong) return put(editor, text, "other")
  const fold = String.fromCodePoint(firstFold + editor.folds.length)
  return { ...put(editor, fold, "other"), folds: [...editor.folds, text] }
}

/** The whole text, pastes unfolded: what is sent. */
export function fullText({ text, folds }: Editor): string {
  return text.replace(foldPattern, (fold) => folds[foldNumber(fold)] ?? "")
}

/** The label of a folded paste; nothing for another character. */
export function foldLabel(character: string, folds: readonly string[]): string | undefined {
  const folded = folds[foldNumber(character)]
  if (folded === undefined) return undefined
  const lines = folded.split("\n").length
  return lines > 1 ? `[pasted ${thousands(lines)} lines]` : `[pasted ${thousands(folded.length)} characters]`
}

export function setText(editor: Editor, text: string): Editor {
  return { ...remember(editor, "other"), text: clean(text), cursor: clean(text).length }
}

export function moveTo(editor: Editor, at: number): Editor {
  return { ...editor, cursor: borderAt(editor.text, at), last: "other" }
}

export function moveLeft(editor: Editor): Editor {
  return moveTo(editor, previousBorder(editor.text, editor.cursor))
}

export function moveRight(editor: Editor): Editor {
  return moveTo(editor, nextBorder(editor.text, editor.cursor))
}

export function moveWordLeft(editor: Editor): Editor {
  return moveTo(editor, previousWord(editor.text, editor.cursor))
}

export function moveWordRight(editor: Editor): Editor {
  return moveTo(editor, nextWord(editor.text, editor.cursor))
}

export function moveLineStart(editor: Editor): Editor {
  return moveTo(editor, lineStart(editor))
}

export function moveLineEnd(editor: Editor): Editor {
  return moveTo(editor, lineEnd(editor))
}

export function deleteLeft(editor: Editor): Editor {
  return remove(editor, previousBorder(editor.text, editor.cursor), editor.cursor, "other")
}

export function deleteRight(editor: Editor): Editor {
  return remove(editor, editor.cursor, nextBorder(editor.text, editor.cursor), "other")
}

export function killWordLeft(editor: Editor): Editor {
  return remove(editor, previousWord(editor.text, editor.cursor), editor.cursor, "kill")
}

export function killWordRight(editor: Editor): Editor {
  return remove(editor, editor.cursor, nextWord(editor.text, editor.cursor), "kill")
}

/** To the start of the line; at its start, the line break before it. */
export function killToStart(editor: Editor): Editor {
  const start = lineStart(editor)
  return remove(editor, start === editor.cursor ? Math.max(0, start - 1) : start, editor.cursor, "kill")
}

export function killToEnd(editor: Editor): Editor {
  const end = lineEnd(editor)
  return remove(editor, editor.cursor, end === editor.cursor ? Math.min(editor.text.length, end + 1) : end, "kill")
}

/** Puts back what was cut last. */
export function yank(editor: Editor): Editor {
  return put(editor, editor.killed, "other")
}

/** Takes the last change back: what was cut, typed in one go, or pasted. */
export function undo(editor: Editor): Editor {
  const before = editor.past.at(-1)
  return before === undefined ? editor : { ...editor, ...before, past: editor.past.slice(0, -1), last: "other" }
}

/** Replaces a part of the text; the cursor stands after it. */
export function replaceRange(editor: Editor, from: number, to: number, text: string): Editor {
  const next = editor.text.slice(0, from) + clean(text) + editor.text.slice(to)
  return { ...remember(editor, "other"), text: next, cursor: borderAt(next, from + clean(text).length) }
}

function put(editor: Editor, text: string, kind: Editor["last"]): Editor {
  if (text === "") return editor
  const isSameRun = kind === "type" && editor.last === "type" && !/\s/.test(text)
  const next = editor.text.slice(0, editor.cursor) + text + editor.text.slice(editor.cursor)
  const base = isSameRun ? editor : remember(editor, kind)
  return { ...base, text: next, cursor: borderAt(next, editor.cursor + text.length) }
}

function remove(editor: Editor, from: number, to: number, kind: Editor["last"]): Editor {
  if (from === to) return editor
  const text = editor.text.slice(0, from) + editor.text.slice(to)
  const killed = kind === "kill" ? editor.text.slice(from, to) : editor.killed
  return { ...remember(editor, kind), text, cursor: borderAt(text, from), killed }
}

function remember(editor: Editor, last: Editor["last"]): Editor {
  const { text, cursor, past } = editor
  return { ...editor, past: [...past.slice(-mostMoments + 1), { text, cursor }], last }
}

function lineStart({ text, cursor }: Editor): number {
  return cursor === 0 ? 0 : text.lastIndexOf("\n", cursor - 1) + 1
}

function lineEnd({ text, cursor }: Editor): number {
  const end = text.indexOf("\n", cursor)
  return end < 0 ? text.length : end
}

function foldNumber(character: string): number {
  return (character.codePointAt(0) ?? 0) - firstFold
}

/** Line breaks of every kind become ours; what a terminal would obey, and characters that mean a fold, go. */
function clean(text: string): string {
  return (
    text
      .replace(/\r\n?/g, "\n")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are to go
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u{100000}-\u{10ffff}]/gu, "")
  )
}
