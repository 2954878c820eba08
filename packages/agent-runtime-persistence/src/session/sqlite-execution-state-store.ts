/**
 * Leases and snapshots of the tasks of a scheduler, under the name our origin gave them. A thin view: two tables of the
 * same database that holds the sessions, on every kind of store.
 */
import { KeepupError } from "@ku0/agent-runtime-core"
import { openStore, type Store } from "../store/open-store.js"
import { plainText } from "../store/rows.js"
import type { SqlRow, SqlValue } from "../store/sql-driver.js"

export interface ExecutionLease {
  readonly leaseId: string
  readonly taskId: string
  readonly workerId: string
  readonly status: "running" | "completed" | "failed" | "canceled"
  readonly acquiredAt: number
  readonly expiresAt: number
  readonly lastHeartbeatAt: number
  readonly attempt: number
}

export interface ExecutionTaskSnapshot {
  readonly taskId: string
  readonly type: string
  readonly queueClass: "interactive" | "normal" | "batch"
  readonly status: "queued" | "running" | "completed" | "failed" | "canceled" | "rejected"
  readonly attempt: number
  readonly sequence: number
  readonly timestamp: number
  readonly payload: unknown
  readonly workerId?: string
  readonly result?: unknown
  readonly error?: string
  readonly modelId?: string
  readonly toolName?: string
  readonly metadata?: Readonly<Record<string, unknown>>
}

export interface ExecutionLeaseFilter {
  readonly status?: ExecutionLease["status"] | readonly ExecutionLease["status"][]
  readonly taskId?: string
  readonly workerId?: string
}

export interface ExecutionTaskSnapshotFilter {
  readonly status?: ExecutionTaskSnapshot["status"] | readonly ExecutionTaskSnapshot["status"][]
  readonly taskId?: string
  readonly afterSequence?: number
  readonly limit?: number
}

export interface SQLiteExecutionStateStoreOptions {
  /** A file of our own; in memory if neither is given. */
  readonly databasePath?: string
  /** A store that is open already. It is not closed with this view. */
  readonly store?: Store
}

export class SQLiteExecutionStateStore {
  readonly #options: SQLiteExecutionStateStoreOptions
  #opened: Promise<Store> | undefined
  #isClosed = false

  constructor(options: SQLiteExecutionStateStoreOptions = {}) {
    this.#options = options
  }

  /** Keeps a lease; one with the same id is replaced. */
  async saveLease(lease: ExecutionLease): Promise<void> {
    const driver = await this.#driver()
    await driver.run(
      `INSERT INTO execution_leases (lease_id, task_id, worker_id, status, acquired_at, expires_at, last_heartbeat_at,
         attempt) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (lease_id) DO UPDATE SET task_id = excluded.task_id, worker_id = excluded.worker_id,
         status = excluded.status, acquired_at = excluded.acquired_at, expires_at = excluded.expires_at,
         last_heartbeat_at = excluded.last_heartbeat_at, attempt = excluded.attempt`,
      [
        plainText(lease.leaseId),
        plainText(lease.taskId),
        plainText(lease.workerId),
        lease.status,
        lease.acquiredAt,
        lease.expiresAt,
        lease.lastHeartbeatAt,
        lease.attempt,
      ],
    )
  }

