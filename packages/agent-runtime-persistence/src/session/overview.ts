/** Looking over all sessions at once: their workspaces, who changed since a moment, which there are. */
import type { Session, SessionId } from "@ku0/agent-runtime-core"
import type { Store } from "../store/open-store.js"
import { pageLimit } from "../store/page-limit.js"
import { toListedSession } from "../store/rows.js"

export interface KnownWorkspace {
  readonly path: string
  readonly sessionCount: number
  readonly updatedAt: number
}

/** Workspaces with sessions, the one changed last first. */
export async function listKnownWorkspaces({ context }: Store, limit?: number): Promise<KnownWorkspace[]> {
  const rows = await context.driver.all(
    `SELECT workspace_path, COUNT(*) AS session_count, MAX(updated_at) AS updated FROM sessions
     WHERE deleted_at IS NULL GROUP BY workspace_path ORDER BY updated DESC, workspace_path LIMIT ?`,
    [pageLimit(limit, 1_000, 1_000)],
  )
  return rows.map((row) => ({
    path: row["workspace_path"] as string,
    sessionCount: Number(row["session_count"]),
    updatedAt: Number(row["updated"]),
  }))
}

/** Sessions that changed at this moment or later, the one changed last first. */
export async function listChangedSessions({ context }: Store, since: number, limit?: number): Promise<Session[]> {
  const rows = await context.driver.all(
    "SELECT * FROM sessions WHERE updated_at >= ? AND deleted_at IS NULL ORDER BY updated_at DESC LIMIT ?",
    [since, pageLimit(limit, 200, 1_000)],
  )
  return rows.map(toListedSession)
}

export async function countSessions({ context }: Store): Promise<number> {
  const row = await context.driver.get("SELECT COUNT(*) AS number FROM sessions WHERE deleted_at IS NULL")
  return Number(row?.["number"] ?? 0)
}

export async function listSessionIds({ context }: Store): Promise<SessionId[]> {
  const rows = await context.driver.all("SELECT id FROM sessions WHERE deleted_at IS NULL")
  return rows.map((row) => row["id"] as SessionId)
}
