/**
 * Reads rows of SQLite. An integer beyond 2^53 was never written: it is damage, and must not keep all that is read with it
 * from whoever asks. It is handed over as the nearest number, which is no safe integer, so that the parser of its row sees it.
 */
import type { StatementSyncInstance } from "@photostructure/sqlite"
import type { SqlRow, SqlValue } from "./sql-driver.js"

type Params = readonly SqlValue[]
type LargeRow = Readonly<Record<string, SqlValue | bigint>>

export function readRows(prepared: StatementSyncInstance, params: Params): SqlRow[] {
  const read = () => prepared.all(...(params as SqlValue[]))
  try {
    return read() as SqlRow[]
  } catch (error) {
    return (readLarge(prepared, read, error) as LargeRow[]).map(toNumbers)
  }
}

export function readFirstRow(prepared: StatementSyncInstance, params: Params): SqlRow | undefined {
  const read = () => prepared.get(...(params as SqlValue[]))
  try {
    return read() as SqlRow | undefined
  } catch (error) {
    const row = readLarge(prepared, read, error) as LargeRow | undefined
    return row && toNumbers(row)
  }
}

/** The same once more, with every integer as a bigint, if it was an integer that could not be read. */
function readLarge<Result>(prepared: StatementSyncInstance, read: () => Result, error: unknown): Result {
  const { code, message = "" } = error as { code?: unknown; message?: string }
  // the prebuilt library may call it an error of SQLite, with the same words
  if (code !== "ERR_OUT_OF_RANGE" && !message.startsWith("Value is too large to be represented")) throw error
  prepared.setReadBigInts(true)
  try {
    return read()
  } finally {
    prepared.setReadBigInts(false)
  }
}

function toNumbers(row: LargeRow): SqlRow {
  const values = Object.entries(row).map(([name, value]) => [name, typeof value === "bigint" ? Number(value) : value])
  return Object.fromEntries(values)
}
