/**
 * The file of a database, however its address is written: relative or not, with slashes or without, through links or
 * not. Two addresses of one file are one database, and one address in two folders is two.
 */
import { realpathSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { findSqlitePath } from "@ku0/agent-runtime-persistence"

/** Its path without links; undefined for a database on a server or in memory. */
export function databaseFile(db: string): string | undefined {
  const path = findSqlitePath(db)
  return path === undefined || path === ":memory:" ? undefined : withoutLinks(resolve(path))
}

/** The usual database has the folder itself; any other has one inside, named by its file. */
export function artifactFolder(artifacts: string, file: string, stateDirectory: string): string {
  if (file === withoutLinks(resolve(stateDirectory, "keepup.db"))) return artifacts
  const hash = process.getBuiltinModule("node:crypto").createHash("sha256").update(`sqlite:${file}`).digest("hex")
  return join(artifacts, `store-${hash.slice(0, 16)}`)
}

/** What is not there yet has no links: it gets the same path when it is. */
function withoutLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const folder = dirname(path)
    return folder === path ? path : join(withoutLinks(folder), basename(path))
  }
}
