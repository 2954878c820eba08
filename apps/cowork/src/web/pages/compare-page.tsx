/** Two branches beside each other: what they share, where they part, and how their files and states differ. */
import { useId } from "react"
import type { CheckpointJson, Compare, Graph } from "../../api.js"
import { api } from "../client.js"
import { DiffView } from "../diff/diff-view.js"
import { plural } from "../format.js"
import { Empty, Go, Loading, Name, Problem, Status } from "../parts/basics.js"
import { Icon } from "../parts/icon.js"
import { useLoad } from "../use-load.js"
import { replaceRoute } from "../use-route.js"
import { useTitle } from "../use-title.js"
import { visibleName } from "../visible-text.js"

interface ComparePageProps {
  readonly sessionId: string
  readonly otherId: string | null
}

export function ComparePage({ sessionId, otherId }: ComparePageProps) {
  useTitle("Compare")
  const { data, error } = useLoad(`graph ${sessionId}`, (signal) => api.graph(sessionId, signal))
  if (error) return <Problem error={error} />
  if (data === undefined) return <Loading what="the branches" />
  return <Choose graph={data} sessionId={sessionId} otherId={otherId} />
}

function Choose({ graph, sessionId, otherId }: ComparePageProps & { readonly graph: Graph }) {
  const field = useId()
  const here = graph.sessions.find(({ id }) => id === sessionId)
  const others = graph.sessions.filter(({ id }) => id !== sessionId)
  const chosen = others.find(({ id }) => id === otherId) ?? others.at(-1)
  return (
    <div className="page">
      <div className="page-head">
        <div className="session-title">
          <Go to={{ page: "session", sessionId }} className="button button-quiet" aria-label="Back to the session">
            <Icon name="back" />
          </Go>
          <h1>Compare branches</h1>
        </div>
        {chosen ? (
          <div className="filters">
            <label htmlFor={field}>
              <Name>{here?.name ?? ""}</Name> with
            </label>
            <select
              id={field}
              value={chosen.id}
              onChange={(event) => replaceRoute({ page: "compare", sessionId, otherId: event.target.value })}
            >
              {others.map(({ id, name }) => (
                <option key={id} value={id}>
                  {visibleName(name)}
                </option>
              ))}
            </select>
          </div>
        ) : null}
      </div>
      {chosen ? (
        <Comparison key={chosen.id} fromId={sessionId} toId={chosen.id} />
      ) : (
        <Empty title="This session has no branches yet.">
          <p>
            Open one of its checkpoints and choose <b>Branch…</b>, or type <code>keepup rewind 3</code>. Both attempts
            can then be compared here.
          </p>
        </Empty>
      )}
    </div>
  )
}

interface ComparisonProps {
  readonly fromId: string
  readonly toId: string
}

function Comparison({ fromId, toId }: ComparisonProps) {
  const { data, error } = useLoad(`compare ${fromId} ${toId}`, (signal) => api.compare(fromId, toId, signal))
  if (error) return <Problem error={error} />
  if (data === undefined) return <Loading what="the comparison" />
  const { from, to, common, state } = data
  const [first, second] = [from.checkpoint, to.checkpoint]
  // a fresh branch stands on a checkpoint of the session it came from
  const ownerOf = ({ sessionId }: CheckpointJson) =>
    sessionId === fromId ? "the first" : sessionId === toId ? "the second" : "the session they came from"
  return (
    <div className="compare">
      <div className="sides">
        <Side side={from} shared={common?.messageIndex ?? 0} />
        <Side side={to} shared={common?.messageIndex ?? 0} />
      </div>
      <p className="muted">
        {common
          ? `They share ${plural(common.messageIndex, "message")} and part after that.`
          : "They share nothing: two histories of their own."}
        {state.length === 0 ? "" : ` The state differs in ${state.map(({ key }) => visibleName(key)).join(", ")}.`}
      </p>
      {data.canDiff && first && second ? (
        <>
          <h2>
            Files, from #{first.number} of {ownerOf(first)} to #{second.number} of {ownerOf(second)}
          </h2>
          <DiffView sessionId={first.sessionId} fromId={first.id} toId={second.id} />
        </>
      ) : (
        <Empty title="Their files can't be compared here.">
          <p>Both need a checkpoint with files, of the same workspace, on this machine.</p>
        </Empty>
      )}
    </div>
  )
}

interface SideProps {
  readonly side: Compare["from"]
  readonly shared: number
}

function Side({ side, shared }: SideProps) {
  const { session, checkpoint, messageCount } = side
  return (
    <section className="side" aria-label={visibleName(session.name)}>
      <h2>
        <Go to={{ page: "session", sessionId: session.id }}>
          <Name>{session.name}</Name>
        </Go>{" "}
        <Status status={session.status} />
      </h2>
      <p className="muted">
        {plural(Math.max(0, messageCount - shared), "message")} of its own ·{" "}
        {checkpoint ? `stands on checkpoint #${checkpoint.number}` : "no checkpoint"}
      </p>
    </section>
  )
}
