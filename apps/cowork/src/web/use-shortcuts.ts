/** Single keys that do something, as long as nobody is typing and no window is open. */
import { useEffect, useRef } from "react"

/** By the key's name in small letters: `escape`, `arrowleft`, `?`. */
export type Shortcuts = Readonly<Record<string, () => void>>

export function useShortcuts(shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts)
  latest.current = shortcuts
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return
      const target = event.target as HTMLElement
      const isTyping = target.closest("input:not([type=range]), textarea, select, dialog, [contenteditable]") !== null
      const action = latest.current[event.key.toLowerCase()]
      if (isTyping || action === undefined || document.querySelector("dialog[open]")) return
      if (event.key === " " && target.closest("button, a, summary")) return
      event.preventDefault()
      action()
    }
    addEventListener("keydown", onKeyDown)
    return () => removeEventListener("keydown", onKeyDown)
  }, [])
}
