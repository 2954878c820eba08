/** The head of a session's page: what it is, and what can be done with all of it. */
import { toKeepupError } from "@ku0/agent-runtime-core"
import { type FormEvent, useState } from "react"
import type { Graph, SessionDetail } from "../../api.js"
import { api } from "../client.js"
import { plural, shortId } from "../format.js"
import { formatRoute } from "../state/route.js"
import { Button, Go, Name, Problem, Status, Time } from "./basics.js"
import { Dialog } from "./dialog.js"
import { Icon } from "./icon.js"

interface SessionHeadProps {
  readonly detail: SessionDetail
  readonly graph: Graph | undefined
  readonly onChanged: () => void
  /** Must not throw. Says something to those who can't see it. */
  readonly onSay: (words: string) => void
}

export function SessionHead({ detail, graph, onChanged, onSay }: SessionHeadProps) {
  const { session } = detail
  const [isTaking, setTaking] = useState(false)
  const branchCount = (graph?.sessions.length ?? 1) - 1
  return (
    <header className="session-head">
      <div className="session-title">
        <Go to={{ page: "sessions" }} className="button button-quiet" aria-label="All sessions">
          <Icon name="back" />
        </Go>
        <h1>
          <Name>{session.name}</Name>
        </h1>
        <Status status={session.status} />
      </div>
      <p className="session-facts">
        <span>
          <Icon name="folder" size={14} /> <Name isCode>{session.workspacePath}</Name>
        </span>
        <span>{session.agentType}</span>
        <span>{plural(session.messageCount, "message")}</span>
        <span>{plural(session.checkpointCount, "checkpoint")}</span>
        <span>
          changed <Time at={session.updatedAt} />
        </span>
        <code>{shortId(session.id)}</code>
      </p>
      <div className="actions">
        <Button icon="plus" onClick={() => setTaking(true)}>
          Checkpoint
        </Button>
        <a
          className="button button-plain"
          href={formatRoute({ page: "replay", sessionId: session.id, checkpointId: null })}
        >
          <Icon name="play" />
          <span>Replay</span>
        </a>
        <a
          className="button button-plain"
          href={formatRoute({ page: "compare", sessionId: session.id, otherId: null })}
        >
          <Icon name="compare" />
          <span>Compare{branchCount > 0 ? ` ${plural(branchCount + 1, "branch", "branches")}` : ""}</span>
        </a>
      </div>
      {isTaking ? (
        <TakeCheckpoint
          sessionId={session.id}
          onClose={() => setTaking(false)}
          onTaken={(number) => {
            setTaking(false)
            onSay(`Checkpoint #${number} was taken.`)
            onChanged()
          }}
        />
      ) : null}
    </header>
  )
}

interface TakeCheckpointProps {
  readonly sessionId: string
  readonly onClose: () => void
  readonly onTaken: (number: number) => void
}

function TakeCheckpoint({ sessionId, onClose, onTaken }: TakeCheckpointProps) {
  const [name, setName] = useState("")
  const [error, setError] = useState<ReturnType<typeof toKeepupError> | null>(null)
  const [isAsking, setAsking] = useState(false)
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    setAsking(true)
    api
      .takeCheckpoint(sessionId, name.trim() === "" ? {} : { name: name.trim() })
      .then(
        ({ checkpoint }) => onTaken(checkpoint.number),
        (cause: unknown) => setError(toKeepupError(cause)),
      )
      .finally(() => setAsking(false))
  }
  return (
    <Dialog title="Take a checkpoint" onClose={onClose}>
      <form onSubmit={onSubmit} className="form">
        <p>Keeps the files and the conversation as they are now, so that you can come back to them.</p>
        <label htmlFor="checkpoint-name">Name, if you want one</label>
        <div className="field-row">
          <input id="checkpoint-name" value={name} maxLength={200} onChange={(event) => setName(event.target.value)} />
          <button type="submit" className="button button-primary" disabled={isAsking}>
            {isAsking ? "Taking…" : "Take it"}
          </button>
        </div>
        {error ? <Problem error={error} /> : null}
      </form>
    </Dialog>
  )
}
