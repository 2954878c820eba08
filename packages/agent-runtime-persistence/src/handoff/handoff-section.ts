/**
 * The part of a file that is ours: what lies between two markers. Everything else keeps every byte, whatever it is.
 * Pure: bytes in, bytes out.
 */
import { KeepupError } from "@ku0/agent-runtime-core"
import { isMarkedReadOnly } from "./read-only-mark.js"

export const beginMarker = "<!-- BEGIN: keepup checkpoints -->"
export const endMarker = "<!-- END: keepup checkpoints -->"

export type SectionResult =
  | { readonly content: Buffer }
  /** The file asks not to be written to. */
  | { readonly leaveAlone: string }

const anyMarker = /<!--\s*(BEGIN|END)\s*:\s*keepup\s+checkpoints/gi
const mostBytes = 20 * 1024

/** `file` is what is there now; `section` has LF. Throws `CONFLICT` if the markers are not one pair in order. */
export function replaceSection(file: Buffer | undefined, section: string, path: string): SectionResult {
  // one character per byte: what we do not look at passes through
  const text = file?.toString("latin1") ?? ""
  if (text.includes("\0")) return { leaveAlone: `${path} is not a text in UTF-8.` }
  const place = findPlace(text, path)
  const around = place === undefined ? text : text.slice(0, place.from) + text.slice(place.to)
  if (isMarkedReadOnly(around)) return { leaveAlone: `${path} says that it is READ-ONLY.` }
  const lineEnd = findLineEnd(text, place)
  const body = Buffer.from([beginMarker, "", section, "", endMarker].join("\n").replaceAll("\n", lineEnd), "utf8")
  const inside = body.toString("latin1")
  const next =
    place === undefined
      ? text + gapBefore(text, lineEnd) + inside + lineEnd
      : text.slice(0, place.from) + inside + text.slice(place.to)
  const content = Buffer.from(next, "latin1")
  if (content.length > mostBytes) return { leaveAlone: `${path} would grow past ${mostBytes / 1024} KB.` }
  return { content }
}

/** From the first character of one marker to behind the last of the other. */
function findPlace(text: string, path: string): { from: number; to: number } | undefined {
  const found = [...text.matchAll(anyMarker)]
  if (found.length === 0) return undefined
  const [begin, end] = found
  const isPair =
    found.length === 2 &&
    begin !== undefined &&
    end !== undefined &&
    isAlone(text, begin.index, beginMarker) &&
    isAlone(text, end.index, endMarker)
  if (isPair) return { from: begin.index, to: end.index + endMarker.length }
  throw new KeepupError("CONFLICT", `The markers in ${path} are not one pair in order; it was not changed.`, {
    hint: `Leave one line ${beginMarker} and after it one line ${endMarker}, or remove both.`,
  })
}

/** A marker is a line of its own. Elsewhere someone only speaks of it. */
function isAlone(text: string, at: number, marker: string): boolean {
  if (!text.startsWith(marker, at)) return false
  const start = text.lastIndexOf("\n", at - 1) + 1
  const end = text.indexOf("\n", at)
  const before = text.slice(at === 0 ? 0 : start, at).replace(/^\xef\xbb\xbf/, "")
  const after = text.slice(at + marker.length, end < 0 ? text.length : end)
  return before.trim() === "" && after.trim() === ""
}

/** As the section has it, else as most lines of the file do. */
function findLineEnd(text: string, place: { from: number; to: number } | undefined): "\n" | "\r\n" {
  const sample = place === undefined ? text : text.slice(place.from, place.to)
  const all = sample.split("\n").length - 1
  const withReturn = sample.split("\r\n").length - 1
  return withReturn * 2 > all ? "\r\n" : "\n"
}

/** A blank line between what is there and us. */
function gapBefore(text: string, lineEnd: string): string {
  if (text === "" || text === "\xef\xbb\xbf") return ""
  if (!text.endsWith("\n")) return lineEnd + lineEnd
  return /\n\r?\n$/.test(text) ? "" : lineEnd
}
