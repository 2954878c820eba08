/** Puts a staged file in its place on another file system: a folder of the workspace may be a mount of its own. */
import { constants, copyFileSync, lstatSync, readlinkSync, symlinkSync } from "node:fs"
import { randomHex } from "../store/lazy-crypto.js"
import { type BytePath, joinPath, parentOf } from "./byte-path.js"
import { removeFile, syncAll } from "./durable-file.js"
import { giveTo } from "./file-owners.js"
import { type HeldFiles, moveHeld } from "./held-files.js"
import type { WorkspaceFiles } from "./workspace-files.js"

/**
 * As durable as a rename. `lookAgain` throws if the file at its place is not the one that may go: copying takes a while.
 * Killed in the middle, it leaves a name that is never captured and swept away later.
 */
export async function moveAcross(
  files: WorkspaceFiles,
  from: BytePath,
  to: BytePath,
  { held, lookAgain }: { readonly held: HeldFiles; readonly lookAgain: () => void },
): Promise<void> {
  const staged = files.resolve(from)
  const name = `.keepup.${process.pid}-${randomHex(4)}.keepup-tmp`
  const beside = files.resolve(joinPath(parentOf(to), name))
  try {
    const stat = lstatSync(staged)
    const isLink = stat.isSymbolicLink()
    if (isLink) symlinkSync(readlinkSync(staged, "buffer"), beside)
    else copyFileSync(staged, beside, constants.COPYFILE_EXCL) // with its mode
    if (process.geteuid?.() === 0) giveTo(beside, stat)
    if (!isLink) await syncAll([beside])
    lookAgain()
    moveHeld(held, beside, files.resolve(to))
  } catch (error) {
    removeFile(beside)
    throw error
  }
  removeFile(staged)
}
