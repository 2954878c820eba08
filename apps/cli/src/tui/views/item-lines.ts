/** One thing of the conversation as lines. Every state has a sign or a word of its own, so that colour adds nothing new. */
import type { TodoItem } from "@ku0/agent-runtime"
import { cut, oneLine, plural, type Styles, textWidth, thousands } from "../../output/text.js"
import { length } from "../../output/time.js"
import { renderMarkdown } from "../render/markdown.js"
import { renderPatch } from "../render/patch.js"
import { neutralise, wrapSpans } from "../render/spans.js"
import type { ChatItem, NoticeItem, ToolItem } from "../state/chat-item.js"

/** Text is not drawn wider than this, however wide the terminal is: long lines are hard to read. */
const widest = 100

export function renderItem(item: ChatItem, columns: number, styles: Styles): string[] {
  switch (item.kind) {
    case "user":
      return renderUser(item.text, columns, styles)
    case "assistant": {
      const lines = renderMarkdown(item.text, { width: textColumns(columns), isColoured: styles.isOn })
      return hang(item.isCutOff ? [...lines, styles.magenta("(cut off)")] : lines, "  ")
    }
    case "tool":
      return [renderTool(item, columns, styles)]
    case "notice":
      return renderNotice(item, columns, styles)
    case "checkpoint": {
      const all = [...(item.earlier ?? []), item].map(({ number, trigger, name }) => {
        const named = name === null ? "" : ` "${oneLine(name)}"`
        return `#${number}${named} (${oneLine(trigger)})`
      })
      const joined = `checkpoint ${all.join(", ")}`
      const lines = textWidth(joined) + 2 <= columns ? [joined] : all.map((one) => `checkpoint ${one}`)
      return lines.map((line) => styles.dim(cut(`  ${line}`, columns)))
    }
    case "todo":
      return renderTodo(item.items, columns, styles)
    case "block":
      return renderBlock(item.text, item.format, columns, styles)
  }
}

/** Lines and characters of a message that are shown again: who pasted a file knows it. */
const mostLines = 60
const mostCharacters = 8_000

function renderUser(text: string, columns: number, styles: Styles): string[] {
  const shown = text.slice(0, mostCharacters).split("\n", mostLines).join("\n")
  const lines = hang(plainLines(shown, textColumns(columns)), styles.cyan("> "), styles.bold)
  const rest = text.slice(shown.length)
  if (rest === "") return lines
  const more = rest.split("\n").length - 1
  const what = more > 0 ? plural(more, "more line") : `${thousands(rest.length)} more characters`
  return [...lines, styles.dim(`  … ${what}`)]
}

/** Columns for text beside the two of the margin. */
export function textColumns(columns: number): number {
  return Math.max(8, Math.min(columns - 1, widest) - 2)
}

const signs: Readonly<Record<ToolItem["status"], string>> = {
  running: "·",
  ok: "✓",
  error: "✗",
  cancelled: "-",
  skipped: "-",
  paused: "-",
  "in-doubt": "?",
}

/** `✓ read_file src/a.ts  120 lines`: what it is about is shortened before its result is. */
function renderTool(item: ToolItem, columns: number, styles: Styles): string {
  const { status } = item
  const paint = status === "ok" ? styles.green : status === "error" ? styles.red : styles.magenta
  const word =
    status === "ok" || status === "running" ? "" : status === "error" ? "failed: " : `${status.replace("-", " ")}: `
  const time = item.durationMs !== undefined && item.durationMs >= 2_000 ? ` (${length(item.durationMs)})` : ""
  const room = Math.max(10, Math.min(columns - 1, widest) - 2)
  const result = `${word}${oneLine(item.result)}`.replace(/: $/, "") + time
  const name = cut(oneLine(item.name), room)
  const left = room - textWidth(name) - 1
  const target = cut(
    oneLine(item.target),
    Math.max(8, result === "" ? left : left - Math.min(textWidth(result), 24) - 2),
    /\s/.test(item.target) ? "end" : "start",
  )
  const rest = left - textWidth(target) - 2
  const shown = rest >= 6 && result !== "" ? `  ${styles.dim(cut(result, rest))}` : ""
  return (
    `${status === "running" ? styles.dim(signs[status]) : paint(signs[status])} ${name} ${target}`.trimEnd() + shown
  )
}

function renderNotice({ level, text, hint }: NoticeItem, columns: number, styles: Styles): string[] {
  const width = textColumns(columns)
  const [sign, paint] =
    level === "error"
      ? (["✗ ", styles.red] as const)
      : level === "warning"
        ? (["! ", styles.magenta] as const)
        : (["  ", (line: string) => line] as const)
  const more = hint === undefined || hint === "" ? [] : hang(plainLines(hint, width), "  ", styles.dim)
  return [...hang(plainLines(text, width), paint(sign), paint), ...more]
}

export function renderTodo(items: readonly TodoItem[], columns: number, styles: Styles): string[] {
  const room = Math.max(8, columns - 7)
  return items.map(({ title, status }) => {
    const text = cut(oneLine(title), room)
    if (status === "done") return styles.dim(`  [x] ${text}`)
    return status === "doing" ? `  ${styles.cyan("[>]")} ${styles.bold(text)}` : `  [ ] ${text}`
  })
}

function renderBlock(text: string, format: "plain" | "patch" | "markdown", columns: number, styles: Styles): string[] {
  if (format === "patch") return hang(renderPatch(text, columns - 3, styles.isOn), "  ")
  if (format === "markdown")
    return hang(renderMarkdown(text, { width: textColumns(columns), isColoured: styles.isOn }), "  ")
  return keepColours(text)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
const colours = /(\u001b\[[0-9;]*m)/

/** Our own text may hold colours; nothing else of what a terminal obeys. */
export function keepColours(text: string): string[] {
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) =>
      line
        .split(colours)
        .map((part, at) => (at % 2 === 1 ? part : neutralise(part).replaceAll("\n", " ")))
        .join(""),
    )
}

/** What people wrote, broken at spaces, its own line breaks kept. */
export function plainLines(text: string, width: number): string[] {
  return neutralise(text)
    .split("\n")
    .flatMap((line) =>
      wrapSpans([{ text: line, style: "plain" }], width).map((spans) => spans.map((span) => span.text).join("")),
    )
}

/** The first line after a sign of two columns, the others under it. */
export function hang(
  lines: readonly string[],
  sign: string,
  paint: (line: string) => string = (line) => line,
): string[] {
  return lines.map((line, at) =>
    line === "" ? (at === 0 ? sign.trimEnd() : "") : `${at === 0 ? sign : "  "}${paint(line)}`,
  )
}

/** At most so many lines, the last ones, with a word about those above. */
export function lastLines(lines: readonly string[], most: number, styles: Styles): string[] {
  if (lines.length <= most) return [...lines]
  return [styles.dim(`  … ${lines.length - most + 1} lines above`), ...lines.slice(lines.length - most + 1)]
}

/** A line that may hold colours, no wider than this: too wide, it loses them. */
export function cutColoured(line: string, width: number): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
  return textWidth(line) <= width ? line : cut(line.replace(/\u001b\[[0-9;]*m/g, ""), width)
}
