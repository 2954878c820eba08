/** The head of a session's page: what it is, and what can be done with all of it. */
import { useState } from "react"
import type { Graph, SessionDetail } from "../../api.js"
import { plural, shortId } from "../format.js"
import { formatRoute } from "../state/route.js"
import { goTo } from "../use-route.js"
import { Button, Go, IconButton, Name, Status, Time } from "./basics.js"
import { Icon } from "./icon.js"
import { DeleteSession, RenameSession, TakeCheckpoint } from "./session-dialogs.js"

interface SessionHeadProps {
  readonly detail: SessionDetail
  readonly graph: Graph | undefined
  readonly onChanged: () => void
  /** Must not throw. Says something to those who can't see it. */
  readonly onSay: (words: string) => void
}

export function SessionHead({ detail, graph, onChanged, onSay }: SessionHeadProps) {
  const { session } = detail
  const [asked, setAsked] = useState<"checkpoint" | "rename" | "delete" | null>(null)
  const close = () => setAsked(null)
  const done = (words: string) => {
    close()
    onSay(words)
    onChanged()
  }
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
        <Button icon="plus" onClick={() => setAsked("checkpoint")}>
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
        <IconButton icon="edit" name="Rename the session…" onClick={() => setAsked("rename")} />
        <IconButton icon="delete" name="Delete the session…" onClick={() => setAsked("delete")} />
      </div>
      {asked === "checkpoint" ? <TakeCheckpoint sessionId={session.id} onClose={close} onDone={done} /> : null}
      {asked === "rename" ? <RenameSession session={session} onClose={close} onDone={done} /> : null}
      {asked === "delete" ? (
        <DeleteSession session={session} onClose={close} onDone={() => goTo({ page: "sessions" })} />
      ) : null}
    </header>
  )
}
