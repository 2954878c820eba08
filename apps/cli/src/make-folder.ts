/** A folder of keepup's own and those above it, for its owner's eyes only. */
import { existsSync, mkdirSync } from "node:fs"
import { dirname } from "node:path"

/** By hand: where no folder can be made, such as under /proc, Node's recursive way never comes back. */
export function makeFolder(folder: string): void {
  if (!existsSync(dirname(folder))) makeFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  }
}
