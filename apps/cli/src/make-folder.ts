/** A folder and those above it that are missing, for its owner's eyes only unless told. */
import { existsSync, mkdirSync } from "node:fs"
import { dirname } from "node:path"

/** By hand: where no folder can be made, such as under /proc, Node's recursive way never comes back. */
export function makeFolder(folder: string, mode = 0o700): void {
  if (!existsSync(dirname(folder))) makeFolder(dirname(folder), mode)
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
  }
}
