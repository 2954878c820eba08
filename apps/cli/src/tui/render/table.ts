/** A Markdown table: columns where they fit, else each row as `title: cell` lines. Nothing is cut off. */
import { textWidth } from "../../output/text.js"
import { parseInline } from "./inline-markdown.js"
import { type Span, wrapSpans } from "./spans.js"

export function renderTableRows(source: readonly string[], width: number, isColoured: boolean): Span[][] {
  const [titles = [], , ...rows] = source.map(splitCells)
  const alignments = splitCells(source[1] ?? "").map((cell) => /^[^:].*:$|^:$/.test(cell))
  const cells = [titles, ...rows].map((row, at) =>
    titles.map((_, column) => parseInline(row[column] ?? "", isColoured, at === 0 ? "bold" : "plain")),
  )
  const widths = titles.map((_, column) => Math.max(1, ...cells.map((row) => spansWidth(row[column] as Span[]))))
  const total = widths.reduce((sum, one) => sum + one, 0) + 3 * (widths.length - 1)
  if (total > width) return stackRows(cells, width)
  const lines = cells.map((row) =>
    row.flatMap((cell, column): Span[] => {
      const space = " ".repeat((widths[column] as number) - spansWidth(cell))
      const isLast = column === row.length - 1
      const padded: Span[] = alignments[column]
        ? [{ text: space, style: "plain" }, ...cell]
        : [...cell, { text: isLast ? "" : space, style: "plain" }]
      return isLast ? padded : [...padded, { text: " │ ", style: "dim" }]
    }),
  )
  const rule: Span[] = [{ text: widths.map((one) => "─".repeat(one)).join("─┼─"), style: "dim" }]
  return [lines[0] as Span[], rule, ...lines.slice(1)]
}

function stackRows([titles = [], ...rows]: readonly (readonly Span[][])[], width: number): Span[][] {
  return rows.flatMap((row, at) => [
    ...(at === 0 ? [] : [[]]),
    ...row.flatMap((cell, column) =>
      wrapSpans([...(titles[column] ?? []), { text: ": ", style: "plain" }, ...cell], width, 2),
    ),
  ])
}

function splitCells(line: string): string[] {
  return line
    .trim()
    .replace(/^\||(?<!\\)\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"))
}

function spansWidth(spans: readonly Span[]): number {
  return spans.reduce((sum, { text }) => sum + textWidth(text), 0)
}
