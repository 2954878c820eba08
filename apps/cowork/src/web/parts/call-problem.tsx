/** Why a change was refused. A session that runs is the one reason everybody meets: who holds it, and that nothing was done. */
import type { KeepupError } from "@ku0/agent-runtime-core"
import type { Holder } from "../../api.js"
import { describeHolder } from "../state/labels.js"
import { visibleName } from "../visible-text.js"
import { Problem } from "./basics.js"

export function CallProblem({ error }: { readonly error: KeepupError }) {
  if (error.code !== "SESSION_RUNNING") return <Problem error={error} />
  const holder = error.details as Partial<Holder> | undefined
  const isKnown = holder?.pid !== undefined && holder.since !== undefined && holder.host !== undefined
  return (
    <Problem error={error}>
      {isKnown ? (
        <p>Held by {visibleName(describeHolder({ purpose: "a run", ...holder } as Holder, Date.now()))}.</p>
      ) : null}
      <p>Nothing was changed.</p>
    </Problem>
  )
}
