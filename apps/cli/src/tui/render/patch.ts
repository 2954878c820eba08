/** A unified diff for the screen: harmless, wrapped, and coloured as git does. The signs stay, so colour adds nothing new. */
import { chopLine, neutralise, paintSpans, type Style } from "./spans.js"

export function renderPatch(patch: string, width: number, isColoured: boolean): string[] {
  let isHeader = false
  return neutralise(patch.replace(/\n$/, ""))
    .split("\n")
    .flatMap((line) => {
      if (line.startsWith("diff --git ")) isHeader = true
      else if (line.startsWith("@@")) isHeader = false
      // names of git's own objects say nothing to people
      if (isHeader && /^index [0-9a-f]+\.\./.test(line)) return []
      const style = styleOf(line, isHeader)
      return chopLine(line, width).map((text) => paintSpans([{ text, style }], isColoured))
    })
}

function styleOf(line: string, isHeader: boolean): Style {
  if (isHeader) return "bold"
  if (line.startsWith("@@")) return "code"
  if (line.startsWith("+")) return "added"
  return line.startsWith("-") ? "removed" : "plain"
}

/** Lines as they are: a tool's output, a file. */
export function renderPlain(text: string, width: number): string[] {
  return neutralise(text.replace(/\n$/, ""))
    .split("\n")
    .flatMap((line) => chopLine(line.trimEnd(), width))
}
