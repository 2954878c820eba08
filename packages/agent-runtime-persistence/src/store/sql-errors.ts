/** Turns what databases throw into KeepupErrors that say what happened and what to do. */
import { isKeepupError, KeepupError } from "@ku0/agent-runtime-core"

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
  19: { code: "CONFLICT", what: "already holds such a record", hint: "Reload and try again." },
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

/** `store` names the database for people. What is not a database error passes unchanged. */
export function fromSqliteError(error: unknown, store: string): unknown {
  if (isKeepupError(error)) return error
  const { code, errcode, message = "" } = (error ?? {}) as Partial<SqliteError>
  if (code !== "ERR_SQLITE_ERROR") return error
  const number =
    errcode === undefined || errcode === 1 ? codeByWords.find(([words]) => words.test(message))?.[1] : errcode
  const facts = sqliteFacts[(number ?? 0) & 0xff]
  if (facts === undefined) return error
  return new KeepupError(facts.code, `The database ${store} ${facts.what} (${message}).`, {
    hint: facts.hint,
    details: { store, sqlite: number },
    cause: error,
  })
}

/** PostgreSQL's error classes: 08 connection, 53 resources, 57 shut down, 28 and 3D can't log in, 23505 exists already. */
export function fromPostgresError(error: unknown, store: string): unknown {
  if (isKeepupError(error)) return error
  const { code, message } = (error ?? {}) as { code?: unknown; message?: string }
  const text = message || String(code)
  if (code === "23505") {
    return new KeepupError("CONFLICT", `The database ${store} already holds such a record (${text}).`, { cause: error })
  }
  const isConnection =
    typeof code === "string" && /^(08|53|57|28|3D|25006|ECONN|ENOTFOUND|ETIMEDOUT|EAI_|ENOENT|EPIPE)/.test(code)
  if (!isConnection && !/Connection terminated|timeout exceeded/.test(text)) return error
  return new KeepupError("UNAVAILABLE", `The database ${store} can't be used now (${text}).`, {
    hint: "Check that the server runs and that the address, user and database are right.",
    details: { store },
    cause: error,
  })
}
