/** The database file itself: pages, indexes and references, as SQLite proves them. */
import { isKeepupError, KeepupError } from "@ku0/agent-runtime-core"
import type { SqlRow } from "../store/sql-driver.js"
import type { SqliteDriver } from "../store/sqlite-driver.js"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"
import { type Finding, finding, guarded } from "./finding.js"

/** Damage that making the index anew mends: the rows themselves are whole. */
const onlyIndex = /(missing from index|wrong # of entries in index)/

export async function checkDatabase({ store }: TimeTravelContext): Promise<Finding[]> {
  const { driver } = store.context
  if (driver.dialect !== "sqlite") return []
  const where = (driver as SqliteDriver).path
  return await guarded("database-damaged", where, async () => {
    const lines = (await driver.all("PRAGMA integrity_check")).map(textOf).filter((line) => line !== "ok")
    const broken = await driver.all("PRAGMA foreign_key_check")
    return [
      ...lines.map((line) =>
        onlyIndex.test(line)
          ? finding("index-damaged", where, `An index does not fit its table: ${line}.`, true)
          : finding("database-damaged", where, `SQLite says: ${line}.`),
      ),
      ...broken.map((row) =>
        finding(
          "foreign-key-broken",
          `${row["table"]} row ${row["rowid"]}`,
          `It names a row of ${row["parent"]} that is not there.`,
        ),
      ),
    ]
  })
}

/** What a store says that can't even be opened. Anything but a store that is damaged is thrown again. */
export function describeOpenFailure(error: unknown, where: string): Finding {
  if (isKeepupError(error) && error.code === "CORRUPT") {
    return finding("database-damaged", where, `It can't be opened: ${error.message}`)
  }
  throw error instanceof KeepupError ? error : new KeepupError("INTERNAL", String(error), { cause: error })
}

function textOf(row: SqlRow): string {
  return String(Object.values(row)[0]).trim()
}
