/** One session as the page needs it: details, graph, and every change as it happens. */
import { useCallback, useEffect, useRef, useState } from "react"
import type { EntryJson, Graph, SessionDetail, SessionNow } from "../../api.js"
import { api } from "../client.js"
import type { StreamEvent } from "../event-stream.js"
import type { LiveState } from "../state/live-state.js"
import { useLive } from "../use-live.js"
import { type Loaded, useLoad } from "../use-load.js"

export interface SessionView {
  readonly detail: Loaded<SessionDetail>
  readonly graph: Loaded<Graph>
  readonly live: LiveState
  /** Hears every entry, in order. Returns the way to stop. */
  readonly onEntry: (listener: (entry: EntryJson) => void) => () => void
  readonly reload: () => void
}

/** Entries after which checkpoints, branches or the head look different. */
const changesGraph = /^(checkpoint:|history:|session:)/
const changesDetail = /^(checkpoint:|session:|context:file-stale|artifact:)/

export function useSession(sessionId: string): SessionView {
  const detail = useLoad(`session ${sessionId}`, (signal) => api.session(sessionId, signal))
  const graph = useLoad(`graph ${sessionId}`, (signal) => api.graph(sessionId, signal))
  const listeners = useRef(new Set<(entry: EntryJson) => void>())
  const soonGraph = useSoon(graph.reload)
  const soonDetail = useSoon(detail.reload)
  const { change } = detail
  const onEvent = useCallback(
    (event: StreamEvent) => {
      if (event.type === "session") {
        const { session, headSeq, guard } = JSON.parse(event.data) as SessionNow
        change((before) => ({ ...before, session, headSeq, guard }))
      } else if (event.type === "entry") {
        const entry = JSON.parse(event.data) as EntryJson
        for (const listener of listeners.current) listener(entry)
        if (changesGraph.test(entry.type) || entry.parent !== null) soonGraph()
        if (changesDetail.test(entry.type)) soonDetail()
      }
    },
    [change, soonGraph, soonDetail],
  )
  // from what is known on: were it from the head, a connection lost before the first entry would forget where it was
  const known = useRef<number>(undefined)
  known.current ??= detail.data?.headSeq
  const live = useLive(known.current === undefined ? null : api.events(sessionId, known.current), { onEvent })
  const reload = useCallback(() => {
    soonGraph()
    soonDetail()
  }, [soonGraph, soonDetail])
  const onEntry = useCallback((listener: (entry: EntryJson) => void) => {
    listeners.current.add(listener)
    return () => listeners.current.delete(listener)
  }, [])
  // a reconnect may have missed what is not an entry: another session's branch, an undo elsewhere
  const wasLost = useRef(false)
  useEffect(() => {
    if (live.phase === "lost") wasLost.current = true
    if (live.phase !== "live" || !wasLost.current) return
    wasLost.current = false
    reload()
  }, [live.phase, reload])
  return { detail, graph, live, onEntry, reload }
}

/** Many changes in a row become one call. */
function useSoon(call: () => void): () => void {
  const [asked, setAsked] = useState(0)
  useEffect(() => {
    if (asked === 0) return
    const timer = setTimeout(call, 120)
    return () => clearTimeout(timer)
  }, [asked, call])
  return useCallback(() => setAsked((one) => one + 1), [])
}
