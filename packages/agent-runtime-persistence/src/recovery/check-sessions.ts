/** Sessions and their entries: no gap, no lost parent, everything can be read, and the row says what the log says. */
import type { SessionId } from "@ku0/agent-runtime-core"
import { loadEntry } from "../session/load-entry.js"
import { isAsWritten } from "../store/row-checksum.js"
import { toEntry, toSession } from "../store/rows.js"
import type { SqlRow, SqlRunner } from "../store/sql-driver.js"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"
import { listUnfinishedImports } from "../transfer/import-mark.js"
import { deriveSession } from "./derive-session.js"
import { type Finding, finding, guarded } from "./finding.js"

const pageSize = 1_000
const day = 86_400_000

export async function checkSessions(context: TimeTravelContext): Promise<Finding[]> {
  const { driver } = context.store.context
  const found = await guarded("database-damaged", "sessions", () => findOrphanEntries(driver))
  const ids = (await driver.all("SELECT id FROM sessions ORDER BY ordinal")).map(({ id }) => id as SessionId)
  const unfinished = new Set<string>()
  await guarded("row-unreadable", "sessions", async () => {
    for (const { sessionId } of await listUnfinishedImports(context.store.context)) unfinished.add(sessionId)
    return []
  })
  for (const id of ids) {
    if (unfinished.has(id)) continue // its row is made right by its last step
    const where = `session ${id}`
    found.push(...(await guarded("row-unreadable", where, () => checkSession(context, id, where))))
  }
  return found
}

async function checkSession(context: TimeTravelContext, id: SessionId, where: string): Promise<Finding[]> {
  const { driver } = context.store.context
  const row = await driver.get("SELECT * FROM sessions WHERE id = ?", [id])
  if (row === undefined) return [] // deleted while we looked
  toSession({ ...row, ...fromLog })
  const entries = await checkEntries(driver, row, where)
  if (entries.some(({ code }) => code !== "message-index-wrong")) return entries
  const wrong = await compareRow(context, id, row, where)
  // no row is made again from entries that are wrong themselves
  return [...entries, ...(entries.length === 0 ? wrong : wrong.filter(({ code }) => code === "history-broken"))]
}

/** Counted again from the log below: whatever stands there is no reason not to read the row. */
const fromLog = { head_seq: 0, message_count: 0, checkpoint_count: 0 }

/** Walks a session's own entries once. */
async function checkEntries(driver: SqlRunner, session: SqlRow, where: string): Promise<Finding[]> {
  const found: Finding[] = []
  let next = 1
  let messageIndex = 0
  for (;;) {
    const page = await driver.all(
      `SELECT * FROM entries WHERE session_id = ? AND seq >= ? ORDER BY seq LIMIT ${pageSize}`,
      [session["id"] as string, next],
    )
    for (const row of page) {
      const seq = Number(row["seq"])
      const at = `${where}, entry ${seq}`
      const before = found.length
      if (seq !== next) found.push(gap(where, next, seq - 1))
      const parent = await parentIndex(driver, row)
      if (parent === "lost") {
        found.push(finding("lost-parent", at, "The entry it goes on from is not there."))
        messageIndex = Number(row["message_index"])
      } else {
        if (row["parent_seq"] !== null) messageIndex = parent
        else if (seq !== next) messageIndex = Number(row["message_index"]) - (isMessage(row) ? 1 : 0)
        if (isMessage(row)) messageIndex++
        if (Number(row["message_index"]) !== messageIndex) {
          const what = `It says ${row["message_index"]} messages lead to it; ${messageIndex} do.`
          found.push(finding("message-index-wrong", at, what))
          if (Number.isSafeInteger(row["message_index"])) messageIndex = Number(row["message_index"])
        }
      }
      found.push(...(await guarded("entry-unreadable", at, () => readEntry(driver, row))))
      if (found.length === before && !isAsWritten("entries", row)) {
        found.push(finding("entry-changed", at, "It is not what was written: its bytes have changed."))
      }
      next = seq + 1
    }
    if (page.length < pageSize) break
  }
  const headSeq = Number(session["head_seq"])
  if (headSeq > next - 1 && Number.isSafeInteger(headSeq)) found.push(gap(where, next, headSeq))
  return found
}

