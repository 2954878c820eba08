/**
 * Whether an open database is still where it was. What is written to a file that lost its name, or to a log that did, is
 * gone when the last process closes it: nothing of that may be acknowledged.
 */
import { type Stats, statSync } from "node:fs"
import { KeepupError } from "@ku0/agent-runtime-core"

export interface DatabasePlace {
  /** Names the file for as long as it is open, whatever it is called. */
  readonly identity: string | undefined
  /** Takes note of the log and its index, once SQLite has them open. Those that are noted stay so. */
  noteLog(): void
  /** What lost its name or was replaced, if anything: `""` for the file itself, `-wal` or `-shm`. */
  findLoss(): "" | "-wal" | "-shm" | undefined
}

export function createDatabasePlace(path: string): DatabasePlace {
  const known = new Map<"" | "-wal" | "-shm", string>()
  const note = (end: "" | "-wal" | "-shm"): void => {
    const identity = known.has(end) ? undefined : fileIdentity(path + end)
    if (identity !== undefined) known.set(end, identity)
  }
  note("")
  return {
    identity: known.get(""),
    noteLog() {
      note("-wal")
      note("-shm")
    },
    findLoss() {
      for (const [end, identity] of known) if (fileIdentity(path + end) !== identity) return end
      return undefined
    },
  }
}

/** `isSaved`: what was in the log could still be put into the file. */
export function lostPlace(path: string, end: "" | "-wal" | "-shm", isSaved: boolean): KeepupError {
  if (end === "") {
    return new KeepupError("UNAVAILABLE", `The database ${path} was moved, replaced or removed while it was open.`, {
      hint: "Nothing of this was kept. Put the file back if it was moved by mistake, then open the store again.",
    })
  }
  const what = end === "-wal" ? "write-ahead log" : "index of the write-ahead log"
  return new KeepupError(
    "UNAVAILABLE",
    `The ${what} ${path}${end} was moved, replaced or removed while the database was open.`,
    {
      hint: isSaved
        ? "Nothing of this was kept; what was kept before is in the database file. Open the store again, and leave the log alone."
        : "Nothing of this was kept, and the newest entries before it may be missing. Close every keepup, put the log back if it was moved, then run `keepup doctor`.",
      details: { store: path, isSaved },
    },
  )
}

/** Tells a file from another that has its name later. */
function fileIdentity(path: string): string | undefined {
  const facts = findFile(path)
  return facts === undefined ? undefined : `${facts.dev}:${facts.ino}`
}

/** Nothing also if we may not look: opening it says why. */
export function findFile(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
