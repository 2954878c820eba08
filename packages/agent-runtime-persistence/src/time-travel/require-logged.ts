/**
 * What the log says of restores. Their records are short forms of it: one that says something else would bring back what
 * was never there.
 */
import { type EventData, isKeepupError, KeepupError, type Restore, type RestoreStatus } from "@ku0/agent-runtime-core"
import { isAsWritten } from "../store/row-checksum.js"
import { toEntry } from "../store/rows.js"
import type { SqlRow, SqlRunner } from "../store/sql-driver.js"

export interface LoggedRestore extends Pick<EventData<"session:restore-started">, "checkpointId" | "mode"> {
  readonly sessionId: string
  readonly safetyCheckpointId: string | null
  /** Whether it was undone later only the records tell. */
  readonly status: Exclude<RestoreStatus, "undone">
  /** False: its entries themselves have changed. */
  readonly isSure: boolean
}

const types = "type IN ('session:restore-started', 'checkpoint:restored', 'session:restore-failed')"

/** Throws `CORRUPT` where the record of a restore does not say what the log says. */
export async function requireLogged(runner: SqlRunner, restore: Restore): Promise<void> {
  const { id, sessionId, checkpointId, safetyCheckpointId, mode, status } = restore
  const newest = await runner.all(
    `SELECT * FROM entries WHERE session_id = ? AND ${types} AND data LIKE ? ORDER BY seq DESC LIMIT 2`,
    [sessionId, `%"${id}"%`],
  )
  const logged = foldRestores(newest.toReversed()).get(id)
  const isSame =
    logged?.checkpointId === checkpointId &&
    logged.safetyCheckpointId === safetyCheckpointId &&
    logged.mode === mode &&
    logged.status === status
  if (isSame) return
  throw new KeepupError("CORRUPT", `The record of restore ${id} does not say what the log of its session says.`, {
    hint: "Nothing was changed. Run `keepup doctor --repair`, then try again.",
    details: { restoreId: id },
  })
}

export async function readLoggedRestores(runner: SqlRunner): Promise<Map<string, LoggedRestore>> {
  return foldRestores(await runner.all(`SELECT * FROM entries WHERE ${types} ORDER BY session_id, seq`))
}

function foldRestores(rows: readonly SqlRow[]): Map<string, LoggedRestore> {
  const found = new Map<string, LoggedRestore>()
  for (const row of rows) {
    const data = readData(row)
    if (data === undefined) continue
    const isSure = isAsWritten("entries", row)
    if (row["type"] === "session:restore-started") {
      const { restoreId, checkpointId, safetyCheckpointId, mode } = data
      const place = { sessionId: row["session_id"] as string, status: "started" as const, isSure }
      found.set(restoreId, { ...place, checkpointId, safetyCheckpointId, mode })
      continue
    }
    const known = found.get(data.restoreId)
    const status = row["type"] === "checkpoint:restored" ? "applied" : "taken-back"
    if (known !== undefined) found.set(data.restoreId, { ...known, status, isSure: known.isSure && isSure })
  }
  return found
}

/** Nothing of an entry that can't be read: the check of sessions tells of it. */
function readData(row: SqlRow): EventData<"session:restore-started"> | undefined {
  try {
    return toEntry(row, row["data"]).data as EventData<"session:restore-started">
  } catch (error) {
    if (!isKeepupError(error)) throw error
    return undefined
  }
}
