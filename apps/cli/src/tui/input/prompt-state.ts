/** The prompt without a screen: a key and a state give the next state, and maybe a text to send. */
import { applyCandidate, type Candidate, type Completion, type CompletionSource, findCompletion } from "./completion.js"
import * as editing from "./editor.js"
import { type Editor, emptyEditor, fullText } from "./editor.js"
import { addToHistory, createHistory, type History, stepHistory } from "./history.js"
import type { Key } from "./keys.js"
import { layOut, moveByRow } from "./layout.js"

export interface PromptState {
  readonly editor: Editor
  readonly history: History
  readonly completion: Completion | undefined
  /** The candidate that Tab or Enter takes. */
  readonly chosen: number
  /** Escape closed the list: it stays closed until the word is another. */
  readonly isClosed: boolean
}

export interface PromptSurroundings {
  /** Columns for text. */
  readonly width: number
  readonly source: CompletionSource
}

export interface PromptStep {
  readonly state: PromptState
  /** A text to send. */
  readonly sent?: string
  /** The key means nothing to the prompt: it is the screen's. */
  readonly isForeign?: true
}

export function createPromptState(sent: readonly string[] = []): PromptState {
  return { editor: emptyEditor, history: createHistory(sent), completion: undefined, chosen: 0, isClosed: false }
}

export function pressInPrompt(state: PromptState, key: Key, around: PromptSurroundings): PromptStep {
  if (state.completion !== undefined) {
    const step = pressInList(state, state.completion, key)
    if (step !== undefined) return step
  }
  if (key.id === "enter") return pressEnter(state, around)
  if (key.id === "up" || key.id === "ctrl-p") return { state: moveVertically(state, -1, around) }
  if (key.id === "down" || key.id === "ctrl-n") return { state: moveVertically(state, 1, around) }
  const editor = edit(state.editor, key)
  if (editor === undefined) return { state, isForeign: true }
  return { state: withEditor(state, editor, around) }
}

/** Puts a text in, as if it had been written. */
export function fillPrompt(state: PromptState, text: string): PromptState {
  return { ...state, editor: editing.setText(state.editor, text), completion: undefined }
}

function pressInList(state: PromptState, completion: Completion, key: Key): PromptStep | undefined {
  const count = completion.candidates.length
  const choose = (by: number): PromptStep => ({ state: { ...state, chosen: (state.chosen + by + count) % count } })
  if (key.id === "up" || key.id === "ctrl-p" || key.id === "shift-tab") return choose(-1)
  if (key.id === "down" || key.id === "ctrl-n") return choose(1)
  if (key.id === "escape") return { state: { ...state, completion: undefined, isClosed: true } }
  if (key.id !== "tab" && key.id !== "enter") return undefined
  const candidate = completion.candidates[state.chosen] as Candidate
  const isTyped = candidate.value === completion.query
  if (key.id === "enter" && completion.kind === "command" && (isTyped || candidate.isWhole)) {
    const rest = state.editor.text.slice(completion.to)
    return send(state, `/${candidate.value}${rest}`)
  }
  const editor = applyCandidate(state.editor, completion, candidate)
  return { state: { ...state, editor, completion: undefined, chosen: 0 } }
}

function pressEnter(state: PromptState, around: PromptSurroundings): PromptStep {
  const { editor } = state
  if (editor.text[editor.cursor - 1] === "\\") {
    return { state: withEditor(state, editing.replaceRange(editor, editor.cursor - 1, editor.cursor, "\n"), around) }
  }
  const text = fullText(editor)
  return text.trim() === "" ? { state } : send(state, text)
}

function send(state: PromptState, text: string): PromptStep {
  const history = addToHistory(state.history, text.trimEnd())
  const editor = { ...emptyEditor, killed: state.editor.killed }
  return { state: { editor, history, completion: undefined, chosen: 0, isClosed: false }, sent: text.trimEnd() }
}

function moveVertically(state: PromptState, by: -1 | 1, around: PromptSurroundings): PromptState {
  const place = moveByRow(layOut(state.editor, around.width), by)
  if (place !== undefined) return withEditor(state, editing.moveTo(state.editor, place), around)
  const step = stepHistory(state.history, state.editor, by)
  return step === undefined ? state : { ...state, ...step, completion: undefined, chosen: 0 }
}

function withEditor(state: PromptState, editor: Editor, around: PromptSurroundings): PromptState {
  const found = findCompletion(editor, around.source)
  const isSame = found !== undefined && state.completion?.query === found.query
  const isClosed = state.isClosed && found !== undefined
  return { ...state, editor, completion: isClosed ? undefined : found, chosen: isSame ? state.chosen : 0, isClosed }
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
