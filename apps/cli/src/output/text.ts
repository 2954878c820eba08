/** Text for terminals: colours that can be off, the width of wide characters, and nothing that could move the cursor. */

export interface Styles {
  readonly isOn: boolean
  bold(text: string): string
  dim(text: string): string
  red(text: string): string
  green(text: string): string
  /** For warnings: readable on white and on black, which yellow is not. */
  magenta(text: string): string
  cyan(text: string): string
}

export function createStyles(isOn: boolean): Styles {
  const paint = (open: number, close: number) => (text: string) =>
    isOn && text !== "" ? `\u001b[${open}m${text}\u001b[${close}m` : text
  return {
    isOn,
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    magenta: paint(35, 39),
    cyan: paint(36, 39),
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
const colour = /\u001b\[[0-9;]*m/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: the same
const colourParts = /(\u001b\[[0-9;]*m)/

/** Names and messages of others on one line, with what a terminal would obey made visible. */
export function oneLine(text: string): string {
  return text
    .replace(/\s*\n\s*/g, " ")
    .replace(/\t/g, " ")
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, showCode)
}

/** The same for text of several lines. */
export function manyLines(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => line.replace(/(?!\t)[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, showCode))
    .join("\n")
}

/** The same for text of ours that may be coloured. */
export function colouredLines(text: string, { isOn }: Styles): string {
  if (!isOn) return manyLines(text)
  return text
    .split(colourParts)
    .map((part, at) => (at % 2 === 1 ? part : manyLines(part)))
    .join("")
}

function showCode(character: string): string {
  return `\\u${(character.codePointAt(0) as number).toString(16).padStart(4, "0")}`
}

/** Columns a text takes; colours take none, East Asian characters and emoji two. */
export function textWidth(text: string): number {
  const plain = text.replace(colour, "")
  if (/^[\x20-\x7e]*$/.test(plain)) return plain.length
  let width = 0
  for (const { segment } of segmenter().segment(plain)) width += segmentWidth(segment)
  return width
}

let made: Intl.Segmenter | undefined

/** Made when first needed: plain ASCII never needs it. */
function segmenter(): Intl.Segmenter {
  made ??= new Intl.Segmenter("en", { granularity: "grapheme" })
  return made
}

/** Ranges of characters two columns wide. */
const wide: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x17000, 0x18cff],
  [0x1b000, 0x1b2ff],
  [0x20000, 0x3fffd],
]

function segmentWidth(segment: string): number {
  const point = segment.codePointAt(0) as number
  if (/^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]/u.test(segment)) return 0
  if (/\p{Emoji_Presentation}|\ufe0f|^\p{Regional_Indicator}/u.test(segment)) return 2
  return wide.some(([from, to]) => point >= from && point <= to) ? 2 : 1
}

/** Code units that are looked at for each column: characters of megabytes, one by one, take more memory than there is. */
const unitsPerColumn = 64

/** At most this many columns, with an ellipsis where something was cut off. */
export function cut(text: string, width: number, where: "end" | "start" = "end"): string {
  const most = Math.max(1, width) * unitsPerColumn
  if (text.length <= most && textWidth(text) <= width) return text
  if (width <= 1) return width === 1 ? "…" : ""
  const near = where === "end" ? text.slice(0, most) : text.slice(-most)
  const segments = [...segmenter().segment(near)].map(({ segment }) => segment)
  let room = width - 1
  const kept: string[] = []
  for (const segment of where === "end" ? segments : segments.reverse()) {
    room -= segmentWidth(segment)
    if (room < 0) break
    kept.push(segment)
  }
  return where === "end" ? `${kept.join("")}…` : `…${kept.reverse().join("")}`
}

/** A session's name in so many columns; where it was branched off stays readable. */
export function cutName(name: string, width: number): string {
  const branched = / \(rewind from #\d+\)$/.exec(name)?.[0]
  if (branched === undefined || textWidth(name) <= width || width < branched.length + 8) return cut(name, width)
  return `${cut(name.slice(0, -branched.length), width - branched.length)}${branched}`
}

export function pad(text: string, width: number, align: "left" | "right" = "left"): string {
  const space = " ".repeat(Math.max(0, width - textWidth(text)))
  return align === "left" ? text + space : space + text
}

/** Breaks text at spaces, but not inside of a command in backticks; the lines after the first begin with `indent`. */
export function wrap(text: string, width: number, indent = ""): string {
  if (textWidth(text) <= width) return text
  const lines: string[] = []
  let line = ""
  for (const word of text.split(/ (?=(?:[^`]*`[^`]*`)*[^`]*$)/)) {
    const longer = line === "" ? word : `${line} ${word}`
    if (line !== "" && textWidth(longer) > width) {
      lines.push(line)
      line = indent + word
    } else line = longer
  }
  return [...lines, line].join("\n")
}

/** `1 file`, `2 files`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${thousands(count)} ${count === 1 ? one : many}`
}

/** `12,345`. By hand: the first use of a locale takes 15 ms. */
export function thousands(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",")
}

/** `512 B`, `1.4 MB`. */
export function bytes(count: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"]
  let value = count
  let unit = 0
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_024
    unit++
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}

/** A word as a shell takes it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
