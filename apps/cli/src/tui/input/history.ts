/** Going through what was sent before. What was being written is kept, and comes back below the newest. */
import { type Editor, emptyEditor, setText } from "./editor.js"

export interface History {
  /** Oldest first. */
  readonly sent: readonly string[]
  /** The one shown; as many as were sent means: the draft. */
  readonly at: number
  readonly draft: Editor
}

export function createHistory(sent: readonly string[]): History {
  return { sent, at: sent.length, draft: emptyEditor }
}

export interface HistoryStep {
  readonly history: History
  readonly editor: Editor
}

/** Nothing where there is nothing older or newer. */
export function stepHistory(history: History, editor: Editor, by: -1 | 1): HistoryStep | undefined {
  const at = history.at + by
  if (at < 0 || at > history.sent.length) return undefined
  const draft = history.at === history.sent.length ? editor : history.draft
  if (at === history.sent.length) return { history: { ...history, at }, editor: draft }
  const shown = setText({ ...emptyEditor, killed: editor.killed }, history.sent[at] as string)
  return { history: { ...history, at, draft }, editor: { ...shown, past: [] } }
}

/** The same text twice in a row is kept once. */
export function addToHistory(history: History, text: string, most = 1_000): History {
  const sent = history.sent.at(-1) === text ? history.sent : [...history.sent, text].slice(-most)
  return createHistory(sent)
}