async function readEntry(driver: SqlRunner, row: SqlRow): Promise<Finding[]> {
  if (row["blob_hash"] === null) toEntry(row, row["data"])
  else await loadEntry(driver, { sessionId: row["session_id"] as SessionId, seq: Number(row["seq"]) })
  return []
}

/** How many messages lead to where an entry goes on from; 0 for one that goes on from the entry before it. */
async function parentIndex(driver: SqlRunner, row: SqlRow): Promise<number | "lost"> {
  if (row["parent_seq"] === null) return 0
  const parent = await driver.get("SELECT message_index FROM entries WHERE session_id = ? AND seq = ?", [
    row["parent_session_id"] ?? null,
    row["parent_seq"] ?? null,
  ])
  const isLater = row["parent_session_id"] === row["session_id"] && Number(row["parent_seq"]) >= Number(row["seq"])
  return parent === undefined || isLater ? "lost" : Number(parent["message_index"])
}

/** The row is made from the log; here it is made again and compared. */
async function compareRow(context: TimeTravelContext, id: SessionId, row: SqlRow, where: string): Promise<Finding[]> {
  const found: Finding[] = []
  const derived = await guarded("history-broken", where, async () => {
    const right = await deriveSession(context.store, id)
    const differ = (
      code: "row-changed" | "head-wrong" | "phase-wrong" | "counter-wrong",
      column: string,
      value: unknown,
      canRepair = true,
    ) => {
      if (row[column] === value) return
      found.push(finding(code, where, `${column} is ${row[column]}; by the log it is ${value}.`, canRepair))
    }
    for (const [column, value] of Object.entries(right.fixed)) differ("row-changed", column, value)
    if (right.workspacePath !== undefined) differ("row-changed", "workspace_path", right.workspacePath, false)
    differ("head-wrong", "head_seq", right.headSeq)
    differ("counter-wrong", "message_count", right.messageCount)
    differ("phase-wrong", "phase", right.phase)
    differ("phase-wrong", "status", right.status)
    if (right.checkpoints !== "lost") differ("counter-wrong", "checkpoint_count", right.checkpoints)
    const lastNumber = row["last_checkpoint_number"]
    if (Number(lastNumber) < right.lastNumber || !Number.isSafeInteger(lastNumber)) {
      differ("counter-wrong", "last_checkpoint_number", right.lastNumber)
    }
    if (!("deleted_at" in right.fixed) && isDeletedTooEarly(row)) {
      const what = `deleted_at is ${row["deleted_at"]}, but it was changed at ${row["updated_at"]}.`
      found.push(finding("row-changed", where, what))
    }
    return []
  })
  return [...derived, ...found]
}

/** Nothing changes a deleted session; clocks that are set back are not set back that far. */
function isDeletedTooEarly(row: SqlRow): boolean {
  return row["deleted_at"] !== null && Number(row["deleted_at"]) < Number(row["updated_at"]) - day
}

/** Entries whose session is not there: nothing shows them any more. */
async function findOrphanEntries(driver: SqlRunner): Promise<Finding[]> {
  const rows = await driver.all(
    `SELECT session_id, COUNT(*) AS count FROM entries
     WHERE NOT EXISTS (SELECT 1 FROM sessions WHERE sessions.id = entries.session_id) GROUP BY session_id`,
  )
  return rows.map((row) =>
    finding("lost-parent", `session ${row["session_id"]}`, `Its row is gone; ${row["count"]} entries are left.`),
  )
}

function gap(where: string, from: number, to: number): Finding {
  const what = from === to ? `Entry ${from} is missing.` : `Entries ${from} to ${to} are missing.`
  return finding("sequence-gap", where, what)
}

function isMessage(row: SqlRow): boolean {
  return row["type"] === "message:added"
}
