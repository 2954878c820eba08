/**
 * The user's own git repository around a workspace, found and read, never written: where its index and objects are,
 * and whether its settings change bytes on checkout.
 */
import { existsSync, lstatSync, readFileSync, statSync } from "node:fs"
import { dirname, join, relative, resolve } from "node:path"
import { type BytePath, toBytePath } from "./byte-path.js"

export interface UserRepository {
  /** The folder that holds `.git`; the workspace or a folder above it. */
  readonly root: string
  /** The workspace inside it, "" when they are the same. */
  readonly prefix: BytePath
  readonly gitDirectory: string
  /** Differs from `gitDirectory` in a linked worktree. */
  readonly commonDirectory: string
}

/** The innermost repository that holds the workspace. A `.git` may be a folder or, in worktrees and submodules, a file. */
export function findUserRepository(workspace: string): UserRepository | undefined {
  for (let folder = workspace; ; folder = dirname(folder)) {
    const gitDirectory = readGitLink(join(folder, ".git"))
    if (gitDirectory !== undefined && existsSync(join(gitDirectory, "HEAD"))) {
      const common = readText(join(gitDirectory, "commondir"))?.trim()
      return {
        root: folder,
        prefix: toBytePath(relative(folder, workspace)),
        gitDirectory,
        commonDirectory: common === undefined ? gitDirectory : resolve(gitDirectory, common),
      }
    }
    if (dirname(folder) === folder) return undefined
  }
}

function readGitLink(path: string): string | undefined {
  try {
    if (lstatSync(path).isFile()) {
      const target = /^gitdir: (.+)$/m.exec(readFileSync(path, "utf8"))?.[1]
      return target === undefined ? undefined : resolve(dirname(path), target)
    }
    return statSync(path).isDirectory() ? path : undefined
  } catch {
    return undefined
  }
}

/** The user's own file of ignore rules or attributes for all repositories: the one a setting names, or its default place. */
export function findGlobalFile(
  configured: string | undefined,
  name: "ignore" | "attributes",
  homeDirectory: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  /** Where git would stand; a path may be meant from there. */
  root: string,
): string | undefined {
  if (configured !== undefined) {
    const path = expandHome(configured, homeDirectory)
    return path === undefined ? undefined : resolve(root, path)
  }
  const configHome = environment["XDG_CONFIG_HOME"] || (homeDirectory && join(homeDirectory, ".config"))
  return configHome ? join(configHome, "git", name) : undefined
}

export function expandHome(path: string, homeDirectory: string | undefined): string | undefined {
  if (!path.startsWith("~/")) return path
  return homeDirectory === undefined ? undefined : join(homeDirectory, path.slice(2))
}

/** Undefined for what can't be read, and for what is no file: a pipe would hold us for ever. */
export function readText(path: string): string | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, "utf8") : undefined
  } catch {
    return undefined
  }
}
