/**
 * Whether a text says, in its first lines, that it may not be written to. In capitals it says so wherever that stands,
 * also as READ_ONLY and READONLY. In any other case people write of read-only databases, disks and modes too, so there it
 * counts only where it is a mark: alone at the start of a line (after signs, or a word such as "Notice:"), at the end of
 * a heading behind a colon, a dash or a bracket, emphasised, in a comment, behind "do not edit", or said of "this file" or of
 * a file by its name. An item of a list, a cell of a table and `read-only: false` are none. In doubt a file is left alone:
 * that costs a warning, not someone's text.
 */

const lines = 20
/** Of each line: a mark stands near its start, and a line can be megabytes. */
const looked = 1_000

const word = "read[-_ ]?only"
/** Signs, but none of a list or a table before it. */
const start = String.raw`^(?!\s*[-+*]\s)[^a-z0-9|]*`
const label = "(?:note|notice|warning|important|caution|attention|status|mode|access|file|document)"
/** This file, in a sentence. */
const file = "(?:file|document|handoff|page|copy)"
const named = String.raw`[*_\x60'"]*[^\s*_\x60'"]{1,80}\.(?:md|markdown|mdx|txt|rst)[*_\x60'"]*`
const isNow = "(?:is|stays|must be|must stay|should be|should stay|has to be|has to stay)(?: now| strictly)?"
const forbidden = String.raw`(?:do not|don(?:'|\xe2\x80\x99)?t|never|must not) (?:edit|modify|change|touch|write to|overwrite)`
const dash = String.raw`(?:-+|\xe2\x80[\x93\x94])`
/** It is all there is on the line, or the reason or the rule follows. A dash begins with \xe2. */
const end = String.raw`[*_~\x60'")\]]*(?:[^a-z0-9|]*$|\s*[:=](?!\W*(?:false|no|off|0)\b)|\s*[.!,;\xe2]|\s+-|\s+(?:file|document|copy|please|do not|don't|since)(?![a-z0-9]))`

const capitals = /\bREAD[-_ ]?ONLY\b/
const marks: readonly RegExp[] = [
  `${start}(?:${label}[^a-z0-9|]*[:\\]][^a-z0-9|]*)?${word}${end}`,
  String.raw`^\W*#{1,6}\s.*(?:[:(\[]|\s-+\s|\xe2\x80[\x93\x94])\s*${word}[\])]*\W*$`,
  String.raw`(?<![a-z0-9])(\*\*?|__?)${word}[.:!]?\1(?![a-z0-9])`,
  String.raw`<!--[^>]*\b${word}(?![a-z0-9])`,
  String.raw`\bthis (?:${file}|${named}) ${isNow} [*_]*${word}(?![a-z0-9])`,
  `${start}(?:this|(?:the )?${file}|(?:the )?${named}) ${isNow} [*_]*${word}[^a-z0-9|]*$`,
  String.raw`\bthis is (?:a )?[*_]*${word}[*_]* ${file}(?![a-z0-9])`,
  String.raw`\btreat (?:this|the|it)(?: ${file}| ${named})? as (?:a )?[*_]*${word}(?![a-z0-9])`,
  String.raw`${start}(?:please )?${forbidden}(?: (?:this|the|it))?(?: ${file}| ${named})?[*_\s]*(?:[.:;,!(\[]|${dash})\s*(?:it is |it's |this is )?[*_]*${word}${end}`,
].map((source) => new RegExp(source, "i"))

/** `text` has one character per byte. */
export function isMarkedReadOnly(text: string): boolean {
  return text.split("\n", lines).some((line) => {
    const near = line.slice(0, looked)
    return capitals.test(line) || marks.some((mark) => mark.test(near))
  })
}
