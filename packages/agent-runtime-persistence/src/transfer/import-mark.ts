/**
 * A session that is being imported is hidden like a deleted one, and its metadata says who is at it. Whoever finds such
 * a mark of a process that is gone takes the session away: half a session is never shown.
 */
import type { SessionId } from "@ku0/agent-runtime-core"
import { isProcessAlive, ownProcess, type ProcessIdentity } from "../session/process-identity.js"
import { importMark } from "../session/session-marks.js"
import { toListedSession } from "../store/rows.js"
import type { SqlRow } from "../store/sql-driver.js"
import type { StoreContext } from "../store/store-context.js"

interface Mark extends ProcessIdentity {
  readonly since: number
}

export interface UnfinishedImport {
  readonly sessionId: SessionId
  /** False: someone is at it. */
  readonly isAbandoned: boolean
}

/** Whether another machine's import still goes on can't be seen from here; none takes a day. */
const abandonedMs = 24 * 3_600_000
const batchEntries = 1_000

export async function createImportMark(context: StoreContext): Promise<Mark> {
  return { ...(await ownProcess()), host: context.host, since: context.clock.now() }
}

export async function listUnfinishedImports(context: StoreContext): Promise<UnfinishedImport[]> {
  const rows = await context.driver.all("SELECT * FROM sessions WHERE deleted_at IS NOT NULL AND metadata LIKE ?", [
    `%"${importMark}":%`,
  ])
  const found: UnfinishedImport[] = []
  for (const row of rows) {
    const mark = readMark(row)
    if (mark === undefined) continue // it only speaks of the word
    const isAlive = await isProcessAlive(mark, context.host)
    const isAbandoned = isAlive === false || (isAlive === undefined && context.clock.now() - mark.since > abandonedMs)
    found.push({ sessionId: row["id"] as SessionId, isAbandoned })
  }
  return found
}

function readMark(row: SqlRow): Mark | undefined {
  const mark = toListedSession(row).metadata[importMark] as Partial<Mark> | undefined
  const isMark = typeof mark?.pid === "number" && typeof mark.start === "string" && typeof mark.since === "number"
  return isMark ? (mark as Mark) : undefined
}

/** Takes hidden sessions away, a little at a time, so that nobody waits long for the database. */
export async function removeImported(context: StoreContext, ids: Iterable<string>): Promise<void> {
  const { driver } = context
  for (const id of ids) {
    for (;;) {
      const newest = await driver.get("SELECT MAX(seq) AS seq FROM entries WHERE session_id = ?", [id])
      if (newest === undefined || newest["seq"] === null) break
      const keep = Number(newest["seq"]) - batchEntries
      await driver.run("DELETE FROM entries WHERE session_id = ? AND seq > ?", [id, keep])
    }
    await driver.run("DELETE FROM sessions WHERE id = ? AND deleted_at IS NOT NULL", [id])
  }
}
