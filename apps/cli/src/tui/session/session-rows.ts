/** The sessions of a workspace as rows: each branch under the session it came from. */
import { type CheckpointId, type Runtime, type Session, type SessionId, shortId } from "@ku0/agent-runtime"
import { oneLine } from "../../output/text.js"
import type { SessionRow } from "../state/overlay.js"

const mostSessions = 100

/** The newest first at the top level, branches oldest first under theirs. */
export async function listSessionRows(
  { store }: Runtime,
  workspacePath: string,
  own: SessionId | undefined,
): Promise<SessionRow[]> {
  const sessions = await store.sessions.list({ workspacePath, limit: mostSessions })
  const known = new Set(sessions.map(({ id }) => id))
  const rows: SessionRow[] = []

  async function add(session: Session, depth: number): Promise<void> {
    const { id, name, status, messageCount, checkpointCount, updatedAt, forkedFromCheckpointId } = session
    const from =
      forkedFromCheckpointId === null ? undefined : await store.checkpoints.find(forkedFromCheckpointId as CheckpointId)
    rows.push({
      sessionId: id,
      shortId: shortId(id),
      name: oneLine(name),
      status,
      messageCount,
      checkpointCount,
      updatedAt,
      depth,
      fromCheckpoint: from?.number,
      isOwn: id === own,
    })
    const branches = sessions.filter(({ parentSessionId }) => parentSessionId === id).reverse()
    for (const branch of branches) await add(branch, depth + 1)
  }

  for (const session of sessions) {
    if (session.parentSessionId === null || !known.has(session.parentSessionId)) await add(session, 0)
  }
  return rows
}
