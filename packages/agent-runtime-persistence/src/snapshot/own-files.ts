/** What in a workspace is keepup's own, or the user's git's: never captured, never touched. */
import { realpathSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { type BytePath, foldersAbove, toBytePath } from "./byte-path.js"
import { createPatternList } from "./ignore-patterns.js"
import { pathWithin } from "./shadow-repository.js"
import { leftoverPattern } from "./sweep-leftovers.js"

export interface OwnFiles {
  /** Changes when the answers do. */
  readonly signature: string
  /** Whether each of them has a name in its path that starts with a dot. */
  readonly areDotted: boolean
  /** Whether this very file or folder is. */
  has(path: BytePath, isFolder: boolean): boolean
  /** Whether it is, or lies in a folder that is. */
  holds(path: BytePath): boolean
}

/**
 * In all of them a name starts with a dot. They are anywhere: a folder inside this workspace may be another one, whose
 * database must not go back in time with ours.
 */
const builtIn = [
  ".keepup-restore-*/",
  "**/.agents/sessions.db",
  "**/.agents/sessions.db-*",
  "**/.agents/sessions.db.v*.bak*",
  leftoverPattern,
]

/** What SQLite and a migration put beside a database. */
const besideDatabase = /^(-wal|-shm|-journal|\.v\d+\.bak.*)?$/

export function createOwnFiles(workspace: string, folders: readonly string[], databases: readonly string[]): OwnFiles {
  const inside = (path: string) => pathWithin(workspace, path)
  const isInside = (path: string | undefined) => path !== undefined && path !== ""
  const ownFolders = new Set(
    folders
      .map((path) => inside(realpathSync(path)))
      .filter(isInside)
      .map(toPath),
  )
  const ownDatabases = databases
    .map((path) => inside(realFile(path)))
    .filter(isInside)
    .map(toPath)
  const patterns = createPatternList(builtIn)

  function has(path: BytePath, isFolder: boolean): boolean {
    const name = path.lastIndexOf("/") + 1
    if (path[name] === "." && path.slice(name) === ".git") return true
    if (isDotted(path) && patterns.match(path, isFolder) === true) return true
    if (ownFolders.has(path)) return true
    return ownDatabases.some((file) => path.startsWith(file) && besideDatabase.test(path.slice(file.length)))
  }

  return {
    areDotted: [...ownFolders, ...ownDatabases].every(isDotted),
    signature: JSON.stringify([builtIn, [...ownFolders], ownDatabases]),
    has,
    holds: (path) => has(path, false) || foldersAbove(path).some((folder) => has(folder, true)),
  }
}

/** Whether a name in the path starts with a dot. */
export function isDotted(path: BytePath): boolean {
  return path[0] === "." || path.includes("/.")
}

function toPath(path: string | undefined): BytePath {
  return toBytePath(path as string)
}

/** It may not be there yet. */
function realFile(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path))
  } catch {
    return path
  }
}
