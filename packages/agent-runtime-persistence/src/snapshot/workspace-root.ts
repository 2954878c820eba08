/** Where a workspace is, and whether it is still there: a folder can be moved away, also while it is looked at. */
import { realpathSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { KeepupError } from "@ku0/agent-runtime-core"
import { lookAtFolder, type WorkspaceFiles } from "./workspace-files.js"

/** The folder without links in its path; undefined when it is gone. */
export function findRealFolder(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}

/** The path without links, as far as there is something: the place of a folder that may be gone. */
export function findRealPlace(path: string): string {
  const absolute = resolve(path)
  const parent = dirname(absolute)
  return findRealFolder(absolute) ?? (parent === absolute ? absolute : join(findRealPlace(parent), basename(absolute)))
}

/** Whether there is a folder at a path that was once found without links: neither nothing nor a link to another one. */
export function isWorkspaceThere(workspacePath: string): boolean {
  return findRealFolder(workspacePath) === resolve(workspacePath)
}

/**
 * Call before and after every file was read. Nothing there, or a link to another folder, is not the same as all files
 * being deleted.
 */
export function requireRoot({ root, resolve: toSystem }: WorkspaceFiles): void {
  const isFound = lookAtFolder(toSystem("")) !== undefined
  const real = isFound ? findRealFolder(root) : undefined
  if (!isFound || (real !== undefined && real !== root)) throw missingWorkspace(root)
}

export function missingWorkspace(path: string): KeepupError {
  const leadsTo = findRealFolder(path)
  const link = leadsTo === undefined || leadsTo === resolve(path) ? "" : `: a link leads to ${leadsTo} from there`
  const again =
    link === "" ? "Make the folder again and restore one there; or, if it was moved," : "If it was moved there,"
  return new KeepupError("NOT_FOUND", `There is no workspace at ${path}${link}.`, {
    hint: `Its checkpoints are kept. ${again} take its sessions along with \`keepup session export\` and \`keepup session import\`.`,
  })
}
