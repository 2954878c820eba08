/**
 * SQLite behind the port. One connection, owned here together with every cached statement: a statement does not keep
 * its connection alive. Work queues up, so that a transaction is never interleaved with anything else.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
} from "node:fs"
import { dirname } from "node:path"
import { KeepupError } from "@ku0/agent-runtime-core"
import type { DatabaseSyncInstance, StatementSyncInstance } from "@photostructure/sqlite"
import { retryWhileBusy, shortTryMs } from "./busy-wait.js"
import { createDatabasePlace, findFile, lostPlace } from "./database-place.js"
import { followLinks } from "./follow-links.js"
import { judgeLog } from "./judge-log.js"
import { loadSqlite } from "./load-sqlite.js"
import { readFirstRow, readRows } from "./read-rows.js"
import type { SqlDriver, SqlRunner, SqlValue, StepProbe } from "./sql-driver.js"
import { closedError, fromSqliteError } from "./sql-errors.js"
import { joinQueue } from "./work-queue.js"

/** The file of a store whose tables are still in its log has one page. */
const pageBytes = 4_096

export interface OpenSqliteOptions {
  /** A file, or `:memory:`. */
  readonly path: string
  readonly busyTimeoutMs: number
  readonly onStep: StepProbe
}

export interface SqliteDriver extends SqlDriver {
  readonly path: string
  /** Runs several statements at once, outside of a transaction. */
  exec(sql: string): void
  /** Makes a file that proved to be ours ready to be written. Until then it is only read. */
  claim(): void
  /**
   * Puts the tables of a young store into its file. As long as they are in the log alone, one that lost the beginning of
   * its log looks like one that was never used.
   */
  settle(): void
}

export function openSqliteDriver(options: OpenSqliteOptions): SqliteDriver {
  const { onStep, busyTimeoutMs } = options
  const isFile = options.path !== ":memory:"
  const path = isFile ? followLinks(options.path) : options.path
  if (isFile) prepareFile(path)
  const database = openDatabase(path, busyTimeoutMs)
  const place = isFile ? createDatabasePlace(path) : undefined
  const queue = joinQueue(place?.identity)
  const statements = new Map<string, StatementSyncInstance>()
  let isOpen = true
  let isClaimed = false

  function statement(sql: string): StatementSyncInstance {
    let prepared = statements.get(sql)
    if (prepared === undefined) {
      // a bare limit has SQLite plan the statement anew at each run, which takes longer than to run it
      prepared = database.prepare(sql.replaceAll("LIMIT ?", "LIMIT ? + 0"))
      statements.set(sql, prepared)
    }
    return prepared
  }

  function guard<Result>(work: () => Result): Result {
    if (!isOpen) throw closedError(path)
    try {
      return work()
    } catch (error) {
      throw fromSqliteError(error, path)
    }
  }

  type Params = readonly SqlValue[]
  const allRows = (sql: string, params: Params) => readRows(statement(sql), params)
  const firstRow = (sql: string, params: Params) => readFirstRow(statement(sql), params)
  const change = (sql: string, params: Params) => Number(statement(sql).run(...(params as SqlValue[])).changes)
  const direct: SqlRunner = {
    all: async (sql, params = []) => guard(() => allRows(sql, params)),
    get: async (sql, params = []) => guard(() => firstRow(sql, params)),
    run: async (sql, params = []) => guard(() => change(sql, params)),
  }

  /** From here on every longer wait is ours. */
  const waitShortly = (): void => {
    guard(() => database.exec(`PRAGMA busy_timeout = ${Math.min(busyTimeoutMs, shortTryMs)}`))
  }

  /** The same, for whoever waits if another process is writing. */
  const patient = <Result>(work: () => Result): Promise<Result> => retryWhileBusy(() => guard(work), busyTimeoutMs)

  /** Ends the transaction of whoever would write into nowhere. What the log held before goes into the file if it can. */
  function requirePlace(): void {
    const loss = place?.findLoss()
    if (loss === undefined) return
    database.exec("ROLLBACK")
    const isAlone = loss === "-wal" && findFile(`${path}-wal`) === undefined
    throw lostPlace(path, loss, isAlone && emptyLog(database))
  }

  /** In a write-ahead log, whatever is synced takes all that was written before with it. */
  async function inShortTransaction<Result>(name: string, work: (tx: SqlRunner) => Promise<Result>): Promise<Result> {
    database.exec("PRAGMA synchronous = NORMAL")
    try {
      return await inTransaction(name, work)
    } finally {
      if (isOpen) database.exec("PRAGMA synchronous = FULL")
    }
  }

  async function inTransaction<Result>(name: string, work: (tx: SqlRunner) => Promise<Result>): Promise<Result> {
    await patient(() => statement("BEGIN IMMEDIATE").run())
    if (isClaimed) place?.noteLog()
    onStep(`${name}:begun`)
    try {
      const result = await work(direct)
      onStep(`${name}:written`)
      requirePlace()
      await patient(() => statement("COMMIT").run())
      onStep(`${name}:committed`)
      return result
    } catch (error) {
      // a full disk may have rolled back already; a second ROLLBACK would hide the first error
      if (database.isTransaction) database.exec("ROLLBACK")
      throw error
    }
  }

  return {
    path,
    dialect: "sqlite",
    forUpdate: "",
    all: (sql, params = []) => queue.run(() => patient(() => allRows(sql, params))),
    get: (sql, params = []) => queue.run(() => patient(() => firstRow(sql, params))),
    run: (sql, params = []) => queue.run(() => patient(() => change(sql, params))),
    transaction: (name, work, { durable = true } = {}) =>
      queue.run(() => (durable || !isClaimed ? inTransaction(name, work) : inShortTransaction(name, work))),
    exec: (sql) => guard(() => database.exec(sql)),
    claim() {
      if (isFile) for (const each of filesOf(path)) tightenMode(each)
      guard(() => database.exec("PRAGMA journal_mode = WAL"))
      waitShortly()
      isClaimed = true
    },
    settle() {
      if (!isFile || sizeOf(path) > pageBytes) return
      emptyLog(database)
      waitShortly()
    },
    selectNow: undefined,
    close: () =>
      queue.run(async () => {
        if (!isOpen) return
        isOpen = false
        queue.leave()
        statements.clear()
        if (place?.findLoss() !== undefined) return closeBeside(path, database)
        if (isClaimed) emptyLog(database)
        database.close()
      }),
  }
}

