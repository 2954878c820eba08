/** A copy of the database file and its log, byte for byte, made while nobody can write. Half a copy never has its name. */
import { closeSync, constants, copyFileSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import { halfCopyName, sweepHalfCopies } from "../store/half-copies.js"
import type { SqliteDriver } from "../store/sqlite-driver.js"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"

/** Returns where the copy is; `undefined` where there is no file. A server's database is backed up by its owner. */
export async function backUpDatabase({ store }: TimeTravelContext): Promise<string | undefined> {
  const { driver, clock } = store.context
  if (driver.dialect !== "sqlite" || (driver as SqliteDriver).path === ":memory:") return undefined
  const { path } = driver as SqliteDriver
  const time = new Date(clock.now()).toISOString().replace(/[^0-9]/g, "")
  sweepHalfCopies(path)
  const copy = freeName(`${path}.before-repair-${time}`)
  const ends = ["-wal", ""]
  try {
    await driver.transaction("backup", async () => {
      for (const end of ends) if (existsSync(path + end)) copyDurably(path + end, halfCopyName(copy + end))
    })
    // the file last: without it, the log beside it says nothing
    for (const end of ends) if (existsSync(halfCopyName(copy + end))) renameSync(halfCopyName(copy + end), copy + end)
  } finally {
    for (const end of ends) rmSync(halfCopyName(copy + end), { force: true })
  }
  syncPath(dirname(copy))
  return copy
}

function freeName(wanted: string): string {
  for (let i = 0; ; i++) {
    const name = i === 0 ? `${wanted}.bak` : `${wanted}-${i}.bak`
    if (!existsSync(name)) return name
  }
}

function copyDurably(from: string, to: string): void {
  rmSync(to, { force: true })
  closeSync(openSync(to, "wx", 0o600))
  copyFileSync(from, to, constants.COPYFILE_FICLONE)
  syncPath(to)
}

function syncPath(path: string): void {
  const descriptor = openSync(path, "r")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
