/**
 * What a person should be told of files that are not in a snapshot although they belong there: those that time ran out
 * for each time, those nobody may read once. What is too large or no file is left out by rule, and the record says so.
 */
import type { SkippedPath, Snapshot } from "@ku0/agent-runtime-core"

/** `told` holds the unreadable paths that were told of; new ones are added. */
export function describeGap({ skipped }: Pick<Snapshot, "skipped">, told: Set<string>): string | undefined {
  const late = skipped.filter(({ reason }) => reason === "time-budget")
  const closed = skipped.filter(({ path, reason }) => reason === "unreadable" && !told.has(path))
  for (const { path } of closed) told.add(path)
  const parts = [count(late, "not looked at in time"), count(closed, "not readable")].filter(Boolean)
  return parts.length === 0 ? undefined : `${parts.join("; ")}. A restore leaves what it does not hold alone.`
}

function count(paths: readonly SkippedPath[], what: string): string {
  const [first] = paths
  if (first === undefined) return ""
  if (first.path === ".") return `some folders were ${what}`
  return paths.length === 1 ? `${first.path} was ${what}` : `${paths.length} paths were ${what}, such as ${first.path}`
}
