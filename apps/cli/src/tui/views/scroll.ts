/** Scrolling with the keys everyone knows. */
import type { Key } from "../input/keys.js"

/** Where a key scrolls to; nothing if it does not scroll. */
export function scrollBy(key: Key, from: number, furthest: number, page: number): number | undefined {
  const to = target(key.id, from, furthest, page)
  return to === undefined ? undefined : Math.max(0, Math.min(furthest, to))
}

function target(id: string, from: number, furthest: number, page: number): number | undefined {
  if (id === "up") return from - 1
  if (id === "down") return from + 1
  if (id === "pageup") return from - page
  if (id === "pagedown") return from + page
  if (id === "home") return 0
  return id === "end" ? furthest : undefined
}
