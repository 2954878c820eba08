/** What `pin` and `unpin` share: all references are found before anything is changed. */
import type { Checkpoint } from "@ku0/agent-runtime"
import { checkpointToJson } from "@ku0/agent-runtime"
import type { Context } from "./context.js"
import { describe, getCheckpoint, getSession } from "./references.js"

export async function setPinned(context: Context, references: readonly string[], pinned: boolean): Promise<void> {
  const session = await getSession(context)
  const { store } = await context.openRuntime()
  const found: Checkpoint[] = []
  for (const reference of references) found.push(await getCheckpoint(context, session, reference))
  const changed: Checkpoint[] = []
  for (const { id } of found) changed.push(await store.checkpoints.setPinned(id, pinned))
  context.answer({ checkpoints: changed.map(checkpointToJson) }, () =>
    changed
      .map((one) => `Checkpoint #${one.number} ${describe(one)} is ${pinned ? "pinned" : "no longer pinned"}.`)
      .join("\n"),
  )
}
