/**
 * Run by root, a restore gives what it makes to whom it belongs: a replaced file to its owner, a new one to the owner of
 * the folder it comes into. For anybody else there is nothing to give.
 */
import { fchownSync, lchownSync } from "node:fs"
import { type BytePath, parentOf } from "./byte-path.js"
import { type FileStat, ownerOf } from "./file-stat.js"
import { lookAtDisk, type WorkspaceFiles } from "./workspace-files.js"

export interface Owner {
  readonly uid: number
  readonly gid: number
}

/** Undefined where it is this program's own anyway. `replaced` is what is there now, if anything. */
export function findOwner(files: WorkspaceFiles, path: BytePath, replaced?: FileStat): Owner | undefined {
  if (process.geteuid?.() !== 0) return undefined
  const owner = replaced === undefined ? ownerAbove(files, path) : ownerOf(replaced)
  return owner?.uid === 0 && owner.gid === process.getegid?.() ? undefined : owner
}

/** Of the nearest folder above that is there. */
function ownerAbove(files: WorkspaceFiles, path: BytePath): Owner | undefined {
  for (let folder = parentOf(path); ; folder = parentOf(folder)) {
    const stat = lookAtDisk(files.resolve(folder))
    if (stat !== undefined || folder === "") return stat
  }
}

/** Follows no link. */
export function giveTo(what: number | string | Buffer, owner: Owner | undefined): void {
  if (owner === undefined) return
  try {
    if (typeof what === "number") fchownSync(what, owner.uid, owner.gid)
    else lchownSync(what, owner.uid, owner.gid)
  } catch {
    // A disk that lets nobody give files away decides itself whose they are.
  }
}
