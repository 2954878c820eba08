/** The records of restores, compared with the log and made again from it: `undo` goes by what they say. */
import type { RestoreStatus, SessionId } from "@ku0/agent-runtime-core"
import { isCopy, readWorkspacePath } from "../session/fixed-columns.js"
import type { SqlDriver, SqlRow, SqlRunner, SqlValue } from "../store/sql-driver.js"
import { type LoggedRestore, readLoggedRestores } from "../time-travel/require-logged.js"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"
import { type Finding, finding } from "./finding.js"

interface WrongColumn {
  readonly id: string
  readonly where: string
  readonly column: string
  readonly value: SqlValue
  /** `undefined`: what it should be would be a guess. */
  readonly right: SqlValue | undefined
}

export async function checkRestores({ store }: TimeTravelContext): Promise<Finding[]> {
  const { driver } = store.context
  const wrong = await listWrong(driver)
  const changed = wrong.map(({ where, column, value, right }) => {
    const log = right === undefined ? "that does not fit the log" : `by the log it is ${right}`
    return finding("row-changed", where, `${column} is ${value}; ${log}.`, right !== undefined)
  })
  return [...changed, ...(await findGone(driver))]
}

/** The log is not enough to make a record again: which one is the newest of a workspace it can't say. */
async function findGone(driver: SqlDriver): Promise<Finding[]> {
  const logged = [...(await readLoggedRestores(driver))]
  const recorded = new Set((await driver.all("SELECT id FROM restores")).map((row) => row["id"]))
  const found: Finding[] = []
  for (const [id, { sessionId }] of logged) {
    // what comes from elsewhere brings the log of its restores along, and nothing of theirs to undo
    if (recorded.has(id) || (await isCopy(driver, sessionId as SessionId))) continue
    found.push(
      finding("row-changed", `restore ${id} of session ${sessionId}`, "Its record is gone; only the log tells of it."),
    )
  }
  return found
}

export async function repairRestores({ store }: TimeTravelContext): Promise<string[]> {
  const repaired = await store.context.driver.transaction("repair-restores", async (tx) => {
    const places = new Set<string>()
    for (const { id, where, column, right } of await compare(tx)) {
      if (right === undefined) continue
      await tx.run(`UPDATE restores SET ${column} = ? WHERE id = ?`, [right, id])
      places.add(where)
    }
    return [...places]
  })
  return repaired.map((where) => `The record of ${where} was made again from the log.`)
}

/** Where something differs, it is looked at again while nobody writes: a restore may just have gone on. */
async function listWrong(driver: SqlDriver): Promise<WrongColumn[]> {
  const wrong = await compare(driver)
  return wrong.length === 0 ? wrong : await driver.transaction("check-restores", (tx) => compare(tx))
}

async function compare(runner: SqlRunner): Promise<WrongColumn[]> {
  const wrong: WrongColumn[] = []
  const rows = await runner.all("SELECT * FROM restores ORDER BY ordinal DESC")
  if (rows.length === 0) return wrong
  const logged = await readLoggedRestores(runner)
  const undone = new Set<string>()
  // newest first: an undo is known before what it undid
  for (const row of rows) {
    const id = row["id"] as string
    const note = (column: string, right: SqlValue, isSure: boolean) => {
      if (row[column] === right) return
      const where = `restore ${id} of session ${row["session_id"]}`
      wrong.push({ id, where, column, value: row[column] ?? null, right: isSure ? right : undefined })
    }
    const one = logged.get(id)
    if (one === undefined) {
      note("session_id", null, false)
      continue
    }
    const { sessionId, checkpointId, safetyCheckpointId, mode, paths, isSure } = one
    const status: RestoreStatus = one.status === "applied" && undone.has(id) ? "undone" : one.status
    note("session_id", sessionId, isSure)
    note("checkpoint_id", checkpointId, isSure)
    note("safety_checkpoint_id", safetyCheckpointId, isSure)
    note("mode", mode, isSure)
    if (paths !== undefined) note("paths", paths === null ? null : JSON.stringify(paths), isSure)
    const workspace = await readWorkspace(runner, sessionId)
    if (workspace !== undefined) note("workspace_path", workspace.path, isSure && workspace.isSure)
    note("status", status, isSure && isClear(row, status, one, logged))
    const { undoes } = row
    if (typeof undoes !== "string") continue
    if (logged.get(undoes)?.safetyCheckpointId !== checkpointId) note("undoes", null, false)
    else if (status === "applied") undone.add(undoes)
  }
  return wrong
}

/** Said to be undone though no record says by whom: unclear if it may have been, by one that went back to before it. */
function isClear(row: SqlRow, status: string, one: LoggedRestore, logged: ReadonlyMap<string, LoggedRestore>): boolean {
  if (row["status"] !== "undone" || status !== "applied") return true
  return ![...logged.values()].some((other) => other.checkpointId === one.safetyCheckpointId)
}

/** Where a session is, and whether its own row and its log agree on that. */
async function readWorkspace(runner: SqlRunner, id: string): Promise<{ path: string; isSure: boolean } | undefined> {
  const row = await runner.get("SELECT workspace_path FROM sessions WHERE id = ?", [id])
  if (row === undefined) return undefined
  const path = row["workspace_path"] as string
  const logged = await readWorkspacePath(runner, id as SessionId)
  return { path, isSure: logged === undefined || logged === path }
}
