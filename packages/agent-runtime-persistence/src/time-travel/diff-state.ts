/** What changed between two states. Pure. */

export interface StateChange {
  /** Where, as a JSON pointer (RFC 6901); "" is the whole state. */
  readonly path: string
  readonly from: unknown
  readonly to: unknown
}

/** Differences in the order of the keys, as deep as both sides are objects or lists of the same length. */
export function diffState(from: unknown, to: unknown, path = ""): StateChange[] {
  if (Object.is(from, to)) return []
  if (!isContainer(from) || !isContainer(to) || Array.isArray(from) !== Array.isArray(to)) return [{ path, from, to }]
  if (Array.isArray(from) && Array.isArray(to) && from.length !== to.length) return [{ path, from, to }]
  const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])].sort()
  return keys.flatMap((key) =>
    diffState(itemOf(from, key), itemOf(to, key), `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`),
  )
}

/** A key may be called anything, also what objects have by themselves. */
function itemOf(container: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(container, key) ? container[key] : undefined
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null
}
