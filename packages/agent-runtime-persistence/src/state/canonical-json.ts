/** JSON with sorted keys: the same value is the same text, whatever order its keys were set in. */
import { toJson } from "../store/rows.js"

/** Accepts what has a JSON form; anything else is `INVALID_INPUT`. */
export function canonicalJson(value: unknown, what: string): string {
  return JSON.stringify(sorted(JSON.parse(toJson(value, what))))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  const result: Record<string, unknown> = Object.create(null)
  for (const key of Object.keys(value).sort()) result[key] = sorted((value as Record<string, unknown>)[key])
  return result
}
