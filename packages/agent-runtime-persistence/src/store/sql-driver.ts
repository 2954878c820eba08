/** The port every database stands behind: statements with `?` placeholders, and transactions that are all or nothing. */

export type SqlValue = string | number | null | Uint8Array

export type SqlRow = Readonly<Record<string, SqlValue>>

export interface SqlRunner {
  all(sql: string, params?: readonly SqlValue[]): Promise<SqlRow[]>
  /** The first row, if any. */
  get(sql: string, params?: readonly SqlValue[]): Promise<SqlRow | undefined>
  /** Returns the number of rows changed. */
  run(sql: string, params?: readonly SqlValue[]): Promise<number>
}

export interface SqlDriver extends SqlRunner {
  readonly dialect: "sqlite" | "postgres"
  /** Put behind a SELECT, keeps other transactions away from the rows until this one ends. */
  readonly forUpdate: string
  /**
   * Runs `work` in one transaction that holds the right to write from its start. `work` must await nothing but `tx`.
   * When the promise resolves, the changes are on disk; when it rejects, there are none.
   */
  transaction<Result>(
    name: string,
    work: (tx: SqlRunner) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result>
  /** A SELECT of `now`, in milliseconds since 1970, by the clock all users of this database share, if there is one. */
  readonly selectNow: string | undefined
  close(): Promise<void>
}

export interface TransactionOptions {
  /**
   * False for what means nothing after a power cut: the disk may be given it later, at the latest with the next
   * transaction that is durable. A killed process loses nothing either way. Default true.
   */
  readonly durable?: boolean
}

/** Called at every named step, so that tests can end the process there. Must not throw. */
export type StepProbe = (step: string) => void
