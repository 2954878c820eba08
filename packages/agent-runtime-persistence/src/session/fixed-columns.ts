/** What never changes of a session: what its first entry says of it. */
import type { SessionId } from "@ku0/agent-runtime-core"
import { plainText } from "../store/rows.js"
import type { SqlRunner } from "../store/sql-driver.js"
import { loadEntry } from "./load-entry.js"
import { importedMark } from "./session-marks.js"

/** What the session was made with; where it was made has a function of its own. */
export async function readFixedColumns(runner: SqlRunner, id: SessionId): Promise<Record<string, string | null>> {
  const started = await loadEntry(runner, { sessionId: id, seq: 1 })
  if (started?.row["type"] !== "session:started") return {}
  const data = JSON.parse(started.text) as Record<string, unknown>
  const text = (name: string) => (typeof data[name] === "string" ? plainText(data[name]) : null)
  return {
    ...(text("agentType") !== null && { agent_type: text("agentType") }),
    ...(text("taskDescription") !== null && { task_description: text("taskDescription") }),
    parent_session_id: (started.row["parent_session_id"] ?? null) as string | null,
  }
}

/** `undefined` of a copy from elsewhere, and of what came along with it: they are in another workspace since. */
export async function readWorkspacePath(runner: SqlRunner, id: SessionId): Promise<string | undefined> {
  if (await isCopy(runner, id)) return undefined
  const started = await loadEntry(runner, { sessionId: id, seq: 1 })
  if (started?.row["type"] !== "session:started") return undefined
  const { workspacePath } = JSON.parse(started.text) as Record<string, unknown>
  return typeof workspacePath === "string" ? plainText(workspacePath) : undefined
}

/** Whether it may have come from elsewhere: shown, or hidden below what was imported. */
export async function isCopy(runner: SqlRunner, id: SessionId): Promise<boolean> {
  const row = await runner.get("SELECT metadata, deleted_at FROM sessions WHERE id = ?", [id])
  if (row?.["deleted_at"] !== null) return true
  try {
    return JSON.parse(row["metadata"] as string)?.[importedMark] === true
  } catch {
    return true // whoever reads the row says that it is damaged
  }
}
