/**
 * What the log says of restores. Their records are short forms of it: one that says something else would bring back what
 * was never there.
 */
import { type EventData, isKeepupError, KeepupError, type Restore, type RestoreStatus } from "@ku0/agent-runtime-core"
import { toEntries } from "../session/load-entry.js"
import { isAsWritten } from "../store/row-checksum.js"
import type { SqlRow, SqlRunner } from "../store/sql-driver.js"

export interface LoggedRestore extends Pick<EventData<"session:restore-started">, "checkpointId" | "mode" | "paths"> {
  readonly sessionId: string
  readonly safetyCheckpointId: string | null
  /** Whether it was undone later only the records tell. */
  readonly status: Exclude<RestoreStatus, "undone">
  /** False: its entries themselves have changed. */
  readonly isSure: boolean
}

const started = "type = 'session:restore-started'"
const ended = "type IN ('checkpoint:restored', 'session:restore-failed')"

/** Throws `CORRUPT` where the record of a restore does not say what the log says, or one that came after it has none. */
export async function requireLogged(runner: SqlRunner, restore: Restore): Promise<void> {
  const { id, sessionId } = restore
  const rows = await readEntriesOf(runner, restore)
  const logged = (await foldRestores(runner, rows)).get(id)
  const session = await runner.get("SELECT workspace_path FROM sessions WHERE id = ?", [sessionId])
  if (logged === undefined || session?.["workspace_path"] !== restore.workspacePath || !isSame(restore, logged)) {
    refuse(id, `The record of restore ${id} does not say what the log of its session says.`, repairFirst)
  }
  const later = await runner.all(
    `SELECT * FROM entries WHERE session_id = ? AND type = 'checkpoint:restored' AND seq > ? ORDER BY seq`,
    [sessionId, Number(rows.at(-1)?.["seq"])],
  )
  for (const row of later) {
    const restoreId = (await readData(runner, row))?.restoreId
    if (typeof restoreId !== "string") continue
    const record = await runner.get("SELECT 1 FROM restores WHERE id = ?", [restoreId])
    if (record !== undefined) continue
    refuse(restoreId, `The record of restore ${restoreId}, a later one, is gone.`, restoreInstead)
  }
}

/** How it started and, if it has, ended. A session has one restore at a time: nothing else started in between. */
async function readEntriesOf(runner: SqlRunner, { id, sessionId }: Restore): Promise<SqlRow[]> {
  const end = await runner.get(
    `SELECT * FROM entries WHERE session_id = ? AND ${ended} AND data LIKE ? ORDER BY seq DESC LIMIT 1`,
    [sessionId, `%"${id}"%`],
  )
  const start = await runner.get(
    `SELECT * FROM entries WHERE session_id = ? AND ${started} AND seq < ? ORDER BY seq DESC LIMIT 1`,
    [sessionId, end?.["seq"] ?? Number.MAX_SAFE_INTEGER],
  )
  return [start, end].filter((row) => row !== undefined)
}

function isSame(restore: Restore, logged: LoggedRestore): boolean {
  return (
    logged.checkpointId === restore.checkpointId &&
    logged.safetyCheckpointId === restore.safetyCheckpointId &&
    logged.mode === restore.mode &&
    logged.status === restore.status &&
    (logged.paths === undefined || JSON.stringify(logged.paths) === JSON.stringify(restore.paths))
  )
}

const repairFirst = "Run `keepup doctor --repair`, then try again."
const restoreInstead =
  "Restore the checkpoint you want instead: `keepup checkpoint list` shows those taken before each restore."

function refuse(restoreId: string, message: string, next: string): never {
  throw new KeepupError("CORRUPT", message, { hint: `Nothing was changed. ${next}`, details: { restoreId } })
}

export async function readLoggedRestores(runner: SqlRunner): Promise<Map<string, LoggedRestore>> {
  const rows = await runner.all(`SELECT * FROM entries WHERE ${started} OR ${ended} ORDER BY session_id, seq`)
  return await foldRestores(runner, rows)
}

async function foldRestores(runner: SqlRunner, rows: readonly SqlRow[]): Promise<Map<string, LoggedRestore>> {
  const found = new Map<string, LoggedRestore>()
  for (const row of rows) {
    const data = await readData(runner, row)
    if (data === undefined) continue
    const isSure = isAsWritten("entries", row)
    if (row["type"] === "session:restore-started") {
      const { restoreId, checkpointId, safetyCheckpointId, mode, paths } = data
      const place = { sessionId: row["session_id"] as string, status: "started" as const, isSure }
      found.set(restoreId, { ...place, checkpointId, safetyCheckpointId, mode, paths })
      continue
    }
    const known = found.get(data.restoreId)
    const status = row["type"] === "checkpoint:restored" ? "applied" : "taken-back"
    if (known !== undefined) found.set(data.restoreId, { ...known, status, isSure: known.isSure && isSure })
  }
  return found
}

/** Nothing of an entry that can't be read: the check of sessions tells of it. */
async function readData(runner: SqlRunner, row: SqlRow): Promise<EventData<"session:restore-started"> | undefined> {
  try {
    const [entry] = await toEntries(runner, [row])
    return entry?.data as EventData<"session:restore-started">
  } catch (error) {
    if (!isKeepupError(error)) throw error
    return undefined
  }
}
