/**
 * Whether a text says, in its first lines, that it may not be written to. In capitals it says so wherever that stands,
 * also as READ_ONLY and READONLY. In any other case people write of read-only databases, disks and modes too, so there it
 * counts only where it is a mark: alone at the start of a line (after signs, or a word such as "Notice:"), at the end of
 * a heading behind a colon, a dash or a bracket, emphasised, in a comment, or said of "this file". An item of a list, a cell
 * of a table and `read-only: false` are none. In doubt a file is left alone: that costs a warning, not someone's text.
 */

const lines = 20
/** Of each line: a mark stands near its start, and a line can be megabytes. */
const looked = 1_000

const word = "read[-_ ]?only"
/** Signs, but none of a list or a table before it. */
const start = String.raw`^(?!\s*[-+*]\s)[^a-z0-9|]*`
const label = "(?:note|notice|warning|important|caution|attention|status|mode|access|file|document)"
/** It is all there is on the line, or the reason or the rule follows. A dash begins with \xe2. */
const end = String.raw`[*_~\x60'")\]]*(?:[^a-z0-9|]*$|\s*[:=](?!\W*(?:false|no|off|0)\b)|\s*[.!,;\xe2]|\s+-|\s+(?:file|document|copy|please|do not|don't|since)(?![a-z0-9]))`

const capitals = /\bREAD[-_ ]?ONLY\b/
const marks: readonly RegExp[] = [
  `${start}(?:${label}[^a-z0-9|]*[:\\]][^a-z0-9|]*)?${word}${end}`,
  String.raw`^\W*#{1,6}\s.*(?:[:(\[]|\s-+\s|\xe2\x80[\x93\x94])\s*${word}[\])]*\W*$`,
  String.raw`(?<![a-z0-9])(\*\*?|__?)${word}[.:!]?\1(?![a-z0-9])`,
  String.raw`<!--[^>]*\b${word}(?![a-z0-9])`,
  String.raw`\bthis (?:file|document|handoff|page) is (?:now )?[*_]*${word}(?![a-z0-9])`,
].map((source) => new RegExp(source, "i"))

/** `text` has one character per byte. */
export function isMarkedReadOnly(text: string): boolean {
  return text.split("\n", lines).some((line) => {
    const near = line.slice(0, looked)
    return capitals.test(line) || marks.some((mark) => mark.test(near))
  })
}
