/** One session: its checkpoints and branches as a graph, and beside it the messages or one checkpoint. */
import { useMemo, useState } from "react"
import { CheckpointGraph } from "../graph/checkpoint-graph.js"
import { Button, Loading, Problem } from "../parts/basics.js"
import { Connection } from "../parts/connection.js"
import { SessionHead } from "../parts/session-head.js"
import { SessionNotices } from "../parts/session-notices.js"
import { formatRoute, type Route } from "../state/route.js"
import { useTitle } from "../use-title.js"
import { CheckpointPane } from "./checkpoint-pane.js"
import { SessionPane } from "./session-pane.js"
import { useSession } from "./use-session.js"

type SessionRoute = Extract<Route, { readonly page: "session" | "checkpoint" }>

export function SessionPage({ route }: { readonly route: SessionRoute }) {
  const view = useSession(route.sessionId)
  const { detail, graph, live } = view
  const [said, say] = useState("")
  const checkpointId = route.page === "checkpoint" ? route.checkpointId : null
  const names = useMemo(() => new Map(graph.data?.sessions.map(({ id, name }) => [id, name])), [graph.data])
  useTitle(detail.data?.session.name ?? "Session")
  if (detail.data === undefined) {
    return detail.error ? (
      <Problem error={detail.error}>
        <Button onClick={detail.reload}>Try again</Button>
      </Problem>
    ) : (
      <Loading what="the session" />
    )
  }
  const { session } = detail.data
  return (
    <div className="session">
      <SessionHead detail={detail.data} graph={graph.data} onChanged={view.reload} onSay={say} />
      <Connection live={live} />
      <SessionNotices detail={detail.data} onChanged={view.reload} onSay={say} />
      <p className="hidden" role="status">
        {said}
      </p>
      <div className={`split ${checkpointId === null ? "" : "split-open"}`}>
        <section className="split-side" aria-label="Checkpoints and branches">
          {graph.error ? <Problem error={graph.error} /> : null}
          {graph.data ? (
            <CheckpointGraph graph={graph.data} sessionId={session.id} currentId={checkpointId} />
          ) : (
            <Loading what="checkpoints" />
          )}
        </section>
        <section className="split-main" aria-label={checkpointId === null ? "Messages" : "Checkpoint"}>
          {route.page === "checkpoint" ? (
            <CheckpointPane
              key={route.checkpointId}
              route={route}
              names={names}
              graph={graph.data}
              onChanged={view.reload}
              onSay={say}
            />
          ) : (
            <SessionPane detail={detail.data} onEntry={view.onEntry} />
          )}
        </section>
      </div>
      {checkpointId === null ? null : (
        <a className="to-graph" href={formatRoute({ page: "session", sessionId: route.sessionId })}>
          All checkpoints
        </a>
      )}
    </div>
  )
}
