/**
 * Brings a database to the newest schema: each step in a transaction of its own, under a lock, after a copy of the file.
 * A database of a newer keepup, or of another program, is refused and not touched.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import { KeepupError } from "@ku0/agent-runtime-core"
import { fromFileError } from "../artifact/file-error.js"
import { halfCopyName, sweepHalfCopies } from "./half-copies.js"
import { type Migration, migrations, translateTypes } from "./migrations.js"
import type { SqlDriver, SqlRunner } from "./sql-driver.js"
import type { SqliteDriver } from "./sqlite-driver.js"

/** "kup0": marks an SQLite file as ours. */
const applicationId = 0x6b757030
const advisoryLock = 0x6b757030

export interface MigrateOptions {
  /** Only tests hand in steps of their own. */
  readonly steps?: readonly Migration[]
}

/** Returns the version the database now has. */
export async function migrateSqlite(driver: SqliteDriver, options: MigrateOptions = {}): Promise<number> {
  const steps = options.steps ?? migrations
  let version = await ownVersion(driver)
  refuseNewer(version, steps.length, driver.path)
  driver.claim()
  for (; version < steps.length; version = await sqliteVersion(driver)) {
    if (version > 0 && !(await backUp(driver, version))) continue
    await driver.transaction(`migrate-${version + 1}`, async (tx) => {
      // another process may have been faster while we waited for the lock
      if ((await sqliteVersion(tx)) !== version) return
      const next = await applySteps(tx, steps, version, "sqlite")
      await tx.run(`PRAGMA application_id = ${applicationId}`)
      await tx.run(`PRAGMA user_version = ${next}`)
    })
  }
  refuseNewer(version, steps.length, driver.path)
  driver.settle()
  return version
}

/** Whether the file is ours and its schema the newest. Only reads. */
export async function isNewest(driver: SqliteDriver): Promise<boolean> {
  return (await hasOurMark(driver)) && (await sqliteVersion(driver)) === migrations.length
}

/** Returns the version the database now has. */
export async function migratePostgres(driver: SqlDriver, options: MigrateOptions = {}): Promise<number> {
  const steps = options.steps ?? migrations
  let version = await postgresVersion(driver)
  refuseNewer(version, steps.length, "on the PostgreSQL server")
  for (; version < steps.length; version = await postgresVersion(driver)) {
    await driver.transaction(`migrate-${version + 1}`, async (tx) => {
      await tx.get(`SELECT pg_advisory_xact_lock(${advisoryLock})`)
      await tx.run("CREATE TABLE IF NOT EXISTS keepup_schema (version BIGINT NOT NULL)")
      if ((await postgresVersion(tx)) !== version) return
      const next = await applySteps(tx, steps, version, "postgres")
      await tx.run("DELETE FROM keepup_schema")
      await tx.run(`INSERT INTO keepup_schema (version) VALUES (${next})`)
    })
  }
  refuseNewer(version, steps.length, "on the PostgreSQL server")
  return version
}

/**
 * The next step; all of them for a new database, since there is nothing in it that a copy between two steps could save.
 * Returns the version it then has.
 */
async function applySteps(
  tx: SqlRunner,
  steps: readonly Migration[],
  version: number,
  dialect: "sqlite" | "postgres",
): Promise<number> {
  const next = version === 0 ? steps.length : version + 1
  try {
    for (const { statements } of steps.slice(version, next)) {
      for (const statement of statements) await tx.run(translateTypes(statement, dialect))
    }
  } catch (cause) {
    // in a database without a schema of ours they are another program's
    if (version === 0 || !/already exists|duplicate column/.test((cause as Error).message)) throw cause
    throw new KeepupError(
      "CORRUPT",
      `The database is damaged: it says that its schema is ${version}, and holds more.`,
      {
        hint: "Nothing was changed. Run `keepup doctor` to see what can be saved; backups lie beside the file.",
        cause,
      },
    )
  }
  return next
}

async function hasOurMark(runner: SqlRunner): Promise<boolean> {
  return Number((await runner.get("PRAGMA application_id"))?.["application_id"]) === applicationId
}

async function sqliteVersion(runner: SqlRunner): Promise<number> {
  return Number((await runner.get("PRAGMA user_version"))?.["user_version"])
}

async function postgresVersion(runner: SqlRunner): Promise<number> {
  const table = await runner.get("SELECT to_regclass('keepup_schema') IS NOT NULL AS present")
  if (!table?.["present"]) return 0
  return Number((await runner.get("SELECT version FROM keepup_schema"))?.["version"] ?? 0)
}

function refuseNewer(version: number, newest: number, where: string): void {
  if (version <= newest) return
  throw new KeepupError(
    "STORE_TOO_NEW",
    `The database ${where} has schema ${version}; this keepup knows up to ${newest}.`,
    {
      hint: "A newer keepup wrote it. Update keepup; nothing was changed.",
      details: { version, newest },
    },
  )
}

/** The version of a file that is ours, 0 for a new one. Only reads, so that a file of someone else stays as it is. */
async function ownVersion(driver: SqliteDriver): Promise<number> {
  const isOurs = await hasOurMark(driver)
  const version = await sqliteVersion(driver)
  if (isOurs && version > 0) return version
  if (isOurs) {
    throw new KeepupError("CORRUPT", `The database ${driver.path} is damaged: it says that its schema is ${version}.`, {
      hint: "Nothing was changed. Run `keepup doctor` to see what can be saved; backups lie beside the file.",
    })
  }
  const isEmpty = (await driver.get("SELECT name FROM sqlite_master LIMIT 1")) === undefined
  if (isEmpty && version === 0) return 0
  if (await hasOurMark(driver)) return await ownVersion(driver) // another process made it in the meantime
  throw new KeepupError("INVALID_INPUT", `${driver.path} is a database of another program.`, {
    hint: "Name another file with --db or --state-dir; nothing was changed.",
  })
}

/**
 * A consistent copy beside the file, made before its schema changes. An older copy of the same version is replaced.
 * False if another process changed the schema meanwhile: then the copy is not what its name would say, and is dropped.
 */
async function backUp(driver: SqliteDriver, version: number): Promise<boolean> {
  if (driver.path === ":memory:") return true
  const copy = `${driver.path}.v${version}.bak`
  const fresh = halfCopyName(copy)
  sweepHalfCopies(driver.path)
  rmSync(fresh, { force: true })
  try {
    closeSync(openSync(fresh, "wx", 0o600)) // SQLite fills an empty file, and would make one that others can read
    driver.exec(`VACUUM INTO '${fresh.replaceAll("'", "''")}'`)
    const isCurrent = (await sqliteVersion(driver)) === version
    if (isCurrent) renameDurably(fresh, copy)
    return isCurrent
  } catch (error) {
    throw fromFileError(error, `copy the database to ${copy} before its schema changes`)
  } finally {
    rmSync(fresh, { force: true }) // half a copy on a full disk would only make it fuller
  }
}

function renameDurably(from: string, to: string): void {
  syncFile(from)
  renameSync(from, to)
  syncFile(dirname(to))
}

function syncFile(path: string): void {
  const handle = openSync(path, "r")
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
