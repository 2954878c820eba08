/** Proves that what was recorded leads to what was kept, and says what was compared and what does not fit. */
import { type KeepupError, toKeepupError } from "@ku0/agent-runtime-core"
import { useEffect, useRef, useState } from "react"
import type { ReplayAnswer } from "../../api.js"
import { api } from "../client.js"
import { plural } from "../format.js"
import { visibleName } from "../visible-text.js"
import { Button, Problem } from "./basics.js"
import { Icon } from "./icon.js"

type Verified = NonNullable<ReplayAnswer["verified"]>

export function VerifyReplay({
  sessionId,
  checkpointId,
}: {
  readonly sessionId: string
  readonly checkpointId: string
}) {
  const [found, setFound] = useState<Verified | KeepupError | null>(null)
  const [isAsking, setAsking] = useState(false)
  const leaving = useRef<AbortController>(undefined)
  useEffect(() => () => leaving.current?.abort(), [])
  const verify = () => {
    const controller = new AbortController()
    leaving.current = controller
    setAsking(true)
    setFound(null)
    api
      .replay(sessionId, checkpointId, { mode: "verify" }, controller.signal)
      .then(
        ({ verified }) => setFound(verified ?? null),
        (cause: unknown) => {
          if (!controller.signal.aborted) setFound(toKeepupError(cause))
        },
      )
      .finally(() => setAsking(false))
  }
  return (
    <div className="verify">
      <Button icon="check" onClick={verify} isOff={isAsking} title="Compares what was recorded with what was kept">
        {isAsking ? "Verifying…" : "Verify"}
      </Button>
      <div role="status">
        {found === null ? null : found instanceof Error ? <Problem error={found} /> : <Result verified={found} />}
      </div>
    </div>
  )
}

function Result({ verified }: { readonly verified: Verified }) {
  const { entries, messages, toolCalls, checkpoints, problems } = verified
  const compared = [
    plural(entries, "entry", "entries"),
    plural(messages, "message"),
    plural(toolCalls, "tool call"),
    plural(checkpoints, "checkpoint"),
  ].join(", ")
  if (problems.length === 0) {
    return (
      <p className="verify-good">
        <Icon name="check" /> All fits: {compared} compared.
      </p>
    )
  }
  return (
    <div className="notice notice-problem">
      <Icon name="warning" />
      <div>
        <p>
          {plural(problems.length, "thing")} {problems.length === 1 ? "does" : "do"} not fit; {compared} compared.
        </p>
        <ul className="paths">
          {problems.slice(0, 50).map((words) => (
            <li key={words}>{visibleName(words)}</li>
          ))}
        </ul>
      </div>
    </div>
  )
}
