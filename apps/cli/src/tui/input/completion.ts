/** The list of what may stand at the cursor, and which one is chosen. */
import type { CompletionOption, Completions } from "../chat-controller.js"
import { type Editor, replaceRange } from "./editor.js"

export interface CompletionList extends Completions {
  readonly chosen: number
}

/** An answer that came for another text is no answer; an empty one closes the list. */
export function acceptCompletions(
  before: CompletionList | undefined,
  offered: Completions,
  asked: Editor,
  now: Editor,
): CompletionList | undefined {
  if (asked.text !== now.text || asked.cursor !== now.cursor) return before
  if (offered.options.length === 0) return undefined
  const kept = before?.options[before.chosen]?.value
  const chosen = offered.options.findIndex(({ value }) => value === kept)
  return { ...offered, chosen: Math.max(0, chosen) }
}

export function chooseNext(list: CompletionList, by: number): CompletionList {
  const count = list.options.length
  return { ...list, chosen: (list.chosen + by + count) % count }
}

/** The text with the chosen option in place of the word. */
export function applyChosen(editor: Editor, list: CompletionList): Editor {
  const { value } = list.options[list.chosen] as CompletionOption
  return replaceRange(editor, list.from, list.to, value)
}

/** Nothing is left to complete: the word is empty, or is one of the options already. */
export function isComplete({ text }: Editor, list: CompletionList): boolean {
  const word = text.slice(list.from, list.to).trim()
  return word === "" || list.options.some(({ value }) => value.trim() === word)
}
