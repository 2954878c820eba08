/** All sessions, by workspace; changes arrive by themselves. */
import { errorCodes, type SessionStatus, sessionStatuses, toKeepupError } from "@ku0/agent-runtime-core"
import { useCallback, useDeferredValue, useEffect, useMemo, useReducer, useRef, useState } from "react"
import type { ListedSession, SessionDeleted } from "../../api.js"
import { api } from "../client.js"
import type { StreamEvent } from "../event-stream.js"
import { plural } from "../format.js"
import { Button, Empty, Loading, Name, Problem } from "../parts/basics.js"
import { Connection } from "../parts/connection.js"
import { Icon } from "../parts/icon.js"
import { SessionRow } from "../parts/session-row.js"
import { VirtualList } from "../parts/virtual-list.js"
import { emptyList, fitsFilter, type ListFilter, reduceList, toListRows } from "../state/list-state.js"
import { useLive } from "../use-live.js"
import { useTitle } from "../use-title.js"

const pageLimit = 200
/** What may pass by itself is asked for again by itself. */
const retryMs = 2_000

export function SessionsPage() {
  useTitle("Sessions")
  const [text, setText] = useState("")
  const [status, setStatus] = useState("")
  const filter = useMemo((): ListFilter => ({ text, status }), [text, status])
  const wanted = useDeferredValue(filter)
  const { list, error, load, loadMore, change } = useSessionList(wanted)
  const onEvent = useCallback(
    (event: StreamEvent) => {
      if (event.type === "ready") load()
      else if (event.type === "session") change({ type: "changed", session: JSON.parse(event.data) as ListedSession })
      else if (event.type === "deleted") change({ type: "deleted", id: (JSON.parse(event.data) as SessionDeleted).id })
    },
    [load, change],
  )
  const live = useLive(api.allEvents, { onEvent })
  const rows = useMemo(
    () => toListRows(list.sessions.filter((session) => fitsFilter(session, wanted))),
    [list.sessions, wanted],
  )
  const count = rows.filter(({ type }) => type === "session").length
  const onRange = useCallback(
    (_: number, last: number) => {
      if (list.next !== null && last >= rows.length - 20) loadMore()
    },
    [list.next, rows.length, loadMore],
  )
  return (
    <div className="page">
      <div className="page-head">
        <h1>Sessions</h1>
        <search className="filters">
          <label className="search">
            <Icon name="search" />
            <span className="hidden">Search by name, task, workspace or id</span>
            <input
              type="search"
              placeholder="Search name, task, workspace, id"
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          </label>
          <label>
            <span className="hidden">Status</span>
            <select value={status} onChange={(event) => setStatus(event.target.value as SessionStatus | "")}>
              <option value="">Any status</option>
              {sessionStatuses.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
        </search>
      </div>
      <Connection live={live} />
      {error ? (
        <Problem error={error}>
          <Button onClick={load}>Try again</Button>
        </Problem>
      ) : null}
      <p className="hidden" role="status">
        {list.isLoaded ? plural(count, "session") : ""}
      </p>
      {!list.isLoaded && !error ? <Loading what="sessions" /> : null}
      {list.isLoaded && rows.length === 0 ? <NoSessions isFiltered={text !== "" || status !== ""} /> : null}
      {rows.length > 0 ? (
        <VirtualList
          label="Sessions"
          className="sessions"
          items={rows}
          keyOf={(row) => row.key}
          estimate={(row) => (row.type === "workspace" ? 44 : 64)}
          isMeasured
          canFocus={(row) => row.type === "session"}
          onRange={onRange}
          render={(row, _, focus) =>
            row.type === "workspace" ? (
              <h2 className="workspace">
                <Icon name="folder" />
                <Name isCode>{row.path}</Name>
                <span className="muted">{plural(row.count, "session")}</span>
              </h2>
            ) : (
              <SessionRow session={row.session} focus={focus} />
            )
          }
        />
      ) : null}
    </div>
  )
}

/** Loads the first page for a filter, and more of it on demand. An answer to an older filter is not shown. */
function useSessionList(filter: ListFilter) {
  const [list, change] = useReducer(reduceList, emptyList)
  const [error, setError] = useState<ReturnType<typeof toKeepupError> | null>(null)
  const round = useRef(0)
  const isLoadingMore = useRef(false)
  const query = useMemo(
    () => ({
      limit: pageLimit,
      ...(filter.text.trim() === "" ? {} : { q: filter.text.trim() }),
      ...(filter.status === "" ? {} : { status: filter.status as SessionStatus }),
    }),
    [filter],
  )
  const load = useCallback(() => {
    const mine = ++round.current
    api.sessions(query).then(
      ({ sessions, next }) => {
        if (mine !== round.current) return
        setError(null)
        change({ type: "loaded", sessions, next })
      },
      (cause: unknown) => {
        if (mine === round.current) setError(toKeepupError(cause))
      },
    )
  }, [query])
  const { next } = list
  const loadMore = useCallback(() => {
    if (next === null || isLoadingMore.current) return
    const mine = round.current
    isLoadingMore.current = true
    api
      .sessions({ ...query, before: next })
      .then(
        (answer) => {
          if (mine === round.current) change({ type: "more", sessions: answer.sessions, next: answer.next })
        },
        (cause: unknown) => setError(toKeepupError(cause)),
      )
      .finally(() => {
        isLoadingMore.current = false
      })
  }, [next, query])
  useEffect(() => load(), [load])
  useEffect(() => {
    if (error === null || !errorCodes[error.code].retryable) return
    const timer = setTimeout(load, retryMs)
    return () => clearTimeout(timer)
  }, [error, load])
  return { list, error, load, loadMore, change }
}

function NoSessions({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No session fits the search." />
  return (
    <Empty title="No sessions yet.">
      <p>Start one in a folder you work in, and it appears here by itself:</p>
      <pre className="command">keepup run "make the tests pass"</pre>
      <p className="muted">
        Or keep a folder as it is now: <code>keepup checkpoint create --name before-refactor</code>. To see it all on a
        throw-away folder: <code>keepup demo</code>
      </p>
    </Empty>
  )
}
