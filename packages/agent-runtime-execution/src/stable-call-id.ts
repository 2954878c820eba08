/** The same call in the same place of a conversation always has the same id, whatever the order of its arguments' keys. */
import { createHash } from "node:crypto"

/**
 * An id of a tool call from what it asks and where it stands. At most 64 characters of `A-Z a-z 0-9 _ -`, as the models'
 * interfaces want it.
 */
export function stableCallId(name: string, args: unknown, turn: number, index: number): string {
  const hash = createHash("sha256")
    .update(sortedJson([name, args, turn, index]))
    .digest("hex")
    .slice(0, 24)
  const label = name.replace(/[^A-Za-z0-9_-]/g, "-").slice(0, 16)
  return `tool_${label}_${turn}_${index}_${hash}`
}

/** JSON with the keys of every object in order. What JSON leaves out (`undefined`, functions) is left out here too. */
export function sortedJson(value: unknown): string {
  const json = JSON.stringify(value)
  return json === undefined ? "null" : write(JSON.parse(json))
}

function write(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const pairs = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${pairs.map(([key, part]) => `${JSON.stringify(key)}:${write(part)}`).join(",")}}`
}
