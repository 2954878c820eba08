/**
 * A short checksum that a row carries of what was written into it, so that `doctor` can tell a row whose bytes changed
 * on the disk from one that never did: SQLite proves its pages only as far as their shape goes.
 */
import { crc32 } from "./crc32.js"
import type { SqlRow, SqlValue } from "./sql-driver.js"

const entryColumns = ["session_id", "seq", "type", "version", "data", "blob_hash", "created_at"] as const
const placeColumns = ["message_index", "parent_session_id", "parent_seq"] as const
const columns = {
  entries: [...entryColumns, ...placeColumns],
  /** Not `pinned` and `message_index`: the one changes, the other is a copy of what the entry says. */
  session_checkpoints: [
    ...["id", "session_id", "number", "name", "note", "entry_seq", "trigger_event", "git_branch", "git_head"],
    ...[
      "git_uncommitted",
      "git_untracked",
      "git_operation",
      "snapshot",
      "host",
      "size_bytes",
      "metadata",
      "created_at",
    ],
  ],
} as const

/** Of the values that count, in the order of the columns. */
export function checksumOf(values: readonly (SqlValue | undefined)[]): string {
  const texts = values.map((value) => (value === null || value === undefined ? "\u0001" : String(value)))
  return crc32(Buffer.from(texts.join("\0")))
}

/** Whether a row still is what was written. Rows of an older keepup have no checksum, and are taken as they are. */
export function isAsWritten(table: keyof typeof columns, row: SqlRow): boolean {
  const { checksum } = row
  return checksum === null || checksum === undefined || checksum === checksumOf(columns[table].map((name) => row[name]))
}
