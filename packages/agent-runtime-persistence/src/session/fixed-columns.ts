/** The columns of a session's row that never change: what its first entry says of it. */
import type { SessionId } from "@ku0/agent-runtime-core"
import { plainText } from "../store/rows.js"
import type { SqlRunner } from "../store/sql-driver.js"
import { loadEntry } from "./load-entry.js"
import { importedMark } from "./session-marks.js"

/** What the session was made with. A copy from elsewhere, and what came along with it, is in another workspace since. */
export async function readFixedColumns(runner: SqlRunner, id: SessionId): Promise<Record<string, string | null>> {
  const started = await loadEntry(runner, { sessionId: id, seq: 1 })
  const row = await runner.get("SELECT metadata, deleted_at FROM sessions WHERE id = ?", [id])
  if (started?.row["type"] !== "session:started") return {}
  const data = JSON.parse(started.text) as Record<string, unknown>
  const text = (name: string) => (typeof data[name] === "string" ? plainText(data[name]) : null)
  const isCopy = row?.["deleted_at"] !== null || JSON.parse(row["metadata"] as string)?.[importedMark] === true
  return {
    ...(text("agentType") !== null && { agent_type: text("agentType") }),
    ...(text("taskDescription") !== null && { task_description: text("taskDescription") }),
    ...(text("workspacePath") !== null && !isCopy && { workspace_path: text("workspacePath") }),
    parent_session_id: (started.row["parent_session_id"] ?? null) as string | null,
  }
}
