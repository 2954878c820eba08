/** Loads something when its key changes, keeps what was loaded for a quick way back, and ends what is not wanted any more. */
import { toKeepupError } from "@ku0/agent-runtime-core"
import { useCallback, useEffect, useReducer, useRef, useState } from "react"
import { type LoadAction, type LoadState, reduceLoad } from "./state/load-state.js"

export interface Loaded<Data> extends LoadState<Data> {
  readonly reload: () => void
  readonly change: (change: (data: Data) => Data) => void
}

const kept = new Map<string, unknown>()
const mostKept = 60

export function useLoad<Data>(key: string | null, load: (signal: AbortSignal) => Promise<Data>): Loaded<Data> {
  const [state, dispatch] = useReducer(reduceLoad<Data>, {
    data: kept.get(key ?? "") as Data | undefined,
    error: undefined,
    isLoading: key !== null,
  })
  const [round, setRound] = useState(0)
  const latest = useRef(load)
  latest.current = load
  const shownKey = useRef<string | null>(null)

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key and the round say when; `load` is new at each render
  useEffect(() => {
    if (key === null) return
    const controller = new AbortController()
    if (shownKey.current !== key || !kept.has(key)) dispatch({ type: "asked", keep: kept.get(key) as Data | undefined })
    shownKey.current = key
    const settle = (action: LoadAction<Data>) => {
      if (!controller.signal.aborted) dispatch(action)
    }
    latest.current(controller.signal).then(
      (data) => {
        keep(key, data)
        settle({ type: "answered", data })
      },
      (error: unknown) => settle({ type: "failed", error: toKeepupError(error) }),
    )
    return () => controller.abort()
  }, [key, round])

  const reload = useCallback(() => setRound((one) => one + 1), [])
  const change = useCallback((how: (data: Data) => Data) => dispatch({ type: "changed", change: how }), [])
  return { ...state, reload, change }
}

function keep(key: string, data: unknown): void {
  kept.delete(key)
  kept.set(key, data)
  if (kept.size > mostKept) kept.delete(kept.keys().next().value as string)
}
