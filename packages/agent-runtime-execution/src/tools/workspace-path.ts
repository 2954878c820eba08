/** Paths as tools are given them → real paths in the workspace, or a refusal. No link leads out. */
import { lstat, readlink, realpath } from "node:fs/promises"
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path"
import { KeepupError } from "@ku0/agent-runtime-core"

export interface WorkspacePath {
  /** Without any link in it. */
  readonly absolute: string
  /** From the workspace, with forward slashes; `.` for the workspace itself. */
  readonly relative: string
}

export interface Workspace {
  /** Resolves a path, which need not exist. */
  resolve(path: string): Promise<WorkspacePath>
  /** Whether tools must leave this relative path alone, wherever it was found. */
  isProtected(relativePath: string): boolean
}

export interface CreateWorkspaceOptions {
  readonly workspacePath: string
  /** Folders and files of keepup itself, absolute: its state directory, its database. */
  readonly protectedPaths?: readonly string[]
}

/**
 * Never shown to tools: git's inside, keepup's settings (they hold the rules for the agent), its database in a project,
 * what a restore or a write is in the middle of.
 */
const protectedNames = /(^|\/)(\.git|\.keepup|\.keepup-restore-[^/]*|[^/]*\.keepup-tmp)(\/|$)|^\.agents\/sessions\.db/i

export function createWorkspace(options: CreateWorkspaceOptions): Workspace {
  const { workspacePath, protectedPaths = [] } = options
  let root: Promise<string> | undefined
  let reserved: Promise<string[]> | undefined

  function findRoot(): Promise<string> {
    root ??= realpath(workspacePath)
    return root
  }

  return {
    async resolve(path) {
      if (path.includes("\0")) throw new KeepupError("INVALID_INPUT", "A path must not hold a NUL character.")
      const base = await findRoot()
      reserved ??= Promise.all(protectedPaths.map(async (one) => await followLinks(one)))
      const absolute = await followLinks(resolve(base, path))
      if (!isInside(base, absolute)) {
        throw new KeepupError("INVALID_INPUT", `${path} is outside of the workspace.`, {
          hint: "Use a path within the workspace.",
        })
      }
      const inside = relative(base, absolute).split(sep).join("/") || "."
      if (protectedNames.test(inside) || (await reserved).some((one) => isInside(one, absolute))) {
        throw new KeepupError("INVALID_INPUT", `${path} belongs to git or to keepup, and tools must leave it alone.`, {
          hint: "Use commands of git for what is in a repository, and of keepup for its settings.",
        })
      }
      return { absolute, relative: inside }
    },
    isProtected: (relativePath) => protectedNames.test(relativePath),
  }
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

/** The real path of what is there, and the rest as it is; also through links whose target does not exist. */
async function followLinks(path: string, depth = 0): Promise<string> {
  if (depth > 40) throw new KeepupError("INVALID_INPUT", `${path} goes round in links.`)
  try {
    return await realpath(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "ELOOP") throw new KeepupError("INVALID_INPUT", `${path} goes round in links.`, { cause: error })
    if (code !== "ENOENT" && code !== "ENOTDIR") throw error
  }
  const parent = dirname(path)
  if (parent === path) return path
  const target = await readLink(path)
  if (target !== undefined) return await followLinks(resolve(await followLinks(parent, depth + 1), target), depth + 1)
  return join(await followLinks(parent, depth + 1), path.slice(parent.length).replace(/^[/\\]/, ""))
}

async function readLink(path: string): Promise<string | undefined> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : undefined
  } catch {
    // Not there: so it is no link.
    return undefined
  }
}
