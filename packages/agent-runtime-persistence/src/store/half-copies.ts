/** Copies of a database that a killed process left unfinished. Each is named after the process that was at it. */
import { readdirSync, rmSync, statSync } from "node:fs"
import { basename, dirname, join } from "node:path"

/** A number may have been given to another process since; nobody copies for a day. */
const abandonedMs = 24 * 3_600_000

export function halfCopyName(copy: string): string {
  return `${copy}.${process.pid}.tmp`
}

/** Takes away what nobody is at any more. */
export function sweepHalfCopies(database: string): void {
  const folder = dirname(database)
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(`${basename(database)}.`)) continue
    const pid = /\.bak(?:-wal)?\.(\d+)\.tmp$/.exec(name)?.[1]
    if (pid === undefined || Number(pid) === process.pid) continue
    if (!isRunning(Number(pid)) || isAbandoned(join(folder, name))) rmSync(join(folder, name), { force: true })
  }
}

function isAbandoned(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  return found !== undefined && Date.now() - found.mtimeMs > abandonedMs
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH"
  }
}
