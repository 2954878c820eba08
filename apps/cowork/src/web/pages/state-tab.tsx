/** What the agent handed over, key by key, and what changed in it since the checkpoint before. */
import { useState } from "react"
import type { CheckpointDetail, StateList, StateValue } from "../../api.js"
import { api } from "../client.js"
import { formatBytes } from "../format.js"
import { Empty, Loading, Name, Problem } from "../parts/basics.js"
import { useLoad } from "../use-load.js"
import { visibleText } from "../visible-text.js"

const changeTags = { same: "", added: "added", changed: "changed", removed: "removed" } as const

export function StateTab({ data }: { readonly data: CheckpointDetail }) {
  const { id, sessionId } = data.checkpoint
  const { data: list, error } = useLoad(`state ${id}`, (signal) => api.state(sessionId, id, signal))
  if (error) return <Problem error={error} />
  if (list === undefined) return <Loading what="the state" />
  if (list.keys.length === 0) {
    return (
      <Empty title="The agent handed over no state.">
        <p className="muted">
          An agent can: <code>keepup checkpoint create --state FILE</code>
        </p>
      </Empty>
    )
  }
  return (
    <ul className="scroller pane-body state">
      {list.keys.map((one) => (
        <li key={one.key}>
          <Key sessionId={sessionId} checkpointId={id} one={one} />
        </li>
      ))}
    </ul>
  )
}

interface KeyProps {
  readonly sessionId: string
  readonly checkpointId: string
  readonly one: StateList["keys"][number]
}

function Key({ sessionId, checkpointId, one }: KeyProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Name isCode>{one.key}</Name>
        {one.change === "same" ? null : <span className={`tag tag-${one.change}`}>{changeTags[one.change]}</span>}
      </summary>
      {isOpen ? <Values sessionId={sessionId} checkpointId={checkpointId} one={one} /> : null}
    </details>
  )
}

function Values({ sessionId, checkpointId, one }: KeyProps) {
  const { data, error } = useLoad(`state ${checkpointId} ${one.key}`, (signal) =>
    api.stateValue(sessionId, checkpointId, one.key, signal),
  )
  if (error) return <Problem error={error} />
  if (data === undefined) return <Loading what="the value" />
  if (one.change === "same" || one.change === "added") return <Value value={data.now} />
  return (
    <div className="before-after">
      <div>
        <h3>Before</h3>
        <Value value={data.before} />
      </div>
      <div>
        <h3>Now</h3>
        <Value value={data.now} />
      </div>
    </div>
  )
}

function Value({ value }: { readonly value: StateValue["now"] }) {
  if (value === null) return <p className="muted">not there</p>
  if (value.isTooLarge) return <p className="muted">{formatBytes(value.sizeBytes)}: too large to show here.</p>
  return <pre className="value">{visibleText(JSON.stringify(value.value, null, 2) ?? "")}</pre>
}
