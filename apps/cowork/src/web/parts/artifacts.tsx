/** What a session produced and kept. The content is loaded when one opens it. */
import { useState } from "react"
import type { ArtifactJson } from "../../api.js"
import { api } from "../client.js"
import { formatBytes } from "../format.js"
import { useLoad } from "../use-load.js"
import { visibleName } from "../visible-text.js"
import { Loading, Name, Problem, Time } from "./basics.js"
import { BytesView } from "./bytes-view.js"

export function Artifacts({ sessionId, until }: { readonly sessionId: string; readonly until: number | null }) {
  const { data, error } = useLoad(`artifacts ${sessionId}`, (signal) =>
    api.artifacts(sessionId, { limit: 200 }, signal),
  )
  if (error) return <Problem error={error} />
  if (data === undefined) return <Loading what="artifacts" />
  const artifacts = data.artifacts.filter(({ createdAt }) => until === null || createdAt <= until)
  if (artifacts.length === 0) return <p className="muted">No artifacts: no plan, report or long output was kept.</p>
  return (
    <ul className="artifacts">
      {artifacts.map((artifact) => (
        <li key={artifact.id}>
          <Artifact artifact={artifact} />
        </li>
      ))}
    </ul>
  )
}

function Artifact({ artifact }: { readonly artifact: ArtifactJson }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Name>{artifact.title}</Name>
        <span className="muted">
          {visibleName(artifact.type)} · {formatBytes(artifact.sizeBytes)} · <Time at={artifact.createdAt} />
        </span>
        {artifact.quarantine ? <span className="tag tag-bad">kept apart</span> : null}
      </summary>
      {artifact.quarantine ? (
        <ul className="paths">
          {artifact.quarantine.map((reason) => (
            <li key={reason}>{visibleName(reason)}</li>
          ))}
        </ul>
      ) : null}
      {isOpen ? (
        <BytesView
          id={`artifact ${artifact.id}`}
          name={artifact.title}
          load={(signal) => api.artifact(artifact.id, signal)}
        />
      ) : null}
    </details>
  )
}
