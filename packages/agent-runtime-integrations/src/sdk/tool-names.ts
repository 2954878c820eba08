/**
 * Names and ids that every service takes: letters, digits, `_` and `-`, at most 64 characters. What is already so stays
 * as it is; names are turned back when the model uses them.
 */
import type { ToolDescription } from "@ku0/agent-runtime-core"

const longest = 64

/** Hands out a usable version of what it is given, never the same one twice. */
export function createUniqueNames(fallback: string): (wanted: string) => string {
  const used = new Set<string>()
  const nextTail = new Map<string, number>()
  return (wanted) => {
    const base = usable(wanted) || fallback
    let name = base
    for (let tail = nextTail.get(base) ?? 2; used.has(name); tail++) {
      name = `${base.slice(0, longest - 1 - String(tail).length)}_${tail}`
      nextTail.set(base, tail + 1)
    }
    used.add(name)
    return name
  }
}

export interface ToolNames {
  toService(name: string): string
  fromService(name: string): string
}

export function createToolNames(tools: readonly ToolDescription[]): ToolNames {
  const unique = createUniqueNames("tool")
  const outward = new Map<string, string>()
  const inward = new Map<string, string>()
  // Names that need no change come first, so that none of them is changed for the sake of another.
  const isUsable = (name: string) => usable(name) === name
  for (const { name } of [...tools].sort((a, b) => Number(isUsable(b.name)) - Number(isUsable(a.name)))) {
    if (outward.has(name)) continue
    const shown = unique(name)
    outward.set(name, shown)
    inward.set(shown, name)
  }
  return {
    toService: (name) => outward.get(name) ?? (usable(name) || "tool"),
    fromService: (name) => inward.get(name) ?? name,
  }
}

function usable(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, longest)
}
