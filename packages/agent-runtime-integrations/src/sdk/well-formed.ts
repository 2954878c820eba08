/** Text cut in the middle of a character is refused by services; the half is replaced. */

export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\u{fffd}")
}

/** The same for every string of a JSON value, keys included. */
export function wellFormedJson(value: unknown): unknown {
  if (typeof value === "string") return wellFormed(value)
  if (Array.isArray(value)) return value.map(wellFormedJson)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [wellFormed(key), wellFormedJson(part)]))
}
