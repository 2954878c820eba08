/**
 * Markdown as lines for a terminal, while it still comes in. A line that was given out never changes: it can be printed
 * and forgotten, and only the block that is still open is drawn again. However the text is cut, the lines are the same.
 */
import { parseInline } from "./inline-markdown.js"
import { chopLine, neutralise, paintSpans, type Span, type Style, wrapSpans } from "./spans.js"
import { renderTableRows } from "./table.js"

export interface MarkdownOptions {
  readonly width: number
  readonly isColoured: boolean
  /** How deep in quotes it is; past the third, marks are shown as they are. */
  readonly depth?: number
}

export interface MarkdownStream {
  /** More of the text; returns the lines that are now final. */
  push(text: string): string[]
  /** What the open block looks like now. */
  tail(): string[]
  /** There is no more; the last lines. */
  end(): string[]
}

export function renderMarkdown(text: string, options: MarkdownOptions): string[] {
  const stream = createMarkdownStream(options)
  return [...stream.push(text), ...stream.end()]
}

type Block =
  | { readonly kind: "none" }
  | { readonly kind: "paragraph"; readonly lines: readonly string[] }
  | { readonly kind: "item"; readonly indent: number; readonly marker: string; readonly lines: readonly string[] }
  | { readonly kind: "quote"; readonly lines: readonly string[] }
  | { readonly kind: "table"; readonly lines: readonly string[] }
  | { readonly kind: "code"; readonly fence: string; readonly indent: number; readonly isDiff: boolean }

interface Reading {
  readonly block: Block
  /** A blank line is owed before the next block. */
  readonly hasGap: boolean
  readonly hasOutput: boolean
}

/** A block or a line longer than this is closed there, so that an open one stays cheap to draw. */
const longest = 4_000
const delimiter = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/

