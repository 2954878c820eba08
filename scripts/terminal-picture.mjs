/**
 * Makes docs/demo.svg, the picture in the README, from a real run of `keepup demo`: what the terminal shows, with its
 * colours. Run `pnpm build` first, then `node scripts/terminal-picture.mjs`.
 */
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./workspace.mjs"

const escapeCharacter = String.fromCharCode(27)
const sequence = new RegExp(`(${escapeCharacter}\\[[0-9;]*m)`)
const firstStep = 6
const lastStep = 11
const characterWidth = 8.4
const lineHeight = 19
const margin = 20
const colours = {
  31: "#ff7b72",
  32: "#7ee787",
  33: "#f2cc60",
  34: "#79c0ff",
  35: "#d2a8ff",
  36: "#76e3ea",
  90: "#8b949e",
}

const output = execFileSync(process.execPath, [join(root, "apps/cli/dist/keepup.cjs"), "demo"], {
  encoding: "utf8",
  env: { ...process.env, FORCE_COLOR: "1", KEEPUP_COLUMNS: "92" },
  stdio: ["ignore", "pipe", "inherit"],
})
const lines = pickSteps(output.replace(/\S*keepup-demo-\w+/g, "/tmp/keepup-demo").split("\n"))
writeFileSync(join(root, "docs/demo.svg"), draw(lines))

/** The lines from one numbered step to the end of another. */
function pickSteps(all) {
  const starts = all.map((line) => Number(/^\S*?\s*(\d+)\. /.exec(strip(line))?.[1] ?? Number.NaN))
  const from = starts.indexOf(firstStep)
  const to = starts.indexOf(lastStep + 1)
  if (from < 0 || to < 0) throw new Error(`keepup demo has no steps ${firstStep} to ${lastStep} any more.`)
  return all.slice(from, to)
}

function draw(shown) {
  const width = Math.ceil(Math.max(...shown.map((line) => strip(line).length)) * characterWidth + 2 * margin)
  const height = shown.length * lineHeight + 2 * margin
  const rows = shown.map((line, row) => {
    const y = margin + (row + 0.75) * lineHeight
    return `<text x="${margin}" y="${y}" xml:space="preserve">${toSpans(line)}</text>`
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    "<title>keepup demo: an agent's work is listed, broken, restored, and the restore undone</title>",
    `<rect width="100%" height="100%" rx="8" fill="#0d1117"/>`,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="#e6edf3">`,
    ...rows,
    "</g>",
    "</svg>",
    "",
  ].join("\n")
}

/** Text with terminal colours → spans. */
function toSpans(line) {
  let style = {}
  return line
    .split(sequence)
    .map((part) => {
      const codes = part.startsWith(`${escapeCharacter}[`) ? part.slice(2, -1) : undefined
      if (codes === undefined) return part === "" ? "" : span(part, style)
      for (const code of codes.split(";").map(Number)) style = applyCode(style, code)
      return ""
    })
    .join("")
}

function applyCode(style, code) {
  if (code === 0) return {}
  if (code === 1) return { ...style, bold: true }
  if (code === 2) return { ...style, dim: true }
  if (code === 22) return { ...style, bold: false, dim: false }
  if (code === 39) return { ...style, colour: undefined }
  return colours[code] === undefined ? style : { ...style, colour: colours[code] }
}

function span(text, { bold, dim, colour }) {
  const safe = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
  const attributes = [
    bold ? ' font-weight="bold"' : "",
    dim ? ' opacity="0.7"' : "",
    colour === undefined ? "" : ` fill="${colour}"`,
  ].join("")
  return attributes === "" ? safe : `<tspan${attributes}>${safe}</tspan>`
}

function strip(line) {
  return line
    .split(sequence)
    .filter((part) => !part.startsWith(escapeCharacter))
    .join("")
}
