/**
 * The write-ahead log of an SQLite file, as it lies there before anything is written behind it. SQLite takes a log that
 * was cut or changed for one that ends earlier, and says nothing; what it leaves out is looked for here.
 */
import { existsSync, readFileSync, statSync } from "node:fs"
import { judgeLog } from "../store/judge-log.js"
import type { SqliteDriver } from "../store/sqlite-driver.js"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"
import { type Finding, finding, guarded } from "./finding.js"

/** A log is emptied long before it is this large; reading a larger one would take too long. */
const mostBytes = 256 << 20

export async function checkLog({ store }: TimeTravelContext): Promise<Finding[]> {
  const { driver } = store.context
  if (driver.dialect !== "sqlite" || (driver as SqliteDriver).path === ":memory:") return []
  const where = `${(driver as SqliteDriver).path}-wal`
  return await guarded("log-damaged", where, () =>
    // nobody writes meanwhile
    driver.transaction("check-log", async () => {
      if (!existsSync(where) || statSync(where).size > mostBytes) return []
      const { end } = judgeLog(readFileSync(where))
      if (end === "whole") return []
      return end === "cut"
        ? [finding("log-cut", where, "It ends in the middle of a write; what was written last may be missing.")]
        : [finding("log-damaged", where, "It has changed in its middle; what was written after that is missing.")]
    }),
  )
}
