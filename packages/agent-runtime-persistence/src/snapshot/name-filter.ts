/**
 * Tells from a name alone that no rule of an ignore file can match it, so that git need not be asked. It may suspect
 * names that are not ignored after all, but never misses one that is.
 */
import type { BytePath } from "./byte-path.js"

/** False: surely not matched by any of the rules. */
export type NameFilter = (name: BytePath) => boolean

export const suspectsAll: NameFilter = () => true
export const suspectsNone: NameFilter = () => false

/** A filter for the text of one ignore file, one character per byte. */
export function createNameFilter(text: string): NameFilter {
  const names = new Set<string>()
  const ends: { readonly start: string; readonly end: string }[] = []
  for (const line of text.replace(/^\xef\xbb\xbf/, "").split("\n")) {
    const last = lastName(line.replace(/\r$/, ""))
    if (last === undefined) continue
    const special = last.search(/[*?[\\]/)
    if (special < 0) names.add(last)
    else {
      const isPlain = !/[[\\]/.test(last)
      const end = isPlain ? last.slice(Math.max(last.lastIndexOf("*"), last.lastIndexOf("?")) + 1) : ""
      ends.push({ start: last.slice(0, special), end })
    }
  }
  if (names.size === 0 && ends.length === 0) return suspectsNone
  return (name) => names.has(name) || ends.some(({ start, end }) => name.startsWith(start) && name.endsWith(end))
}

export function eitherFilter(a: NameFilter, b: NameFilter): NameFilter {
  if (a === suspectsAll || b === suspectsNone) return a
  if (b === suspectsAll || a === suspectsNone) return b
  return (name) => a(name) || b(name)
}

/** The part of a rule that the last name of a path must match; undefined for a rule that ignores nothing. */
function lastName(line: string): string | undefined {
  if (line === "" || line.startsWith("#") || line.startsWith("!")) return undefined
  // A space that a backslash keeps goes too: what follows a backslash counts for nothing here.
  const text = line.replace(/ +$/, "").replace(/\/+$/, "")
  const bracket = text.indexOf("[")
  const slash = text.lastIndexOf("/")
  if (bracket >= 0 && slash > bracket) return "*" // the slash may stand inside the brackets
  return text.slice(slash + 1)
}
