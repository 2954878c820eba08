/** The restores on record. */
import { KeepupError, type Restore, type RestoreId, type RestoreStatus } from "@ku0/agent-runtime-core"
import { parseJson } from "../store/rows.js"
import type { SqlRow, SqlRunner } from "../store/sql-driver.js"

export async function insertRestore(tx: SqlRunner, restore: Restore): Promise<void> {
  await tx.run(
    `INSERT INTO restores (id, session_id, workspace_path, checkpoint_id, safety_checkpoint_id, mode, paths, status,
       undoes, host, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      restore.id,
      restore.sessionId,
      restore.workspacePath,
      restore.checkpointId,
      restore.safetyCheckpointId,
      restore.mode,
      restore.paths === null ? null : JSON.stringify(restore.paths),
      restore.status,
      restore.undoes,
      restore.host,
      restore.createdAt,
    ],
  )
}

/** Changes the status, or throws `CONFLICT` if it is not what it was thought to be. */
export async function moveRestore(tx: SqlRunner, id: RestoreId, from: RestoreStatus, to: RestoreStatus): Promise<void> {
  const changed = await tx.run("UPDATE restores SET status = ? WHERE id = ? AND status = ?", [to, id, from])
  if (changed === 0) throw new KeepupError("CONFLICT", `Restore ${id} is not ${from} any more.`, { hint: "Reload." })
}

/** A restore is undone; if it was an undo itself, what that one had undone counts again, and so on down the line. */
export async function undoRecord(tx: SqlRunner, id: RestoreId): Promise<void> {
  await moveRestore(tx, id, "applied", "undone")
  const seen = new Set<string>()
  let [from, to] = ["undone", "applied"]
  for (let at: string = id; !seen.has(at); [from, to] = [to, from]) {
    seen.add(at)
    const row = await tx.get("SELECT undoes FROM restores WHERE id = ?", [at])
    if (typeof row?.["undoes"] !== "string") return
    at = row["undoes"]
    await tx.run("UPDATE restores SET status = ? WHERE id = ? AND status = ?", [to, at, from])
  }
}

export async function findRestore(runner: SqlRunner, id: string): Promise<Restore | undefined> {
  const row = await runner.get("SELECT * FROM restores WHERE id = ?", [id])
  return row === undefined ? undefined : toRestore(row)
}

/** The newest restore of a workspace that can be taken back: done, not undone, and not an undo itself. */
export async function findLastRestore(runner: SqlRunner, workspacePath: string): Promise<Restore | undefined> {
  const row = await runner.get(
    `SELECT * FROM restores WHERE workspace_path = ? AND status = 'applied' AND undoes IS NULL
     ORDER BY ordinal DESC LIMIT 1`,
    [workspacePath],
  )
  return row === undefined ? undefined : toRestore(row)
}

/** Restores that were started and not ended, oldest first, without their paths: one damaged row must not hide the others. */
export async function listUnfinishedRestores(runner: SqlRunner): Promise<Restore[]> {
  const rows = await runner.all("SELECT * FROM restores WHERE status = 'started' ORDER BY ordinal")
  return rows.map((row) => toRestore({ ...row, paths: null }))
}

export async function hasUnfinishedRestore(runner: SqlRunner, sessionId: string): Promise<boolean> {
  const found = await runner.get("SELECT 1 FROM restores WHERE session_id = ? AND status = 'started'", [sessionId])
  return found !== undefined
}

function toRestore(row: SqlRow): Restore {
  return {
    id: row["id"],
    sessionId: row["session_id"],
    workspacePath: row["workspace_path"],
    checkpointId: row["checkpoint_id"],
    safetyCheckpointId: row["safety_checkpoint_id"],
    mode: row["mode"],
    paths: row["paths"] === null ? null : readPaths(row),
    status: row["status"],
    undoes: row["undoes"],
    host: row["host"],
    createdAt: Number(row["created_at"]),
  } as Restore
}

function readPaths(row: SqlRow): string[] {
  const paths = parseJson(row["paths"], `restore ${row["id"]}`)
  if (Array.isArray(paths) && paths.every((path) => typeof path === "string")) return paths
  throw new KeepupError("CORRUPT", `The record of restore ${row["id"]} does not say which paths it was of.`, {
    hint: "Run `keepup doctor --repair`.",
  })
}
