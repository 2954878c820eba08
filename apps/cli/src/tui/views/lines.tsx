/** Lines that already fit: Ink only has to put them on the screen. */
import { Text } from "ink"
import { memo, type ReactElement } from "react"

export const Lines = memo(function Lines({ lines }: { readonly lines: readonly string[] }): ReactElement | null {
  // a line of nothing would have no height
  return lines.length === 0 ? null : <Text>{lines.map((line) => (line === "" ? " " : line)).join("\n")}</Text>
})
