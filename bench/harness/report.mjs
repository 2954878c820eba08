/** Tables for people and JSON for programs. */
import { mkdirSync, writeFileSync } from "node:fs"
import { loadavg } from "node:os"
import { dirname } from "node:path"

export function number(value, digits) {
  if (value === null || value === undefined) return "-"
  if (typeof value !== "number") return String(value)
  if (!Number.isFinite(value)) return "-"
  const size = Math.abs(value)
  return value.toFixed(digits ?? (size >= 1000 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3))
}

/** A Markdown table; the first column is left-aligned, the rest right-aligned. */
export function table(heads, rows) {
  const cells = [heads, ...rows.map((row) => row.map((cell) => number(cell)))]
  const widths = heads.map((_, column) => Math.max(3, ...cells.map((row) => [...row[column]].length)))
  const pad = (text, column) => (column === 0 ? text.padEnd(widths[column]) : text.padStart(widths[column]))
  const render = (row) => `| ${row.map(pad).join(" | ")} |`
  const rule = `|${widths.map((width, column) => `${"-".repeat(width + 1)}${column === 0 ? "-" : ":"}`).join("|")}|`
  return [render(cells[0]), rule, ...cells.slice(1).map(render)].join("\n")
}

export function section(title, text) {
  const load = loadavg()
    .slice(0, 2)
    .map((value) => value.toFixed(2))
    .join(" ")
  const block = `\n## ${title} (load ${load})\n${text}\n`
  console.log(block)
  return block
}

export function progress(text) {
  process.stderr.write(`  ${text}\n`)
}

export function writeText(file, text) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

export const writeJson = (file, value) => writeText(file, `${JSON.stringify(value, null, 2)}\n`)
