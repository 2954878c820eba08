/**
 * Proves a store sound: the database, the sessions and their logs, checkpoints, values, artifacts, snapshots, and what
 * a crash may have left. Changes nothing. An empty list means that everything that was kept can be brought back.
 */
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"
import { checkCheckpoints } from "./check-checkpoints.js"
import { checkCrashes } from "./check-crashes.js"
import { checkDatabase } from "./check-database.js"
import { checkLog } from "./check-log.js"
import { checkModes } from "./check-modes.js"
import { checkRestores } from "./check-restores.js"
import { checkSessions } from "./check-sessions.js"
import { checkSnapshots } from "./check-snapshots.js"
import { checkValues } from "./check-values.js"
import { type Check, type CheckStoreOptions, type Finding, guarded } from "./finding.js"

const checks: readonly (readonly [name: string, check: Check])[] = [
  ["log", checkLog], // before anything is written behind it
  ["database", checkDatabase],
  ["sessions", checkSessions],
  ["checkpoints", checkCheckpoints],
  ["restores", checkRestores],
  ["values", checkValues],
  ["snapshots", checkSnapshots],
  ["crashes", checkCrashes],
  ["modes", checkModes],
]

export async function checkStore(context: TimeTravelContext, options: CheckStoreOptions = {}): Promise<Finding[]> {
  const found: Finding[] = []
  for (const [done, [name, check]] of checks.entries()) {
    options.onProgress?.(done, checks.length, name)
    found.push(...(await guarded("database-damaged", `the check of ${name}`, () => check(context, options))))
  }
  return found
}
