/** Puts together the state of the parts that keep some: the file context, the todo list. */

export interface StatePart {
  /** The value if it changed since the last call, else `undefined`. Must not throw. */
  takeChange(): unknown
}

/** State keys → a function for `takeChangedState` of the loop. */
export function collectState(
  parts: Readonly<Record<string, StatePart>>,
): () => Readonly<Record<string, unknown>> | undefined {
  return () => {
    const changed = Object.entries(parts).flatMap(([key, part]): [string, unknown][] => {
      const value = part.takeChange()
      return value === undefined ? [] : [[key, value]]
    })
    return changed.length === 0 ? undefined : Object.fromEntries(changed)
  }
}
