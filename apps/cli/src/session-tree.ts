/** Sessions as a tree: each branch under the session it came from, with the checkpoint where it left. */
import { type CheckpointId, type Session, shortId } from "@ku0/agent-runtime"
import type { Context } from "./context.js"
import { cutName, oneLine, plural, textWidth } from "./output/text.js"
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
  const under = (parent: Session | undefined, depth = 0): TreeNode[] =>
    oldestFirst
      .filter(({ parentSessionId }) =>
        parent === undefined ? parentSessionId === null || !known.has(parentSessionId) : parentSessionId === parent.id,
      )
      .map((session) => ({ text: describe(context, session, numbers, depth), children: under(session, depth + 1) }))
  return under(undefined)
}

function describe(
  { styles, now, width }: Context,
  session: Session,
  numbers: ReadonlyMap<string, number>,
  depth: number,
): string {
  const from = session.forkedFromCheckpointId === null ? undefined : numbers.get(session.forkedFromCheckpointId)
  const facts = [
    session.status,
    plural(session.messageCount, "message"),
    plural(session.checkpointCount, "checkpoint"),
    relativeTime(session.updatedAt, now),
  ]
  const origin = from === undefined ? "" : `from #${from}  `
  // the name gets what the rest leaves; where that is not enough, the counts go
  const room = (shown: string) => width - 4 * depth - origin.length - shortId(session.id).length - 2 - shown.length - 2
  const all = `(${facts.join(", ")})`
  const shown = room(all) >= Math.min(24, textWidth(session.name)) ? all : `(${facts[0]}, ${facts[3]})`
  const name = cutName(oneLine(session.name), Math.max(12, room(shown)))
  return `${styles.magenta(origin)}${styles.cyan(shortId(session.id))}  ${name}  ${styles.dim(shown)}`
}
