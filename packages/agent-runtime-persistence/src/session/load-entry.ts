/** Reads entries with their data, wherever that is kept: in the row, or as a compressed value. */
import type { Entry, EntryRef } from "@ku0/agent-runtime-core"
import { readBlob } from "../state/blob-store.js"
import { toEntry } from "../store/rows.js"
import type { SqlRow, SqlRunner } from "../store/sql-driver.js"

export async function loadEntry(runner: SqlRunner, ref: EntryRef): Promise<{ row: SqlRow; text: string } | undefined> {
  const row = await runner.get("SELECT * FROM entries WHERE session_id = ? AND seq = ?", [ref.sessionId, ref.seq])
  return row === undefined ? undefined : { row, text: await textOf(runner, row) }
}

export async function toEntries(runner: SqlRunner, rows: readonly SqlRow[]): Promise<Entry[]> {
  const entries: Entry[] = []
  for (const row of rows) entries.push(toEntry(row, row["data"] ?? (await textOf(runner, row))))
  return entries
}

async function textOf(runner: SqlRunner, row: SqlRow): Promise<string> {
  if (row["blob_hash"] === null) return row["data"] as string
  return Buffer.from(await readBlob(runner, row["blob_hash"] as string)).toString("utf8")
}
