/** Goes through a recorded history again, at any speed and from any place. No model and no tool is called. */
import { type KeepupError, toKeepupError } from "@ku0/agent-runtime-core"
import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from "react"
import type { EntryJson, ReplayAnswer } from "../../api.js"
import { api } from "../client.js"
import { Button, Empty, Go, Loading, Name, Problem } from "../parts/basics.js"
import { Icon } from "../parts/icon.js"
import { ReplayControls } from "../parts/replay-controls.js"
import { ReplayEntry } from "../parts/replay-entry.js"
import { VerifyReplay } from "../parts/verify-replay.js"
import { VirtualList } from "../parts/virtual-list.js"
import { firstReplay, reduceReplay, waitBefore } from "../state/replay-state.js"
import { useLoad } from "../use-load.js"
import { useTitle } from "../use-title.js"

interface ReplayPageProps {
  readonly sessionId: string
  /** Null: from the first checkpoint. */
  readonly checkpointId: string | null
}

export function ReplayPage({ sessionId, checkpointId }: ReplayPageProps) {
  useTitle("Replay")
  const { data, error } = useLoad(`graph ${sessionId}`, (signal) => api.graph(sessionId, signal))
  if (error) return <Problem error={error} />
  if (data === undefined) return <Loading what="the session" />
  const session = data.sessions.find(({ id }) => id === sessionId)
  const own = data.nodes.filter((node) => node.sessionId === sessionId)
  const start = checkpointId === null ? own[0] : data.nodes.find(({ id }) => id === checkpointId)
  return (
    <div className="page">
      <div className="page-head">
        <div className="session-title">
          <Go to={{ page: "session", sessionId }} className="button button-quiet" aria-label="Back to the session">
            <Icon name="back" />
          </Go>
          <h1>
            Replay <Name>{session?.name ?? ""}</Name>
            {start ? ` from #${start.number}` : ""}
          </h1>
        </div>
        {start ? <VerifyReplay sessionId={start.sessionId} checkpointId={start.id} /> : null}
      </div>
      {start ? (
        <Player sessionId={start.sessionId} checkpointId={start.id} />
      ) : (
        <Empty title="There is no checkpoint to replay from yet." />
      )}
    </div>
  )
}

const pageLimit = 200

function Player({ sessionId, checkpointId }: { readonly sessionId: string; readonly checkpointId: string }) {
  const [state, dispatch] = useReducer(reduceReplay, firstReplay)
  const { entryAt, load, error } = useEntries(sessionId, checkpointId, (total) => dispatch({ type: "loaded", total }))
  const { position, isPlaying, speed, total } = state
  const previous = entryAt(position - 1)
  const next = entryAt(position)
  useEffect(() => {
    if (!isPlaying) return
    if (next === undefined) return load(position)
    const timer = setTimeout(() => dispatch({ type: "ticked" }), waitBefore(previous?.createdAt, next.createdAt, speed))
    return () => clearTimeout(timer)
  }, [isPlaying, position, next, previous, speed, load])
  const shown = useMemo(() => Array.from({ length: position }, (_, at) => at), [position])
  const onRange = useCallback(
    (first: number, last: number) => {
      for (let at = first; at <= last; at++) if (entryAt(at) === undefined) return load(at)
    },
    [entryAt, load],
  )
  if (error) {
    return (
      <Problem error={error}>
        <Button onClick={() => load(position)}>Try again</Button>
      </Problem>
    )
  }
  return (
    <div className="replay">
      <ReplayControls state={state} dispatch={dispatch} at={previous?.createdAt ?? null} />
      {position === 0 ? (
        <Empty title={total === 0 ? "Nothing was recorded after this checkpoint." : "Press play, or move the slider."}>
          {total === 0 ? null : <p className="muted">Nothing is executed: what was recorded is shown again.</p>}
        </Empty>
      ) : (
        <VirtualList
          label="Replayed entries"
          className="messages"
          items={shown}
          keyOf={(at) => String(at)}
          estimate={() => 44}
          isMeasured
          followsEnd
          onRange={onRange}
          render={(at, _, focus) => <ReplayEntry entry={entryAt(at)} isLast={at === position - 1} focus={focus} />}
        />
      )}
    </div>
  )
}

/** Entries by position, loaded page by page where the replay is. */
function useEntries(sessionId: string, checkpointId: string, onTotal: (total: number) => void) {
  const [pages, setPages] = useState<ReadonlyMap<number, readonly EntryJson[]>>(new Map())
  const [error, setError] = useState<KeepupError | null>(null)
  const asked = useRef(new Set<number>())
  const tell = useRef(onTotal)
  tell.current = onTotal
  const load = useCallback(
    (at: number) => {
      const page = Math.floor(Math.max(0, at) / pageLimit)
      if (asked.current.has(page)) return
      asked.current.add(page)
      api.replay(sessionId, checkpointId, { mode: "show", offset: page * pageLimit, limit: pageLimit }).then(
        (answer: ReplayAnswer) => {
          setError(null)
          tell.current(answer.total)
          setPages((before) => new Map(before).set(page, answer.entries))
        },
        (cause: unknown) => {
          asked.current.delete(page)
          setError(toKeepupError(cause))
        },
      )
    },
    [sessionId, checkpointId],
  )
  useEffect(() => load(0), [load])
  const entryAt = useCallback((at: number) => pages.get(Math.floor(at / pageLimit))?.[at % pageLimit], [pages])
  return { entryAt, load, error }
}
