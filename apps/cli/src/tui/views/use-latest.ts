/** State that a key can read right after another key changed it, before anything was drawn. */
import { useCallback, useReducer, useRef } from "react"

export function useLatest<Value>(first: Value): readonly [read: () => Value, write: (value: Value) => void] {
  const value = useRef(first)
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const read = useCallback(() => value.current, [])
  const write = useCallback((next: Value) => {
    if (next === value.current) return
    value.current = next
    redraw()
  }, [])
  return [read, write]
}