/** Makes the folder and the file with modes only their owner can read, before SQLite would make them with others. */
/** One by one: where no folder can be made, such as under /proc, Node's recursive way never comes back. */
function makeMissing(folder: string): void {
  if (existsSync(folder)) return
  makeMissing(dirname(folder))
  try {
    mkdirSync(folder, 0o700)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error // else another process was faster
  }
}

function prepareFile(path: string): void {
  // looked at in this order: whoever makes the file right now fills it before its log
  if (sizeOf(`${path}-wal`) > 0 && sizeOf(path) === 0) {
    throw new KeepupError(
      "CORRUPT",
      `The database ${path} is ${existsSync(path) ? "empty" : "gone"}, but its write-ahead log ${path}-wal is still there.`,
      {
        hint: "Put the database back beside its log. To start anew, move the log away first: it may hold the newest entries.",
      },
    )
  }
  if (isLogLost(path)) {
    throw new KeepupError("CORRUPT", `All of the database ${path} is in its write-ahead log, which can't be read.`, {
      hint: `Nothing was changed. Bring ${path}-wal back from a backup, or move both files away to start anew.`,
    })
  }
  try {
    if (existsSync(path)) closeSync(openSync(path, "a"))
    else {
      makeMissing(dirname(path))
      closeSync(openSync(path, "a", 0o600))
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "EACCES" || code === "EROFS" || code === "EPERM") {
      if (existsSync(path)) return // may still be read; SQLite tells when it can't
    }
    if (code === "EISDIR") {
      throw new KeepupError("INVALID_INPUT", `${path} is a folder, not a database.`, {
        hint: "Name a file in it, such as sqlite:FOLDER/keepup.db.",
      })
    }
    throw new KeepupError("UNAVAILABLE", `The database ${path} can't be made (${(error as Error).message}).`, {
      hint: "Check the permissions of the folder and that the disk is not full, or name another place with --state-dir or --db.",
      cause: error,
    })
  }
}

/** Whether there is nothing in the file, and the log holds transactions SQLite would not find: it would write over them. */
function isLogLost(path: string): boolean {
  if (sizeOf(`${path}-wal`) === 0 || sizeOf(path) > pageBytes) return false
  try {
    const { end, commits } = judgeLog(readFileSync(`${path}-wal`))
    return end === "damaged" && commits === 0 && sizeOf(path) <= pageBytes // who makes the store has not just settled it
  } catch {
    return false // it is gone, or may not be read: SQLite says so
  }
}

function openDatabase(path: string, timeout: number): DatabaseSyncInstance {
  try {
    const Database = loadSqlite()
    const database = new Database(path, { timeout })
    database.exec("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
    return database
  } catch (error) {
    throw fromSqliteError(error, path)
  }
}

/**
 * What the log holds goes into the file, if nobody else uses it now. SQLite does this for the last one who closes, but
 * cached statements keep our connection half open until they are collected. Returns whether it is all there.
 */
function emptyLog(database: DatabaseSyncInstance): boolean {
  try {
    database.exec("PRAGMA busy_timeout = 0")
    const { busy } = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as { busy: number }
    return busy === 0
  } catch {
    return false // a full disk, or someone is reading: it stays in the log, where it is as safe
  }
}

/**
 * Closing takes the log and its index away by name, though those names may belong to another database by now: they are
 * held under a second name meanwhile, and given back.
 */
function closeBeside(path: string, database: DatabaseSyncInstance): void {
  const files = filesOf(path)
    .slice(1)
    .filter((file) => existsSync(file))
  const held = files.map((file) => ({ file, second: `${file}.held-${process.pid}` }))
  for (const { file, second } of held) linkSync(file, second)
  try {
    database.close()
  } finally {
    for (const { file, second } of held) {
      if (existsSync(file)) unlinkSync(second)
      else renameSync(second, file)
    }
  }
}

function filesOf(path: string): string[] {
  return [path, `${path}-wal`, `${path}-shm`]
}

/** A file that others could read, made by an older umask or by hand, is closed to them. */
function tightenMode(path: string): void {
  const mode = (findFile(path)?.mode ?? 0) & 0o777
  if ((mode & 0o077) === 0) return
  try {
    chmodSync(path, mode & 0o700)
  } catch {
    // on a read-only disk, or of another owner, who then decides
  }
}

function sizeOf(path: string): number {
  return findFile(path)?.size ?? 0
}
