/** Where a workspace is, and whether it is still there: a folder can be moved away, also while it is looked at. */
import { realpathSync } from "node:fs"
import { resolve } from "node:path"
import { KeepupError } from "@ku0/agent-runtime-core"
import { lookAtFolder, type WorkspaceFiles } from "./workspace-files.js"

/** The folder without links in its path; undefined when it is gone. */
export function findRealFolder(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

/** Whether there is a folder at a path that was once found without links: neither nothing nor a link to another one. */
export function isWorkspaceThere(workspacePath: string): boolean {
  return findRealFolder(workspacePath) === resolve(workspacePath)
}

/** Which folder is the workspace now. Nothing there is not the same as all files being deleted. */
export function requireRoot({ root, resolve: toSystem }: WorkspaceFiles): number | undefined {
  const found = lookAtFolder(toSystem(""))
  if (found === undefined) throw missingWorkspace(root)
  return found instanceof Error ? undefined : found.ino
}

/** Call when every file was read: those of a folder that came or went meanwhile say nothing about the workspace. */
export function requireSameRoot(files: WorkspaceFiles, before: number | undefined): void {
  if (requireRoot(files) === before) return
  throw new KeepupError("UNAVAILABLE", `${files.root} was replaced by another folder while it was looked at.`, {
    hint: "Try again when it stays in its place.",
  })
}

export function missingWorkspace(path: string): KeepupError {
  return new KeepupError("NOT_FOUND", `There is no workspace at ${path}.`, {
    hint:
      "Its checkpoints are kept. Make the folder again and restore one there; or, if it was moved, take its sessions " +
      "to the new place with `keepup session export` and `keepup session import`.",
  })
}
