/** What a file holds, as one word: files are the same when their words are. */
import { createHash } from "node:crypto"
import { readFileSync, realpathSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"

export function hashContent(content: Uint8Array | string): string {
  return createHash("sha256").update(content).digest("hex")
}

/** The hash of a file as it is now; `absent` if there is none, `unreadable` if it can't be told. */
export function hashFile(path: string): string {
  try {
    return hashContent(readFileSync(path))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === "ENOENT" || code === "ENOTDIR" ? "absent" : "unreadable"
  }
}

/** The path without links, also of a file that is not there. */
export function canonicalPath(folder: string, path: string): string {
  const full = resolve(folder, path)
  try {
    return realpathSync(full)
  } catch {
    const parent = dirname(full)
    return parent === full ? full : join(canonicalPath(folder, parent), basename(full))
  }
}
