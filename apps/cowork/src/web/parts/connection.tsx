/** Says that the connection is lost, and that the page goes on by itself once it is back. */
import { describeLive, type LiveState } from "../state/live-state.js"
import { Icon } from "./icon.js"

export function Connection({ live }: { readonly live: LiveState }) {
  const words = describeLive(live)
  return (
    <div className="connection" role="status" data-live={live.phase}>
      {words === null ? null : (
        <div className="notice notice-warning">
          <Icon name="warning" />
          <div>
            <p>{words}</p>
            {live.phase === "gone" ? null : (
              <p className="muted">
                If the server was stopped, start it again: <code>keepup serve</code>. What changes meanwhile is caught
                up.
              </p>
            )}
          </div>
        </div>
      )}
    </div>
  )
}
