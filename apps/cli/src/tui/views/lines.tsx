/**
 * Lines that already fit: Ink only has to put them on the screen. It remembers every text it ever measured, for good, so
 * it measures one sign for each line instead, and the lines are put in their place when it writes. A terminal that just got
 * narrower is drawn on once before the lines are made anew: none may be broken by it, or its rows could not be counted.
 */
import { Transform, useStdout } from "ink"
import type { ReactElement } from "react"
import { cutColoured } from "./item-lines.js"

export function Lines({ lines }: { readonly lines: readonly string[] }): ReactElement | null {
  const { stdout } = useStdout()
  if (lines.length === 0) return null
  const signs = Array.from(lines, () => "·").join("\n")
  return <Transform transform={(_, at) => cutColoured(lines[at] ?? "", stdout.columns || 80)}>{signs}</Transform>
}
