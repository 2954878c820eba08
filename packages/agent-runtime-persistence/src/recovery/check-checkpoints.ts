/** Checkpoint rows and the entries they stand on: each row has its entry, and no row was lost. */
import type { SessionId } from "@ku0/agent-runtime-core"
import { loadEntry } from "../session/load-entry.js"
import { isAsWritten } from "../store/row-checksum.js"
import { toCheckpoint, toEntry } from "../store/rows.js"
import type { SqlRow, SqlRunner } from "../store/sql-driver.js"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"
import { listLost } from "./derive-session.js"
import { type Finding, finding, guarded } from "./finding.js"

export async function checkCheckpoints({ store }: TimeTravelContext): Promise<Finding[]> {
  const { driver } = store.context
  const found: Finding[] = []
  for (const row of await driver.all("SELECT * FROM session_checkpoints ORDER BY session_id, number")) {
    const where = `checkpoint #${row["number"]} (${row["id"]}) of session ${row["session_id"]}`
    found.push(...(await guarded("row-unreadable", where, () => checkRow(driver, row, where))))
  }
  for (const { id } of await driver.all("SELECT id FROM sessions ORDER BY ordinal")) {
    const where = `session ${id}`
    const lost = await guarded("history-broken", where, () => findLost(driver, id as SessionId, where))
    found.push(...lost.filter(({ code }) => code !== "history-broken")) // told by the check of sessions
  }
  return found
}

async function checkRow(driver: SqlRunner, row: SqlRow, where: string): Promise<Finding[]> {
  const checkpoint = toCheckpoint({ ...row, message_index: 0 }) // its entry tells that one
  const { sessionId, entrySeq, number } = checkpoint
  const stored = await loadEntry(driver, { sessionId, seq: entrySeq })
  const entry = stored && toEntry(stored.row, stored.text)
  const data = entry?.data as { checkpointId?: unknown; number?: unknown } | undefined
  if (entry?.type !== "checkpoint:created" || data?.checkpointId !== checkpoint.id || data.number !== number) {
    return [finding("checkpoint-without-entry", where, `Entry ${entrySeq} of its session does not tell of it.`)]
  }
  if (!isAsWritten("session_checkpoints", row)) {
    return [finding("row-changed", where, "It is not what was written: its bytes have changed.")]
  }
  if (entry.messageIndex === row["message_index"]) return []
  const what = `message_index is ${row["message_index"]}; by its entry it is ${entry.messageIndex}.`
  return [finding("counter-wrong", where, what, stored !== undefined && isAsWritten("entries", stored.row))]
}

async function findLost(driver: SqlRunner, id: SessionId, where: string): Promise<Finding[]> {
  const list = (await listLost(driver, id)).map(({ number }) => `#${number}`).join(", ")
  return list === ""
    ? []
    : [finding("checkpoint-lost", where, `It counts more checkpoints than it has: gone is ${list}.`)]
}
