/** What keepup keeps is for its owner only. */
import { lstatSync, readdirSync } from "node:fs"
import { join } from "node:path"
import type { SqliteDriver } from "../store/sqlite-driver.js"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"
import { type CheckStoreOptions, type Finding, finding } from "./finding.js"

export async function checkModes(context: TimeTravelContext, options: CheckStoreOptions): Promise<Finding[]> {
  return listOpen(context, options).map((path) =>
    finding("mode-open", path, `Others may use it: mode ${(lstatSync(path).mode & 0o777).toString(8)}.`, true),
  )
}

/**
 * The state directory and, of what lies right in it, files and folders others may enter: a closed folder closes all
 * below it. The database and its log, wherever they lie.
 */
export function listOpen({ store }: TimeTravelContext, { stateDirectory }: CheckStoreOptions): string[] {
  const { driver } = store.context
  const paths: string[] = []
  if (driver.dialect === "sqlite" && (driver as SqliteDriver).path !== ":memory:") {
    const { path } = driver as SqliteDriver
    paths.push(path, `${path}-wal`, `${path}-shm`)
  }
  if (stateDirectory !== undefined) {
    paths.push(stateDirectory, ...readdirSync(stateDirectory).map((name) => join(stateDirectory, name)))
  }
  return [...new Set(paths)].filter((path) => {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    const isSecret = path === stateDirectory || !stat?.isDirectory()
    return stat !== undefined && !stat.isSymbolicLink() && isSecret && (stat.mode & 0o077) !== 0
  })
}
