/** What someone must know before they change anything: who holds the session, stale files, and the restore that can be undone. */
import { type KeepupError, toKeepupError } from "@ku0/agent-runtime-core"
import { useState } from "react"
import type { Guard, SessionDetail } from "../../api.js"
import { api } from "../client.js"
import { shortId } from "../format.js"
import { describeHolder, statusHints } from "../state/labels.js"
import { useNow } from "../use-now.js"
import { visibleName } from "../visible-text.js"
import { Button, Name, Problem, Time } from "./basics.js"
import { Icon } from "./icon.js"

interface SessionNoticesProps {
  readonly detail: SessionDetail
  readonly onChanged: () => void
  readonly onSay: (words: string) => void
}

export function SessionNotices({ detail, onChanged, onSay }: SessionNoticesProps) {
  return (
    <div className="notices">
      <GuardNotice guard={detail.guard} sessionId={detail.session.id} onSay={onSay} />
      <WaitingNotice detail={detail} />
      <FailedNotice failed={detail.failed} />
      <StaleNotice stale={detail.stale} />
      {detail.lastRestore ? <UndoBar restore={detail.lastRestore} onChanged={onChanged} onSay={onSay} /> : null}
    </div>
  )
}

function GuardNotice({ guard, sessionId, onSay }: { guard: Guard; sessionId: string; onSay: (words: string) => void }) {
  const now = useNow()
  const [error, setError] = useState<KeepupError | null>(null)
  const holder = guard.session ?? guard.workspace
  if (holder === null) return null
  const isRun = guard.session !== null
  const pause = () =>
    api.pause(sessionId).then(
      () => onSay("The session was asked to pause."),
      (cause: unknown) => setError(toKeepupError(cause)),
    )
  return (
    <div className="notice notice-guard">
      <Icon name="guard" />
      <div>
        <p>
          {isRun ? "This session is held by " : "The workspace is held by "}
          <b>{visibleName(describeHolder(holder, now))}</b>. You can look at everything; restore, undo and delete wait
          until it is done.
        </p>
        <p className="muted">
          Wait for it to end, or ask it to stop at the next safe point: <code>keepup pause</code>. A process that died
          never holds it for longer than 30 seconds.
        </p>
        {isRun ? (
          <Button icon="pause" onClick={pause}>
            Ask it to pause
          </Button>
        ) : null}
        {error ? <Problem error={error} /> : null}
      </div>
    </div>
  )
}

/** A session that waits for someone says how to go on. */
function WaitingNotice({ detail }: { readonly detail: SessionDetail }) {
  const { status, id } = detail.session
  if (status !== "paused" && status !== "interrupted") return null
  return (
    <div className="notice">
      <Icon name="pause" />
      <div>
        <p>
          {statusHints[status].replace(/ Go on with:.*/, "")} To go on: <code>keepup resume {shortId(id)}</code>
        </p>
      </div>
    </div>
  )
}

/** What was not kept must not be found out only when it is needed. */
function FailedNotice({ failed }: { readonly failed: SessionDetail["failed"] }) {
  const [newest] = failed
  if (newest === undefined) return null
  return (
    <div className="notice notice-warning" role="alert">
      <Icon name="warning" />
      <div>
        <p>
          {failed.length === 1 ? "A checkpoint" : `${failed.length} checkpoints`} could not be taken, the last one{" "}
          <Time at={newest.createdAt} />: {visibleName(newest.message)}
        </p>
        <p className="muted">What happened since the newest checkpoint can't be brought back until one is taken.</p>
      </div>
    </div>
  )
}

function StaleNotice({ stale }: { readonly stale: SessionDetail["stale"] }) {
  if (stale.length === 0) return null
  const shown = stale.slice(0, 5)
  return (
    <div className="notice notice-warning">
      <Icon name="warning" />
      <div>
        <p>Stale file context detected. Reload before editing:</p>
        <ul className="paths">
          {shown.map(({ path, seq, createdAt }) => (
            <li key={seq}>
              <Name isCode>{path}</Name>{" "}
              <span className="muted">
                <Time at={createdAt} />
              </span>
            </li>
          ))}
        </ul>
        {stale.length > shown.length ? <p className="muted">and {stale.length - shown.length} more</p> : null}
      </div>
    </div>
  )
}

interface UndoBarProps {
  readonly restore: NonNullable<SessionDetail["lastRestore"]>
  readonly onChanged: () => void
  readonly onSay: (words: string) => void
}

function UndoBar({ restore, onChanged, onSay }: UndoBarProps) {
  const [error, setError] = useState<KeepupError | null>(null)
  const [isUndoing, setUndoing] = useState(false)
  const undo = () => {
    if (restore.id === null) return
    setUndoing(true)
    setError(null)
    api
      .undo(restore.id)
      .then(
        () => {
          onSay("The restore was undone.")
          onChanged()
        },
        (cause: unknown) => setError(toKeepupError(cause)),
      )
      .finally(() => setUndoing(false))
  }
  const what = { both: "Files and conversation were", files: "Files were", conversation: "The conversation was" }
  return (
    <div className="notice notice-undo">
      <Icon name="undo" />
      <div>
        <p>
          {what[restore.mode]} restored <Time at={restore.createdAt} />. Everything as it was before is kept.
        </p>
        {error ? <Problem error={error} /> : null}
      </div>
      <Button kind="primary" onClick={undo} isOff={isUndoing}>
        {isUndoing ? "Undoing…" : "Undo restore"}
      </Button>
    </div>
  )
}
