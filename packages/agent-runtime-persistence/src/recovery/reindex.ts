/**
 * Makes the indexes of the database again from its tables, if that is no guess. Where an index and its table differ,
 * either of them may be the damaged one: a row whose key was changed is still found by its index, and by nothing else
 * once that is made again. So it is tried on a copy first.
 */
import { copyFileSync, existsSync, rmSync } from "node:fs"
import { halfCopyName } from "../store/half-copies.js"
import { openStore } from "../store/open-store.js"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"
import { checkCheckpoints } from "./check-checkpoints.js"
import { checkDatabase } from "./check-database.js"
import { checkSessions } from "./check-sessions.js"
import { checkValues } from "./check-values.js"
import { type Finding, guarded } from "./finding.js"

const files = ["", "-wal", "-shm"]

/** `backup` is a copy of the database as it is. Returns what was done, in one sentence. */
export async function reindex(context: TimeTravelContext, backup: string): Promise<string> {
  const [missed] = await tryOnCopy(context, backup)
  if (missed !== undefined) {
    return `The indexes were left as they are: made again from the tables, they would hide what can be read now (${missed.where}).`
  }
  await context.store.context.driver.run("REINDEX")
  return "The indexes of the database were made again from its tables."
}

/** What would be wrong afterwards. */
async function tryOnCopy(context: TimeTravelContext, backup: string): Promise<Finding[]> {
  const copy = halfCopyName(backup)
  try {
    for (const end of files) if (existsSync(backup + end)) copyFileSync(backup + end, copy + end)
    const { clock, host, artifactContent } = context.store.context
    const store = await openStore(`sqlite:${copy}`, { clock, host, ...(artifactContent && { artifactContent }) })
    try {
      await store.context.driver.run("REINDEX")
      const there = { ...context, store }
      const found: Finding[] = []
      for (const check of [checkDatabase, checkSessions, checkCheckpoints, checkValues]) {
        found.push(...(await guarded("database-damaged", "its copy", () => check(there))))
      }
      return found.filter(({ severity, canRepair }) => severity === "error" && !canRepair)
    } finally {
      await store.close()
    }
  } finally {
    for (const end of files) rmSync(copy + end, { force: true })
  }
}
