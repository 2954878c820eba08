/** JSON with sorted keys: the same value is the same text, whatever order its keys were set in. */
import { KeepupError } from "@ku0/agent-runtime-core"

/** Accepts what `JSON.stringify` accepts; anything that has no JSON form is `INVALID_INPUT`. */
export function canonicalJson(value: unknown, what: string): string {
  let text: string | undefined
  try {
    text = JSON.stringify(sorted(JSON.parse(JSON.stringify(value) ?? "null")))
  } catch (cause) {
    throw new KeepupError("INVALID_INPUT", `The ${what} has no JSON form (${(cause as Error).message}).`, { cause })
  }
  return text
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  const result: Record<string, unknown> = Object.create(null)
  for (const key of Object.keys(value).sort()) result[key] = sorted((value as Record<string, unknown>)[key])
  return result
}
