/** Markdown inside a line: code, bold, italic, strike, links. What is not closed stays as it was written. */
import type { Span, Style } from "./spans.js"

/** A longer text is shown as it is: finding marks takes time that grows with its square. */
const longest = 4_000

/** Code is quoted when there are no colours to tell it by. */
export function parseInline(text: string, isColoured: boolean, style: Style = "plain"): Span[] {
  if (text.length > longest || !/[`*_~[<!\\]/.test(text)) return [{ text, style }]
  const spans: Span[] = []
  let plain = ""
  const flush = () => {
    if (plain !== "") spans.push({ text: plain, style })
    plain = ""
  }
  let rest = text
  let before = ""
  while (rest !== "") {
    const found = readMark(rest, before, isColoured, style)
    if (found === undefined) {
      const length = rest[0] === "\\" && /^\\[!-/:-@[-`{-~]/.test(rest) ? 2 : 1
      plain += length === 2 ? (rest[1] as string) : (rest[0] as string)
      before = rest[length - 1] as string
      rest = rest.slice(length)
      continue
    }
    flush()
    spans.push(...found.spans)
    before = rest[found.length - 1] as string
    rest = rest.slice(found.length)
  }
  flush()
  return spans
}

interface FoundMark {
  readonly length: number
  readonly spans: readonly Span[]
}

function readMark(rest: string, before: string, isColoured: boolean, style: Style): FoundMark | undefined {
  const first = rest[0]
  if (first === "`") {
    const match = /^(`+)(?!`)(.*?[^`])\1(?!`)/.exec(rest)
    if (match === null) return undefined
    const code = (match[2] as string).replace(/^ (.*[^ ].*) $/, "$1")
    return { length: match[0].length, spans: [{ text: isColoured ? code : `\`${code}\``, style: "code" }] }
  }
  if (first === "*" || first === "_" || first === "~") {
    const match = /^(\*\*\*|\*\*|\*|__|_|~~)(?=\S)(.+?[^\s\\]|[^\s*_~])\1/.exec(rest)
    if (match === null) return undefined
    const [whole, mark = "", inner = ""] = match
    const isInsideWord = mark[0] === "_" && (/\w/.test(before) || /\w/.test(rest[whole.length] ?? ""))
    if (isInsideWord || (mark === "*" && inner.startsWith("*"))) return undefined
    if (mark === "~~") return { length: whole.length, spans: parseInline(inner, isColoured, "dim") }
    return { length: whole.length, spans: parseInline(inner, isColoured, mark.length > 1 ? "strong" : "italic") }
  }
  if (first === "[" || (first === "!" && rest[1] === "[")) {
    const match = /^!?\[([^\]]*)\]\(\s*<?([^)\s>]*)>?(?:\s+"[^"]*")?\s*\)/.exec(rest)
    if (match === null) return undefined
    const [whole, label = "", target = ""] = match
    return { length: whole.length, spans: linkSpans(label, target, isColoured, style) }
  }
  if (first === "<") {
    const match = /^<(https?:\/\/[^\s>]+)>/.exec(rest)
    return match === null
      ? undefined
      : { length: match[0].length, spans: [{ text: match[1] as string, style: "link" }] }
  }
  return undefined
}

/** The address is always shown: a terminal can't be asked where a link leads. */
function linkSpans(label: string, target: string, isColoured: boolean, style: Style): Span[] {
  if (label === "" || label === target) return [{ text: target, style: "link" }]
  const named = parseInline(label, isColoured, style)
  return target === ""
    ? named
    : [...named, { text: " (", style }, { text: target, style: "link" }, { text: ")", style }]
}
