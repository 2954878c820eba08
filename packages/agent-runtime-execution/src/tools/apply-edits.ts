/** Replaces exact pieces of a text. Pure. */
import { KeepupError } from "@ku0/agent-runtime-core"

export interface TextEdit {
  readonly oldText: string
  readonly newText: string
  /** Replace every place, not exactly one. */
  readonly replaceAll?: boolean | null
}

/** The text after the edits, one after another. An edit that fits nowhere, or in too many places, refuses all. */
export function applyEdits(text: string, edits: readonly TextEdit[], path: string): string {
  return edits.reduce((current, edit, index) => applyEdit(current, edit, path, index + 1), text)
}

function applyEdit(text: string, { oldText, newText, replaceAll }: TextEdit, path: string, number: number): string {
  const refuse = (what: string, hint: string): KeepupError =>
    new KeepupError("INVALID_INPUT", `Edit ${number} of ${path}: ${what}. Nothing was changed.`, { hint })
  if (oldText === "") throw refuse("oldText is empty", "Use write_file to make a file.")
  if (oldText === newText) throw refuse("oldText and newText are the same", "Leave the edit out.")
  const parts = text.split(oldText)
  if (parts.length === 1) {
    const hint =
      text.includes("\r\n") && !oldText.includes("\r\n") ? "The file has CRLF line ends." : "Read the file again."
    throw refuse("oldText was not found", hint)
  }
  if (parts.length > 2 && replaceAll !== true) {
    throw refuse(`oldText was found ${parts.length - 1} times`, "Give more of the text around it, or set replaceAll.")
  }
  return parts.join(newText)
}
