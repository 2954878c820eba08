/** What could be meant by the word being written: a command after `/` at the start, or a file after `@`. */
import { type Editor, replaceRange } from "./editor.js"

export interface Candidate {
  /** What is put in, without `/` or `@`. */
  readonly value: string
  /** Shown beside it: what a command does. */
  readonly hint: string
  /** A command that needs nothing more is run when it is chosen. */
  readonly isWhole: boolean
}

/** A command as the help and the completion show it. */
export interface CommandHint {
  readonly name: string
  /** What follows the name: `<#>`, `[name]`; empty when nothing does. */
  readonly usage: string
  readonly summary: string
}

export interface CompletionSource {
  readonly commands: readonly CommandHint[]
  /** Paths from the workspace's root. */
  readonly files: readonly string[]
}

export interface Completion {
  readonly kind: "command" | "file"
  /** The word's place in the text, with its mark. */
  readonly from: number
  readonly to: number
  readonly query: string
  readonly candidates: readonly Candidate[]
}

const mostCandidates = 50

export function findCompletion({ text, cursor }: Editor, source: CompletionSource): Completion | undefined {
  const before = text.slice(0, cursor)
  const command = /^\/([\w-]*)$/.exec(before)
  if (command !== null) {
    const query = command[1] as string
    const candidates = rank(query, source.commands, ({ name }) => name).map(({ name, usage, summary }) => ({
      value: name,
      hint: summary,
      isWhole: !usage.startsWith("<"),
    }))
    return candidates.length === 0 ? undefined : { kind: "command", from: 0, to: cursor, query, candidates }
  }
  const file = /(?:^|[\s([{"'])@([^\s@]*)$/.exec(before)
  if (file === null) return undefined
  const query = file[1] as string
  const candidates = rank(query, source.files, (path) => path).map((value) => ({ value, hint: "", isWhole: false }))
  return candidates.length === 0
    ? undefined
    : { kind: "file", from: cursor - query.length - 1, to: cursor, query, candidates }
}

/** The text with the candidate in place of the word, and a space after it. */
export function applyCandidate(editor: Editor, completion: Completion, candidate: Candidate): Editor {
  const mark = completion.kind === "command" ? "/" : "@"
  const follows = editor.text[completion.to] === " " ? "" : " "
  const value = /\s/.test(candidate.value) ? `"${candidate.value}"` : candidate.value
  return replaceRange(editor, completion.from, completion.to, `${mark}${value}${follows}`)
}

/** The best first: the same, then beginning with it, then a part's beginning, then holding it, then its letters in order. */
function rank<Item>(query: string, items: readonly Item[], nameOf: (item: Item) => string): Item[] {
  const wanted = query.toLowerCase()
  const found: { readonly item: Item; readonly score: number; readonly name: string }[] = []
  for (const item of items) {
    const name = nameOf(item)
    const score = scoreOf(wanted, name.toLowerCase())
    if (score !== undefined) found.push({ item, score, name })
  }
  found.sort((a, b) => a.score - b.score || a.name.length - b.name.length || (a.name < b.name ? -1 : 1))
  const shown = wanted === "" ? items.slice(0, mostCandidates) : found.slice(0, mostCandidates).map(({ item }) => item)
  return shown
}

function scoreOf(wanted: string, name: string): number | undefined {
  if (name === wanted) return 0
  if (name.startsWith(wanted)) return 1
  if (name.slice(name.lastIndexOf("/") + 1).startsWith(wanted)) return 2
  if (name.includes(wanted)) return 3
  let at = 0
  for (const letter of wanted) {
    at = name.indexOf(letter, at) + 1
    if (at === 0) return undefined
  }
  return 4
}
