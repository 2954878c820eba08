/** Beside the graph while no checkpoint is open: the conversation up to the head, and what the session kept and logged. */
import { useState } from "react"
import type { EntryJson, SessionDetail } from "../../api.js"
import { Artifacts } from "../parts/artifacts.js"
import { Logs } from "../parts/logs.js"
import { Messages } from "../parts/messages.js"

interface SessionPaneProps {
  readonly detail: SessionDetail
  readonly onEntry: (listener: (entry: EntryJson) => void) => () => void
}

export function SessionPane({ detail, onEntry }: SessionPaneProps) {
  const [tab, setTab] = useState<"messages" | "kept">("messages")
  const { id } = detail.session
  return (
    <div className="pane">
      <fieldset className="tabs">
        <legend className="hidden">What to show</legend>
        <button type="button" className="tab" aria-pressed={tab === "messages"} onClick={() => setTab("messages")}>
          Messages <span className="tab-count">{detail.session.messageCount.toLocaleString("en")}</span>
        </button>
        <button type="button" className="tab" aria-pressed={tab === "kept"} onClick={() => setTab("kept")}>
          Artifacts and log
        </button>
      </fieldset>
      {tab === "messages" ? (
        <Messages sessionId={id} checkpointId={null} onEntry={onEntry} />
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
        <section className="scroller pane-body" tabIndex={0} aria-label="Artifacts and log">
          <h2>Artifacts</h2>
          <Artifacts sessionId={id} until={null} />
          <h2>Log</h2>
          <Logs sessionId={id} until={null} />
        </section>
      )}
    </div>
  )
}