export function createMarkdownStream(options: MarkdownOptions): MarkdownStream {
  const { width, isColoured, depth = 0 } = options
  let reading: Reading = { block: { kind: "none" }, hasGap: false, hasOutput: false }
  let rest = ""

  function push(text: string): string[] {
    rest += text
    const out: string[] = []
    let from = 0
    for (;;) {
      const end = rest.indexOf("\n", from)
      if (end >= 0 && end - from <= longest) {
        readLine(rest.slice(from, end), out)
        from = end + 1
      } else if (rest.length - from > longest) {
        const cut = findCut(from)
        readLine(rest.slice(from, cut), out)
        // what follows begins a row of its own: a space that nobody wrote would be between them
        if (reading.block.kind === "paragraph") close(out)
        from = cut
      } else break
    }
    rest = rest.slice(from)
    return out
  }

  /** Where a line that is too long is cut: after a word, or where a row is full. */
  function findCut(from: number): number {
    if (reading.block.kind === "code") return from + longest
    const space = rest.lastIndexOf(" ", from + longest - 1)
    return space > from ? space + 1 : from + longest - (longest % Math.max(2, width))
  }

  function end(): string[] {
    const out: string[] = []
    if (rest !== "") readLine(rest, out)
    rest = ""
    close(out)
    return out
  }

  function tail(): string[] {
    const kept = { reading, rest }
    const out = end()
    reading = kept.reading
    rest = kept.rest
    return out
  }

  function readLine(raw: string, out: string[]): void {
    for (const line of neutralise(raw.replace(/\r$/, "")).split("\n")) readCleanLine(line.trimEnd(), out)
  }

  function readCleanLine(line: string, out: string[]): void {
    const { block } = reading
    if (block.kind === "code") {
      const isEnd = line.trim().startsWith(block.fence) && line.trim().replace(/[`~]/g, "") === ""
      if (isEnd) reading = { ...reading, block: { kind: "none" }, hasGap: true }
      else emitCode(line, block.indent, block.isDiff, out)
      return
    }
    if (line.trim() === "") {
      close(out)
      reading = { ...reading, hasGap: true }
      return
    }
    const quote = depth < 3 ? /^ {0,3}> ?(.*)$/.exec(line) : null
    if (quote !== null) {
      extend("quote", quote[1] as string, out)
      return
    }
    const fence = /^(\s*)(```+|~~~+)\s*([\w+-]*)[^`]*$/.exec(line)
    if (fence !== null) {
      close(out)
      const [, space = "", mark = "", language = ""] = fence
      emitGap(out)
      const indent = Math.min(space.length, 8)
      reading = { ...reading, block: { kind: "code", fence: mark, indent, isDiff: /^(diff|patch)$/.test(language) } }
      return
    }
    if (block.kind === "table" && line.includes("|")) {
      extend("table", line, out)
      return
    }
    const heading = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/.exec(line)
    if (heading !== null) {
      close(out)
      reading = { ...reading, hasGap: true }
      const mark = isColoured ? "" : `${heading[1]} `
      emit(wrapSpans([{ text: mark, style: "bold" }, ...bold(heading[2] as string)], width), out)
      reading = { ...reading, hasGap: true }
      return
    }
    if (/^ {0,3}([-*_])(\s*\1){2,}$/.test(line)) {
      close(out)
      emit([[{ text: "─".repeat(Math.min(width, 24)), style: "dim" }]], out)
      return
    }
    const item = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/.exec(line)
    if (item !== null) {
      close(out)
      const [, space = "", mark = "", text = ""] = item
      const marker = /\d/.test(mark) ? mark : "•"
      const indent = Math.min(space.length, 12, Math.max(0, width - 16))
      reading = { ...reading, block: { kind: "item", indent, marker, lines: [text] } }
      return
    }
    if (block.kind === "paragraph" && block.lines.length === 1 && isTable(block.lines[0] as string, line)) {
      reading = { ...reading, block: { kind: "table", lines: [block.lines[0] as string, line] } }
      return
    }
    if (block.kind === "item" || block.kind === "quote") {
      extend(block.kind, line.trim(), out)
      return
    }
    extend("paragraph", line.trim(), out)
  }

  /** Adds a line to the open block if it is of this kind, else opens one. */
  function extend(kind: "paragraph" | "item" | "quote" | "table", line: string, out: string[]): void {
    const { block } = reading
    if (block.kind !== kind) {
      close(out)
      reading = { ...reading, block: { kind, lines: [line], indent: 0, marker: "" } as Block }
      return
    }
    const lines = [...block.lines, line]
    reading = { ...reading, block: { ...block, lines } }
    if (lines.length > 60 && kind !== "table") close(out)
  }

  function close(out: string[]): void {
    const { block } = reading
    reading = { ...reading, block: { kind: "none" } }
    if (block.kind === "paragraph") emit(wrapSpans(inline(block.lines), width), out)
    else if (block.kind === "item") {
      const lead = `${" ".repeat(block.indent)}${block.marker} `
      emit(wrapSpans([{ text: lead, style: "plain" }, ...inline(block.lines)], width, lead.length), out)
    } else if (block.kind === "table") emit(renderTableRows(block.lines, width, isColoured), out)
    else if (block.kind === "quote") {
      const inner = renderMarkdown(block.lines.join("\n"), { width: width - 2, isColoured, depth: depth + 1 })
      const bar = paintSpans([{ text: "│ ", style: "dim" }], isColoured)
      emitGap(out)
      out.push(...inner.map((line) => `${bar}${line}`.trimEnd()))
    } else if (block.kind === "code") reading = { ...reading, hasGap: true }
  }

  function emitCode(line: string, indent: number, isDiff: boolean, out: string[]): void {
    const style: Style = isDiff && line.startsWith("+") ? "added" : isDiff && line.startsWith("-") ? "removed" : "plain"
    const text = line.slice(Math.min(indent, line.length - line.trimStart().length))
    const lead = width > 20 ? 2 + indent : 0
    for (const part of chopLine(text, width - lead)) {
      out.push(`${" ".repeat(lead)}${paintSpans([{ text: part, style }], isColoured)}`.trimEnd())
    }
  }

  function emit(lines: readonly (readonly Span[])[], out: string[]): void {
    emitGap(out)
    out.push(...lines.map((line) => paintSpans(line, isColoured).trimEnd()))
  }

  function emitGap(out: string[]): void {
    if (reading.hasGap && reading.hasOutput) out.push("")
    reading = { ...reading, hasGap: false, hasOutput: true }
  }

  /** Line breaks inside a block are spaces. */
  function inline(lines: readonly string[]): Span[] {
    return parseInline(lines.join(" "), isColoured)
  }

  function bold(text: string): Span[] {
    return parseInline(text, isColoured, "bold")
  }

  return { push, tail, end }
}

function isTable(titles: string, line: string): boolean {
  return titles.includes("|") && line.includes("-") && line.includes("|") && delimiter.test(line)
}
