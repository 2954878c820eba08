/**
 * SQLite behind the port. One connection, owned here together with every cached statement: a statement does not keep
 * its connection alive. Work queues up, so that a transaction is never interleaved with anything else.
 */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, type Stats, statSync } from "node:fs"
import { dirname } from "node:path"
import { KeepupError } from "@ku0/agent-runtime-core"
import type { DatabaseSyncInstance, StatementSyncInstance } from "@photostructure/sqlite"
import { loadSqlite } from "./load-sqlite.js"
import type { SqlDriver, SqlRow, SqlRunner, SqlValue, StepProbe } from "./sql-driver.js"
import { fromSqliteError } from "./sql-errors.js"

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
}

export function openSqliteDriver(options: OpenSqliteOptions): SqliteDriver {
  const { path, onStep } = options
  if (path !== ":memory:") prepareFile(path)
  const database = openDatabase(path, options.busyTimeoutMs)
  const statements = new Map<string, StatementSyncInstance>()
  let queue: Promise<unknown> = Promise.resolve()
  let isOpen = true
  let isClaimed = false

  function statement(sql: string): StatementSyncInstance {
    let prepared = statements.get(sql)
    if (prepared === undefined) {
      prepared = database.prepare(sql)
      statements.set(sql, prepared)
    }
    return prepared
  }

  function guard<Result>(work: () => Result): Result {
    if (!isOpen) throw new KeepupError("UNAVAILABLE", `The database ${path} is closed.`)
    try {
      return work()
    } catch (error) {
      throw fromSqliteError(error, path)
    }
  }

  const direct: SqlRunner = {
    all: async (sql, params = []) => guard(() => statement(sql).all(...bind(params)) as SqlRow[]),
    get: async (sql, params = []) => guard(() => statement(sql).get(...bind(params)) as SqlRow | undefined),
    run: async (sql, params = []) => guard(() => Number(statement(sql).run(...bind(params)).changes)),
  }

  function enqueue<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = queue.then(work)
    queue = result.catch(() => undefined)
    return result
  }

  async function inTransaction<Result>(name: string, work: (tx: SqlRunner) => Promise<Result>): Promise<Result> {
    guard(() => database.exec("BEGIN IMMEDIATE"))
    onStep(`${name}:begun`)
    try {
      const result = await work(direct)
      onStep(`${name}:written`)
      guard(() => database.exec("COMMIT"))
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
    all: (sql, params) => enqueue(() => direct.all(sql, params)),
    get: (sql, params) => enqueue(() => direct.get(sql, params)),
    run: (sql, params) => enqueue(() => direct.run(sql, params)),
    transaction: (name, work) => enqueue(() => inTransaction(name, work)),
    exec: (sql) => guard(() => database.exec(sql)),
    claim() {
      if (path !== ":memory:") for (const file of filesOf(path)) tightenMode(file)
      guard(() => database.exec("PRAGMA journal_mode = WAL"))
      isClaimed = true
    },
    selectNow: undefined,
    close: () =>
      enqueue(async () => {
        if (!isOpen) return
        isOpen = false
        statements.clear()
        if (isClaimed) emptyLog(database)
        database.close()
      }),
  }
}

/** Makes the folder and the file with modes only their owner can read, before SQLite would make them with others. */
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
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    closeSync(openSync(path, "a", 0o600))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "EACCES" || code === "EROFS" || code === "EPERM") {
      if (existsSync(path)) return // may still be read; SQLite tells when it can't
    }
    throw new KeepupError("UNAVAILABLE", `The database ${path} can't be made (${(error as Error).message}).`, {
      hint: "Check the permissions of the folder and that the disk is not full, or name another place with --state-dir or --db.",
      cause: error,
    })
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
 * cached statements keep our connection half open until they are collected.
 */
function emptyLog(database: DatabaseSyncInstance): void {
  try {
    database.exec("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)")
  } catch {
    // a full disk, or someone is reading: it stays in the log, where it is as safe
  }
}

function filesOf(path: string): string[] {
  return [path, `${path}-wal`, `${path}-shm`]
}

/** A file that others could read, made by an older umask or by hand, is closed to them. */
function tightenMode(path: string): void {
  const mode = (find(path)?.mode ?? 0) & 0o777
  if ((mode & 0o077) === 0) return
  try {
    chmodSync(path, mode & 0o700)
  } catch {
    // on a read-only disk, or of another owner, who then decides
  }
}

function sizeOf(path: string): number {
  return find(path)?.size ?? 0
}

/** Nothing also if we may not look: opening it says why. */
function find(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

function bind(params: readonly SqlValue[]): SqlValue[] {
  return params as SqlValue[]
}
