/** The prompt without a screen: a key and a state give the next state, and maybe a text to send. */
import type { Completions } from "../chat-controller.js"
import { acceptCompletions, applyChosen, type CompletionList, chooseNext, isComplete } from "./completion.js"
import * as editing from "./editor.js"
import { type Editor, emptyEditor, fullText } from "./editor.js"
import { addToHistory, createHistory, type History, stepHistory } from "./history.js"
import type { Key } from "./keys.js"
import { layOut, moveByRow } from "./layout.js"

export interface PromptState {
  readonly editor: Editor
  readonly history: History
  readonly list: CompletionList | undefined
}

export interface PromptStep {
  readonly state: PromptState
  /** A text to send. */
  readonly sent?: string
  /** The key means nothing to the prompt: it is the screen's. */
  readonly isForeign?: true
  /** Completions are wanted for the text as it is now. */
  readonly isAsking?: true
}

/** Oldest first. */
export function createPromptState(sent: readonly string[] = []): PromptState {
  return { editor: emptyEditor, history: createHistory(sent), list: undefined }
}

/** `width`: columns for text. */
export function pressInPrompt(state: PromptState, key: Key, width: number): PromptStep {
  if (state.list !== undefined) {
    const step = pressInList(state, state.list, key)
    if (step !== undefined) return step
  }
  if (key.id === "tab") return { state, isAsking: true }
  if (key.id === "enter") return pressEnter(state)
  if (key.id === "up" || key.id === "ctrl-p") return { state: moveVertically(state, -1, width) }
  if (key.id === "down" || key.id === "ctrl-n") return { state: moveVertically(state, 1, width) }
  const editor = edit(state.editor, key)
  if (editor === undefined) return { state, isForeign: true }
  return withEditor(state, editor)
}

/** Completions that were asked for when the text was `asked`. */
export function offerCompletions(state: PromptState, offered: Completions, asked: Editor): PromptState {
  const list = acceptCompletions(state.list, offered, asked, state.editor)
  return list === state.list ? state : { ...state, list }
}

/** Puts a text in, as if it had been written; before what stands there already. */
export function fillPrompt(state: PromptState, text: string): PromptState {
  const { editor } = state
  const whole = editor.text === "" ? text : `${text}\n${fullText(editor)}`
  return { ...state, editor: editing.setText(editor, whole), list: undefined }
}

function pressInList(state: PromptState, list: CompletionList, key: Key): PromptStep | undefined {
  const choose = (by: number): PromptStep => ({ state: { ...state, list: chooseNext(list, by) } })
  if (key.id === "up" || key.id === "ctrl-p" || key.id === "shift-tab") return choose(-1)
  if (key.id === "down" || key.id === "ctrl-n") return choose(1)
  if (key.id === "escape") return { state: { ...state, list: undefined } }
  if (key.id !== "tab" && key.id !== "enter") return undefined
  if (key.id === "enter" && isComplete(state.editor, list)) return undefined
  return withEditor({ ...state, list: undefined }, applyChosen(state.editor, list))
}

function pressEnter(state: PromptState): PromptStep {
  const { editor } = state
  if (editor.text[editor.cursor - 1] === "\\") {
    return withEditor(state, editing.replaceRange(editor, editor.cursor - 1, editor.cursor, "\n"))
  }
  const text = fullText(editor).trimEnd()
  if (text.trim() === "") return { state: { ...state, list: undefined } }
  const history = addToHistory(state.history, text)
  return { state: { editor: { ...emptyEditor, killed: editor.killed }, history, list: undefined }, sent: text }
}

function moveVertically(state: PromptState, by: -1 | 1, width: number): PromptState {
  const place = moveByRow(layOut(state.editor, width), by)
  if (place !== undefined) return { ...state, editor: editing.moveTo(state.editor, place), list: undefined }
  const step = stepHistory(state.history, state.editor, by)
  return step === undefined ? state : { ...state, ...step, list: undefined }
}

function withEditor(state: PromptState, editor: Editor): PromptStep {
  const isChanged = editor.text !== state.editor.text || editor.cursor !== state.editor.cursor
  // the old list stays until the new one is there: it does not flicker while one writes
  const list = isChanged && !mayComplete(editor) ? undefined : state.list
  const next = { ...state, editor, list }
  return isChanged && mayComplete(editor) ? { state: next, isAsking: true } : { state: next }
}

/** Only a command or a word with an `@` is asked about by itself; for the rest there is Tab. */
function mayComplete({ text, cursor }: Editor): boolean {
  const before = text.slice(0, cursor)
  return /^\/[^\n]*$/.test(before) || /(?:^|\s)@\S*$/.test(before)
}

const edits: Readonly<Record<string, (editor: Editor) => Editor>> = {
  "alt-enter": editing.insertNewline,
  "shift-enter": editing.insertNewline,
  "ctrl-enter": editing.insertNewline,
  "ctrl-j": editing.insertNewline,
  left: editing.moveLeft,
  "ctrl-b": editing.moveLeft,
  right: editing.moveRight,
  "ctrl-f": editing.moveRight,
  "ctrl-left": editing.moveWordLeft,
  "alt-left": editing.moveWordLeft,
  "alt-b": editing.moveWordLeft,
  "ctrl-right": editing.moveWordRight,
  "alt-right": editing.moveWordRight,
  "alt-f": editing.moveWordRight,
  home: editing.moveLineStart,
  "ctrl-a": editing.moveLineStart,
  end: editing.moveLineEnd,
  "ctrl-e": editing.moveLineEnd,
  backspace: editing.deleteLeft,
  "shift-backspace": editing.deleteLeft,
  delete: editing.deleteRight,
  "ctrl-w": editing.killWordLeft,
  "alt-backspace": editing.killWordLeft,
  "ctrl-backspace": editing.killWordLeft,
  "alt-d": editing.killWordRight,
  "ctrl-delete": editing.killWordRight,
  "alt-delete": editing.killWordRight,
  "ctrl-u": editing.killToStart,
  "ctrl-k": editing.killToEnd,
  "ctrl-y": editing.yank,
  "ctrl-_": editing.undo,
  "ctrl-z": editing.undo,
}

function edit(editor: Editor, key: Key): Editor | undefined {
  if (key.id === "text") return editing.insertText(editor, key.text)
  if (key.id === "paste") return editing.pasteText(editor, key.text)
  if (key.id === "ctrl-d") return editor.text === "" ? undefined : editing.deleteRight(editor)
  return edits[key.id]?.(editor)
}