  async loadLease(leaseId: string): Promise<ExecutionLease | null> {
    const row = await (await this.#driver()).get("SELECT * FROM execution_leases WHERE lease_id = ?", [leaseId])
    return row === undefined ? null : toLease(row)
  }

  async listLeases(filter: ExecutionLeaseFilter = {}): Promise<ExecutionLease[]> {
    const where = createWhere()
    where.oneOf("status", filter.status)
    where.equals("task_id", filter.taskId)
    where.equals("worker_id", filter.workerId)
    const rows = await (await this.#driver()).all(
      `SELECT * FROM execution_leases${where.sql()} ORDER BY acquired_at, lease_id`,
      where.params,
    )
    return rows.map(toLease)
  }

  async deleteLease(leaseId: string): Promise<void> {
    await (await this.#driver()).run("DELETE FROM execution_leases WHERE lease_id = ?", [leaseId])
  }

  /** Keeps a snapshot of a task; one with the same sequence is replaced. */
  async saveTaskSnapshot(snapshot: ExecutionTaskSnapshot): Promise<void> {
    const columns = [
      "status",
      "queue_class",
      "task_type",
      "attempt",
      "created_at",
      "payload",
      "worker_id",
      "result",
      "error",
      "model_id",
      "tool_name",
      "metadata",
    ]
    const driver = await this.#driver()
    await driver.run(
      `INSERT INTO execution_task_snapshots (task_id, sequence, ${columns.join(", ")})
       VALUES (${Array(columns.length + 2)
         .fill("?")
         .join(", ")})
       ON CONFLICT (task_id, sequence) DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`).join(", ")}`,
      [
        plainText(snapshot.taskId),
        snapshot.sequence,
        snapshot.status,
        snapshot.queueClass,
        plainText(snapshot.type),
        snapshot.attempt,
        snapshot.timestamp,
        toJson(snapshot.payload) ?? "null",
        toText(snapshot.workerId),
        toJson(snapshot.result),
        toText(snapshot.error),
        toText(snapshot.modelId),
        toText(snapshot.toolName),
        toJson(snapshot.metadata),
      ],
    )
  }

  /** By sequence, the oldest first. */
  async listTaskSnapshots(filter: ExecutionTaskSnapshotFilter = {}): Promise<ExecutionTaskSnapshot[]> {
    const where = createWhere()
    where.oneOf("status", filter.status)
    where.equals("task_id", filter.taskId)
    where.above("sequence", filter.afterSequence)
    const limit = filter.limit === undefined ? "" : " LIMIT ?"
    const rows = await (await this.#driver()).all(
      `SELECT * FROM execution_task_snapshots${where.sql()} ORDER BY sequence, task_id${limit}`,
      filter.limit === undefined ? where.params : [...where.params, Math.max(0, filter.limit)],
    )
    return rows.map(toSnapshot)
  }

  /** The newest snapshot of every task. */
  async getLatestTaskSnapshots(): Promise<ExecutionTaskSnapshot[]> {
    const rows = await (await this.#driver()).all(
      `SELECT * FROM execution_task_snapshots AS latest WHERE sequence =
         (SELECT MAX(sequence) FROM execution_task_snapshots WHERE task_id = latest.task_id)
       ORDER BY sequence, task_id`,
    )
    return rows.map(toSnapshot)
  }

  /** Closes what it opened. Safe to call twice. */
  async close(): Promise<void> {
    this.#isClosed = true
    await (await this.#opened)?.close()
  }

  async #driver() {
    if (this.#isClosed) throw new KeepupError("UNAVAILABLE", "The execution state store is closed.")
    const { store, databasePath } = this.#options
    this.#opened ??=
      store === undefined ? openStore(databasePath === undefined ? "memory:" : `sqlite:${databasePath}`) : undefined
    return (store ?? ((await this.#opened) as Store)).context.driver
  }
}

function createWhere() {
  const parts: string[] = []
  const params: SqlValue[] = []
  const add = (part: string, ...values: SqlValue[]) => {
    parts.push(part)
    params.push(...values)
  }
  return {
    params,
    sql: () => (parts.length === 0 ? "" : ` WHERE ${parts.join(" AND ")}`),
    equals(column: string, value: string | undefined) {
      if (value !== undefined) add(`${column} = ?`, value)
    },
    above(column: string, value: number | undefined) {
      if (value !== undefined) add(`${column} > ?`, value)
    },
    oneOf(column: string, value: string | readonly string[] | undefined) {
      if (value === undefined) return
      const words = typeof value === "string" ? [value] : value
      if (words.length === 0) add("1 = 0")
      else add(`${column} IN (${words.map(() => "?").join(", ")})`, ...words)
    },
  }
}

function toLease(row: SqlRow): ExecutionLease {
  return {
    leaseId: String(row["lease_id"]),
    taskId: String(row["task_id"]),
    workerId: String(row["worker_id"]),
    status: row["status"] as ExecutionLease["status"],
    acquiredAt: Number(row["acquired_at"]),
    expiresAt: Number(row["expires_at"]),
    lastHeartbeatAt: Number(row["last_heartbeat_at"]),
    attempt: Number(row["attempt"]),
  }
}

function toSnapshot(row: SqlRow): ExecutionTaskSnapshot {
  const text = (column: string, name: string) => (row[column] === null ? {} : { [name]: String(row[column]) })
  const json = (column: string, name: string) =>
    row[column] === null ? {} : { [name]: JSON.parse(String(row[column])) }
  return {
    taskId: String(row["task_id"]),
    type: String(row["task_type"]),
    queueClass: row["queue_class"] as ExecutionTaskSnapshot["queueClass"],
    status: row["status"] as ExecutionTaskSnapshot["status"],
    attempt: Number(row["attempt"]),
    sequence: Number(row["sequence"]),
    timestamp: Number(row["created_at"]),
    payload: JSON.parse(String(row["payload"])),
    ...text("worker_id", "workerId"),
    ...json("result", "result"),
    ...text("error", "error"),
    ...text("model_id", "modelId"),
    ...text("tool_name", "toolName"),
    ...json("metadata", "metadata"),
  }
}

function toText(value: string | undefined): string | null {
  return value === undefined ? null : plainText(value)
}

function toJson(value: unknown): string | null {
  if (value === undefined) return null
  try {
    return JSON.stringify(value) ?? null
  } catch (cause) {
    throw new KeepupError("INVALID_INPUT", `The value has no JSON form (${(cause as Error).message}).`, { cause })
  }
}
