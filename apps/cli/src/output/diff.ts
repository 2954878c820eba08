/** Differences of files: a patch with colours, or a line for each file with its counts. */
import type { FileChange, FileStatus } from "@ku0/agent-runtime"
import { cut, manyLines, oneLine, pad, plural, type Styles, textWidth } from "./text.js"

/**
 * Colours a unified diff as git does; a terminal obeys nothing in it, and gets short ids. Into a pipe without colours it
 * stays byte for byte what it was, so that git can apply it.
 */
export function paintPatch(patch: Buffer, styles: Styles, isTerminal: boolean): string | Buffer {
  if (!styles.isOn && !isTerminal) return patch
  let isHeader = false
  return patch
    .toString("utf8")
    .split("\n")
    .map((line) => {
      if (line.startsWith("diff --git ")) isHeader = true
      else if (line.startsWith("@@")) isHeader = false
      const text = manyLines(line)
      if (isHeader) return styles.bold(text.replace(/^(index [0-9a-f]{7})[0-9a-f]+(\.\.[0-9a-f]{7})[0-9a-f]+/, "$1$2"))
      const hunk = /^(@@ .*? @@)(.*)$/.exec(text)
      if (hunk) return styles.cyan(hunk[1] as string) + (hunk[2] as string)
      if (text.startsWith("+")) return styles.green(text)
      return text.startsWith("-") ? styles.red(text) : text
    })
    .join("\n")
}

const letters: Readonly<Record<FileStatus, string>> = {
  added: "A",
  modified: "M",
  deleted: "D",
  renamed: "R",
  mode: "m",
  type: "T",
}

/** One line for each file, with bars as `git diff --stat` has them. */
export function renderStat(changes: readonly FileChange[], width: number, styles: Styles): string {
  if (changes.length === 0) return "No differences."
  const counts = changes.map(({ insertions, deletions, binary }) => (binary ? "bin" : `${insertions + deletions}`))
  const counted = Math.max(...counts.map((count) => count.length))
  const limit = Number.isFinite(width) ? width : 100
  const longest = Math.max(...changes.map((change) => textWidth(nameOf(change))))
  const name = Math.min(longest, Math.max(20, limit - counted - 24))
  const bar = Math.max(4, Math.min(20, limit - name - counted - 6))
  // a mark for each line, as long as there is room
  const most = Math.max(bar, ...changes.map(({ insertions, deletions }) => insertions + deletions))
  const lines = changes.map((change, index) => {
    const scale = (count: number) => (count === 0 ? 0 : Math.max(1, Math.round((count / most) * bar)))
    const plus = styles.green("+".repeat(scale(change.insertions)))
    const minus = styles.red("-".repeat(scale(change.deletions)))
    const letter = paintLetter(letters[change.status], styles)
    const text = pad(cut(nameOf(change), name, "start"), name)
    return `${letter} ${text} ${pad(counts[index] as string, counted, "right")} ${plus}${minus}`.trimEnd()
  })
  const total = (key: "insertions" | "deletions") => changes.reduce((sum, change) => sum + change[key], 0)
  const summary = [
    `${plural(changes.length, "file")} changed`,
    ...(total("insertions") > 0 ? [`${plural(total("insertions"), "line")} added`] : []),
    ...(total("deletions") > 0 ? [`${plural(total("deletions"), "line")} removed`] : []),
  ]
  return [...lines, summary.join(", ")].join("\n")
}

function nameOf({ path, from }: FileChange): string {
  return from === undefined ? oneLine(path) : `${oneLine(from)} => ${oneLine(path)}`
}

function paintLetter(letter: string, styles: Styles): string {
  if (letter === "A") return styles.green(letter)
  return letter === "D" ? styles.red(letter) : styles.cyan(letter)
}
