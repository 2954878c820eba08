/** PostgreSQL behind the port. A transaction has a connection of its own; rows are locked with FOR UPDATE. */
import { KeepupError } from "@ku0/agent-runtime-core"
import type { Client, Pool, PoolClient } from "pg"
import type { SqlDriver, SqlRow, SqlRunner, SqlValue, StepProbe } from "./sql-driver.js"
import { closedError, fromPostgresError, isFromServer, unreachable } from "./sql-errors.js"

export interface OpenPostgresOptions {
  readonly url: string
  readonly onStep: StepProbe
  /** How many connections at most. */
  readonly connections: number
}

const int8 = 20
/**
 * Serialization failure, deadlock, and a record that another transaction made at the same moment: tried again, the same
 * transaction succeeds, or sees the record and says what it means.
 */
const transient = new Set(["40001", "40P01", "23505"])
const tries = 5

/** Who waited for a row sees what its holder wrote meanwhile, whatever level the server or the role begins with. */
const begin = "BEGIN ISOLATION LEVEL READ COMMITTED"

/** What is acknowledged is on disk, also where the server was told that some transactions may be lost. */
const durableCommits = `SELECT set_config('synchronous_commit', 'on', false)
  WHERE current_setting('synchronous_commit') = 'off'`

export async function openPostgresDriver(options: OpenPostgresOptions): Promise<SqlDriver> {
  const name = nameOf(options.url)
  const pool = await openPool(options)
  const prepared = new Map<string, { name: string; text: string }>()

  async function query(client: Pool | PoolClient, sql: string, params: readonly SqlValue[] = []) {
    let statement = prepared.get(sql)
    if (statement === undefined) {
      statement = { name: `keepup_${prepared.size}`, text: numberPlaceholders(sql) }
      prepared.set(sql, statement)
    }
    const values = params.map(toParameter)
    return await reach(() => client.query<Record<string, SqlValue>>({ ...statement, values }))
  }

  /** What fails without a word of the server is the connection. */
  async function reach<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      throw isFromServer(error) ? error : unreachable(error, name)
    }
  }

  function runner(client: Pool | PoolClient): SqlRunner {
    return {
      all: async (sql, params) => (await query(client, sql, params)).rows as SqlRow[],
      get: async (sql, params) => (await query(client, sql, params)).rows[0] as SqlRow | undefined,
      run: async (sql, params) => (await query(client, sql, params)).rowCount ?? 0,
    }
  }

  const underWay = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined

  async function guard<Result>(work: () => Promise<Result>): Promise<Result> {
    if (closing !== undefined) throw closedError(name)
    const result = work()
    underWay.add(result)
    try {
      return await result
    } catch (error) {
      throw fromPostgresError(error, name)
    } finally {
      underWay.delete(result)
    }
  }

  /** What is under way is finished first: the pool would leave those who wait for a connection without an answer. */
  async function finish(): Promise<void> {
    await Promise.allSettled(underWay)
    await pool.end()
  }

  async function tryTransaction<Result>(step: string, work: (tx: SqlRunner) => Promise<Result>): Promise<Result> {
    const client = await reach(() => pool.connect())
    let broken: Error | undefined
    try {
      await reach(() => client.query(begin))
      options.onStep(`${step}:begun`)
      const result = await work(runner(client))
      options.onStep(`${step}:written`)
      await reach(() => client.query("COMMIT"))
      options.onStep(`${step}:committed`)
      return result
    } catch (error) {
      await client.query("ROLLBACK").catch((failure: Error) => {
        broken = failure // the connection is gone, and the server rolls back by itself; do not use it again
      })
      throw error
    } finally {
      client.release(broken)
    }
  }

  async function transaction<Result>(step: string, work: (tx: SqlRunner) => Promise<Result>): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await tryTransaction(step, work)
      } catch (error) {
        if (attempt === tries || !transient.has(String((error as { code?: unknown }).code))) throw error
      }
    }
  }

  const { all, get, run } = runner(pool)
  return {
    dialect: "postgres",
    forUpdate: " FOR UPDATE",
    all: (sql, params) => guard(() => all(sql, params)),
    get: (sql, params) => guard(() => get(sql, params)),
    run: (sql, params) => guard(() => run(sql, params)),
    transaction: (step, work) => guard(() => transaction(step, work)),
    selectNow: "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS now",
    close() {
      closing ??= finish()
      return closing
    },
  }
}

async function openPool(options: OpenPostgresOptions): Promise<Pool> {
  const { default: pg } = await import("pg")
  const config = {
    connectionString: options.url,
    max: options.connections,
    connectionTimeoutMillis: 10_000,
    allowExitOnIdle: true,
    /** Part of connecting: a connection is handed out when it has resolved. */
    async onConnect(client: Client): Promise<void> {
      // one that breaks in the middle of a transaction fails its query; unheard, it would end the process as well
      client.on("error", () => undefined)
      await client.query(durableCommits)
    },
    types: {
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === int8 ? Number : pg.types.getTypeParser(oid, format as "text"),
    } as never,
  }
  const pool = new pg.Pool(config)
  // an idle connection that breaks is replaced by the pool; whoever needs one next is told if there is none
  pool.on("error", () => undefined)
  return pool
}

/** The address without user and password. */
function nameOf(url: string): string {
  try {
    const { host, pathname } = new URL(url)
    return `postgres://${host}${pathname}`
  } catch {
    // no cause: it would carry the address, and with it the password
    throw new KeepupError("INVALID_INPUT", "Not a valid PostgreSQL address.", {
      hint: "It looks like postgres://user:password@host:5432/database.",
    })
  }
}

/** `?` → `$1`, `$2`, … Our statements hold no question mark inside a string. */
function numberPlaceholders(sql: string): string {
  let count = 0
  return sql.replace(/\?/g, () => `$${++count}`)
}

function toParameter(value: SqlValue): unknown {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value
}
