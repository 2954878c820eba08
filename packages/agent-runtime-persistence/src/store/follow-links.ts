/**
 * Where the file lies, links followed: its log lies beside it, not beside a link. An absolute path is also never taken
 * for one of SQLite's addresses, such as `file:x?mode=memory`, which would keep nothing.
 */
import { readlinkSync, realpathSync } from "node:fs"
import { dirname, resolve } from "node:path"

export function followLinks(path: string): string {
  const full = resolve(path)
  try {
    return realpathSync(full)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") return full // opening it says what is wrong
  }
  const target = findLinkTarget(full) // of a link to what is not there yet
  return target === undefined ? full : followLinks(target)
}

function findLinkTarget(path: string): string | undefined {
  try {
    return resolve(dirname(path), readlinkSync(path))
  } catch {
    return undefined // no link
  }
}
