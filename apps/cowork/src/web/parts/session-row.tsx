/** One session in a list. */
import type { ListedSession } from "../../api.js"
import { plural, shortId } from "../format.js"
import { describeHolder } from "../state/labels.js"
import { useNow } from "../use-now.js"
import { firstLine } from "../visible-text.js"
import { Go, Name, Status, Time } from "./basics.js"
import { Icon } from "./icon.js"
import type { RowFocus } from "./virtual-list.js"

export function SessionRow({ session, focus }: { readonly session: ListedSession; readonly focus: RowFocus }) {
  const now = useNow()
  const { id, name, taskDescription, status, holder, parentSessionId } = session
  return (
    <Go to={{ page: "session", sessionId: id }} className="session-row" {...focus}>
      <span className="session-main">
        <span className="session-name">
          {parentSessionId === null ? null : <Icon name="branch" />}
          <Name>{name}</Name>
          {holder ? (
            <span className="running" title={describeHolder(holder, now)}>
              <Icon name="guard" size={14} /> {holder.purpose}
            </span>
          ) : null}
        </span>
        <span className="session-task">
          <bdi>{taskDescription === name ? session.agentType : firstLine(taskDescription) || session.agentType}</bdi>
        </span>
      </span>
      <Status status={status} />
      <span className="session-counts">
        {plural(session.checkpointCount, "checkpoint")}
        <span className="muted">{plural(session.messageCount, "message")}</span>
      </span>
      <span className="session-when">
        <Time at={session.updatedAt} />
        <code className="muted">{shortId(id)}</code>
      </span>
    </Go>
  )
}
