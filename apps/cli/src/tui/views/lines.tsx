/**
 * Lines that already fit: Ink only has to put them on the screen. It remembers every text it ever measured, for good, so
 * it measures one sign for each line instead, and the lines are put in their place when it writes.
 */
import { Transform } from "ink"
import type { ReactElement } from "react"

export function Lines({ lines }: { readonly lines: readonly string[] }): ReactElement | null {
  if (lines.length === 0) return null
  const signs = Array.from(lines, () => "·").join("\n")
  return <Transform transform={(_, at) => lines[at] ?? ""}>{signs}</Transform>
}
