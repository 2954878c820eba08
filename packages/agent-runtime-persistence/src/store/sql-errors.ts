/** Turns what databases throw into KeepupErrors that say what happened and what to do. */
import { type ErrorCode, isKeepupError, KeepupError } from "@ku0/agent-runtime-core"

const sqliteFacts: Readonly<
  Record<number, { code: "UNAVAILABLE" | "CORRUPT" | "CONFLICT" | "INVALID_INPUT"; what: string; hint: string }>
> = {
  3: { code: "UNAVAILABLE", what: "may not be used", hint: "Check the permissions of the file and its folder." },
  5: {
    code: "UNAVAILABLE",
    what: "is busy",
    hint: "Another process holds it for long. Try again, or see who with `keepup doctor`.",
  },
  6: { code: "UNAVAILABLE", what: "is locked", hint: "Another process holds it for long. Try again." },
  7: { code: "UNAVAILABLE", what: "ran out of memory", hint: "Free memory and try again." },
  8: { code: "UNAVAILABLE", what: "can't be written", hint: "Check the permissions of the file and its folder." },
  10: {
    code: "UNAVAILABLE",
    what: "could not be read or written",
    hint: "Check the disk: is it full, failing or gone?",
  },
  11: {
    code: "CORRUPT",
    what: "is damaged",
    hint: "Nothing was changed. Run `keepup doctor` to see what can be saved; backups lie beside the file.",
  },
  13: {
    code: "UNAVAILABLE",
    what: "could not grow: the disk is full",
    hint: "Free disk space and try again. Everything kept before is still there.",
  },
  14: { code: "UNAVAILABLE", what: "can't be opened", hint: "Check that the folder exists and may be written." },
  15: { code: "UNAVAILABLE", what: "is busy", hint: "Many processes use it at once. Try again." },
  18: { code: "INVALID_INPUT", what: "can't hold a value that large", hint: "Keep it as several smaller ones." },
  1555: { code: "CONFLICT", what: "already holds such a record", hint: "Reload and try again." },
  2067: { code: "CONFLICT", what: "already holds such a record", hint: "Reload and try again." },
  26: {
    code: "CORRUPT",
    what: "is not an SQLite database",
    hint: "Nothing was changed. Move the file away, or name another with --db.",
  },
}

/** SQLite's words, for errors that come without a number, and for those that share the general one. */
const codeByWords: readonly (readonly [RegExp, number])[] = [
  [/^database (table )?is locked/, 5],
  [/^out of memory/, 7],
  [/^attempt to write a readonly database/, 8],
  [/^disk I\/O error/, 10],
  [/malformed|^no such (table|column)|^unsupported file format/, 11],
  [/^database or disk is full/, 13],
  [/^unable to open database file/, 14],
  [/^locking protocol/, 15],
  [/^file is not a database/, 26],
]

interface SqliteError {
  readonly code: string
  /** The prebuilt library leaves it out where a query for several rows fails. */
  readonly errcode: number
  readonly message: string
}

/** The answer to whoever uses a store after its `close`. */
export function closedError(store: string): KeepupError {
  return new KeepupError("UNAVAILABLE", `The database ${store} is closed.`, { hint: "Open the store again." })
}

/** `store` names the database for people. What is not a database error passes unchanged. */
export function fromSqliteError(error: unknown, store: string): unknown {
  if (isKeepupError(error)) return error
  const { code, errcode, message = "" } = (error ?? {}) as Partial<SqliteError>
  if (code !== "ERR_SQLITE_ERROR") return error
  const number =
    errcode === undefined || errcode === 1 ? codeByWords.find(([words]) => words.test(message))?.[1] : errcode
  const facts = sqliteFacts[number ?? 0] ?? sqliteFacts[(number ?? 0) & 0xff]
  if (facts === undefined) return error
  return new KeepupError(facts.code, `The database ${store} ${facts.what} (${message}).`, {
    hint: facts.hint,
    details: { store, sqlite: number },
    cause: error,
  })
}

interface PostgresFacts {
  readonly code: ErrorCode
  readonly what: string
  readonly hint: string
}

const reachHint = "Check that the server runs and that the address, user and database are right."

/** What PostgreSQL's codes mean, by their beginning: the first that fits counts. */
const postgresFacts: readonly (readonly [RegExp, PostgresFacts])[] = [
  [/^23505/, { code: "CONFLICT", what: "already holds such a record", hint: "Reload and try again." }],
  [/^22021/, { code: "INVALID_INPUT", what: "can't hold such a text", hint: "Leave the NUL characters out." }],
  [/^(08|28|3D|57)/, { code: "UNAVAILABLE", what: "can't be used now", hint: reachHint }],
  [
    /^(53|58|54)/,
    {
      code: "UNAVAILABLE",
      what: "ran out of something",
      hint: "Check the server's disk, memory and connections. Everything kept before is still there.",
    },
  ],
  [/^(40|55)/, { code: "UNAVAILABLE", what: "is busy", hint: "Many use it at once. Try again." }],
  [
    /^(25006|42501)/,
    { code: "UNAVAILABLE", what: "can't be written", hint: "Check that the user may write to the database." },
  ],
  [
    /^42P07/,
    {
      code: "INVALID_INPUT",
      what: "holds tables of another program",
      hint: "Give keepup a database of its own, or a schema: add ?options=-c%20search_path%3Dkeepup to the address.",
    },
  ],
  [
    /^(42P01|42703|XX00[12])/,
    { code: "CORRUPT", what: "is damaged", hint: "Nothing was changed. Restore the database from a backup." },
  ],
]

/** Whether an error is the server's answer, not a lost or refused connection. */
export function isFromServer(error: unknown): boolean {
  return isKeepupError(error) || typeof (error as { severity?: unknown } | null)?.severity === "string"
}

/** A connection that can't be made, or broke. */
export function unreachable(error: unknown, store: string): KeepupError {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: string }
  return postgresError(
    error,
    store,
    { code: "UNAVAILABLE", what: "can't be reached", hint: reachHint },
    message || code,
  )
}

/** `store` names the database for people, without its password. What is not a database error passes unchanged. */
export function fromPostgresError(error: unknown, store: string): unknown {
  if (isKeepupError(error) || !isFromServer(error)) return error
  const { code, message } = error as { code?: unknown; message?: string }
  const facts = postgresFacts.find(([codes]) => codes.test(String(code)))?.[1]
  return facts === undefined ? error : postgresError(error, store, facts, message)
}

function postgresError(cause: unknown, store: string, { code, what, hint }: PostgresFacts, said: unknown): KeepupError {
  return new KeepupError(code, `The database ${store} ${what} (${said}).`, { hint, details: { store }, cause })
}
