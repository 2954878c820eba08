/** Goes through the files of a folder in a fixed order, without what tools must not see. Links are named, not followed. */
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import type { IgnoreFiles } from "./ignore-files.js"
import type { Workspace } from "./workspace-path.js"

export interface WalkedFile {
  /** From the workspace, with forward slashes. */
  readonly relative: string
  readonly absolute: string
  readonly isLink: boolean
}

/** Folders that are large and made by programs; whoever names one as the start sees it. */
const dullFolders = new Set(["node_modules"])

/** With `ignore`, the rules that hold in `start`, what they ignore is left out. */
export async function* walkFiles(
  workspace: Workspace,
  start: { absolute: string; relative: string },
  signal: AbortSignal,
  ignore?: IgnoreFiles,
): AsyncGenerator<WalkedFile> {
  signal.throwIfAborted()
  const items = await readdir(start.absolute, { withFileTypes: true })
  items.sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const item of items) {
    const relative = start.relative === "." ? item.name : `${start.relative}/${item.name}`
    const absolute = join(start.absolute, item.name)
    if (workspace.isProtected(relative) || ignore?.isIgnored(absolute, item.isDirectory()) === true) continue
    if (item.isDirectory()) {
      if (dullFolders.has(item.name)) continue
      try {
        yield* walkFiles(workspace, { absolute, relative }, signal, await ignore?.enter(absolute))
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        // Gone meanwhile, or not ours to read: the rest is still worth showing.
        if (code !== "ENOENT" && code !== "EACCES") throw error
      }
    } else if (item.isFile() || item.isSymbolicLink()) yield { relative, absolute, isLink: item.isSymbolicLink() }
  }
}
