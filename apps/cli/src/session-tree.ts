/** Sessions as a tree: each branch under the session it came from, with the checkpoint where it left. */
import { type CheckpointId, type Session, shortId } from "@ku0/agent-runtime"
import type { Context } from "./context.js"
import { oneLine, plural } from "./output/text.js"
import { relativeTime } from "./output/time.js"
import type { TreeNode } from "./output/tree.js"

/** Oldest first at every level. A session whose parent is not in the list stands at the top. */
export async function plantSessions(context: Context, sessions: readonly Session[]): Promise<TreeNode[]> {
  const { store } = await context.openRuntime()
  const known = new Set(sessions.map(({ id }) => id))
  const numbers = new Map<string, number>()
  for (const { forkedFromCheckpointId } of sessions) {
    if (forkedFromCheckpointId === null) continue
    const checkpoint = await store.checkpoints.find(forkedFromCheckpointId as CheckpointId)
    if (checkpoint !== undefined) numbers.set(forkedFromCheckpointId, checkpoint.number)
  }
  const oldestFirst = [...sessions].reverse()
  const under = (parent: Session | undefined): TreeNode[] =>
    oldestFirst
      .filter(({ parentSessionId }) =>
        parent === undefined ? parentSessionId === null || !known.has(parentSessionId) : parentSessionId === parent.id,
      )
      .map((session) => ({ text: describe(context, session, numbers), children: under(session) }))
  return under(undefined)
}

function describe({ styles, now }: Context, session: Session, numbers: ReadonlyMap<string, number>): string {
  const from = session.forkedFromCheckpointId === null ? undefined : numbers.get(session.forkedFromCheckpointId)
  const facts = [
    session.status,
    plural(session.messageCount, "message"),
    plural(session.checkpointCount, "checkpoint"),
    relativeTime(session.updatedAt, now),
  ]
  const origin = from === undefined ? "" : styles.yellow(`from #${from}  `)
  return `${origin}${styles.cyan(shortId(session.id))}  ${oneLine(session.name)}  ${styles.dim(`(${facts.join(", ")})`)}`
}
