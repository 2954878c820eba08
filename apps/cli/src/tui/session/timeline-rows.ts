/** The checkpoints of a session and of the branches that left it, as rows: each branch under the place it left from. */
import type { Checkpoint, Runtime, Session } from "@ku0/agent-runtime"
import { describeFiles } from "../../checkpoint-table.js"
import { oneLine } from "../../output/text.js"
import { triggerWords } from "../../references.js"
import type { TimelineRow } from "../state/overlay.js"

/** More than anybody looks through; the newest of a session. */
const mostCheckpoints = 200
const mostSessions = 200

/** Oldest first. A branch shows the session it came from above it, down to where it left. */
export async function listTimelineRows(runtime: Runtime, session: Session): Promise<TimelineRow[]> {
  const { store } = runtime
  const sessions = await store.sessions.list({ workspacePath: session.workspacePath, limit: mostSessions })
  const rows: TimelineRow[] = []

  async function add(one: Session, depth: number): Promise<void> {
    const checkpoints = (await store.checkpoints.list(one.id, { limit: mostCheckpoints })).reverse()
    for (const [index, checkpoint] of checkpoints.entries()) {
      rows.push(toRow(checkpoint, one, depth, { isOwn: one.id === session.id, isFirstOfSession: index === 0 }))
      const branches = sessions.filter(({ forkedFromCheckpointId }) => forkedFromCheckpointId === checkpoint.id)
      for (const branch of branches.reverse()) await add(branch, depth + 1)
    }
  }

  await add(rootOf(session, sessions), 0)
  return rows
}

function rootOf(session: Session, sessions: readonly Session[]): Session {
  const parent = sessions.find(({ id }) => id === session.parentSessionId)
  return parent === undefined ? session : rootOf(parent, sessions)
}

function toRow(
  checkpoint: Checkpoint,
  session: Session,
  depth: number,
  place: Pick<TimelineRow, "isOwn" | "isFirstOfSession">,
): TimelineRow {
  const { id, number, messageIndex, trigger, name, pinned, createdAt } = checkpoint
  return {
    checkpointId: id,
    sessionId: session.id,
    sessionName: oneLine(session.name),
    number,
    messageIndex,
    trigger: triggerWords(trigger),
    name: name === null ? null : oneLine(name),
    isPinned: pinned,
    createdAt,
    files: describeFiles(checkpoint),
    depth,
    ...place,
  }
}
