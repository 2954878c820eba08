/** Moving about in the lists that lie over the conversation. */
import type { Overlay } from "./overlay.js"

/** The selection never leaves the rows. A new one in the timeline has no preview yet. */
export function moveSelection(overlay: Overlay | undefined, index: number): Overlay | undefined {
  if (overlay?.kind !== "timeline" && overlay?.kind !== "sessions") return overlay
  const selected = Math.max(0, Math.min(index, overlay.rows.length - 1))
  if (selected === overlay.selected) return overlay
  if (overlay.kind === "sessions") return { ...overlay, selected }
  return { ...overlay, selected, preview: { status: "loading", stat: "", patch: "" } }
}
