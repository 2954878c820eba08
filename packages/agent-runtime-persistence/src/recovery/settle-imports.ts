/** After a crash in the middle of an import: what it had written, and nobody ever saw, is taken away. */
import type { SessionId } from "@ku0/agent-runtime-core"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"
import { listUnfinishedImports, removeImported } from "../transfer/import-mark.js"

/** Returns the sessions that were taken away. */
export async function settleImports({ store }: TimeTravelContext): Promise<SessionId[]> {
  const abandoned = (await listUnfinishedImports(store.context)).filter(({ isAbandoned }) => isAbandoned)
  const ids = abandoned.map(({ sessionId }) => sessionId)
  await removeImported(store.context, ids)
  return ids
}
