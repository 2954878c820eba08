/** A copy of the database file and its log, byte for byte, made while nobody can write. */
import { closeSync, constants, copyFileSync, existsSync, fsyncSync, openSync } from "node:fs"
import { dirname } from "node:path"
import type { SqliteDriver } from "../store/sqlite-driver.js"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"

/** Returns where the copy is; `undefined` where there is no file. A server's database is backed up by its owner. */
export async function backUpDatabase({ store }: TimeTravelContext): Promise<string | undefined> {
  const { driver, clock } = store.context
  if (driver.dialect !== "sqlite" || (driver as SqliteDriver).path === ":memory:") return undefined
  const { path } = driver as SqliteDriver
  const time = new Date(clock.now()).toISOString().replace(/[^0-9]/g, "")
  const copy = freeName(`${path}.before-repair-${time}`)
  await driver.transaction("backup", async () => {
    for (const end of ["", "-wal"]) if (existsSync(path + end)) copyDurably(path + end, `${copy}${end}`)
  })
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
