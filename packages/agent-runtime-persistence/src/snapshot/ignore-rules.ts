/**
 * Which paths are left out of a snapshot. Git decides for .gitignore files and the user's own exclude files, which are
 * handed to the isolated git explicitly; keepup's patterns are matched here.
 */
import { createHash } from "node:crypto"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { isKeepupError } from "@ku0/agent-runtime-core"
import { type BytePath, foldersAbove, joinPath, nameOf, toBytePath, toSystemPath } from "./byte-path.js"
import { replaceFile } from "./durable-file.js"
import type { Git } from "./git-process.js"
import { createPatternList, type PatternList } from "./ignore-patterns.js"
import { createNameFilter, type NameFilter, suspectsAll } from "./name-filter.js"
import type { OwnFiles } from "./own-files.js"
import { findGlobalFile, readText, type UserRepository } from "./user-repository.js"
import { lookAtDisk } from "./workspace-files.js"

export interface IgnoreRules {
  /** Changes when anything but a .gitignore file changed that decides what is captured. */
  readonly signature: string
  /** Whether it and the .gitignore files in the workspace are all there is: a repository around it may have more. */
  readonly isSelfContained: boolean
  readonly include: PatternList
  /** Names git may ignore where no .gitignore file in the workspace applies. */
  readonly outsideNames: NameFilter
  /** Left out whatever git says: keepup's own files and `.keepupignore`. */
  isExcluded(path: BytePath, isFolder: boolean): boolean
  /** Whether a path without a name that starts with a dot surely is not. */
  readonly onlyDottedExcluded: boolean
  /**
   * Those of the paths that git ignores. Not certain when a folder above some of them became a link while git was
   * asked: what is below a link is not in the workspace, and counts as ignored until it is asked about again.
   */
  findIgnored(
    paths: readonly BytePath[],
    signal?: AbortSignal,
  ): Promise<{ readonly ignored: ReadonlySet<BytePath>; readonly isCertain: boolean }>
  /**
   * The files of rules that take some of these paths in, whatever others say; undefined where git could not tell. Only
   * where all rules are the workspace's own.
   */
  listIncluding(paths: readonly BytePath[], signal?: AbortSignal): Promise<BytePath[] | undefined>
}

export interface IgnoreOptions {
  readonly git: Git
  readonly shadowDirectory: string
  readonly workspace: string
  readonly homeDirectory: string | undefined
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly repository: UserRepository | undefined
  readonly userConfig: ReadonlyMap<string, string>
  readonly include: readonly string[]
  readonly own: OwnFiles
}

/** Where git is asked, and the workspace in there. */
interface Scope {
  readonly root: string
  readonly prefix: BytePath
}

/** Folders may become links and folders again under our feet; each time git must be asked anew. */
const attempts = 20

/** Reads all sources anew and hands them to the shadow repository. */
export async function readIgnoreRules(options: IgnoreOptions): Promise<IgnoreRules> {
  const { own } = options
  const keepupIgnore = readText(join(options.workspace, ".keepupignore")) ?? ""
  const excluded = createPatternList(keepupIgnore.replace(/^\ufeff/, "").split("\n"))
  const userExcludes = readUserExcludes(options)
  const excludeFile = join(options.shadowDirectory, "info/exclude")
  if (readBytes(excludeFile) !== userExcludes) {
    replaceFile(excludeFile, Buffer.from(userExcludes, "latin1"), { durable: false })
  }
  const scope = await findScope(options)

  return {
    signature: createHash("sha1")
      .update(JSON.stringify([own.signature, keepupIgnore, userExcludes, options.include, scope]))
      .digest("hex"),
    isSelfContained: scope.prefix === "",
    include: createPatternList(options.include),
    outsideNames: scope.prefix === "" ? createNameFilter(userExcludes) : suspectsAll,
    onlyDottedExcluded: own.areDotted && excluded.isEmpty,
    isExcluded: (path, isFolder) => own.has(path, isFolder) || excluded.match(path, isFolder) === true,
    listIncluding: (paths, signal) => askIncluding(options, paths, signal),
    async findIgnored(paths, signal) {
      const vanished = new Set<BytePath>()
      for (let attempt = 1; ; attempt++) {
        try {
          const present = vanished.size === 0 ? paths : paths.filter((path) => !vanished.has(path))
          const ignored = await askGit(options.git, scope, present, signal)
          return { ignored: new Set([...ignored, ...vanished]), isCertain: attempt === 1 }
        } catch (error) {
          const isMoved = isKeepupError(error) && error.message.includes("is beyond a symbolic link")
          if (!isMoved || attempt === attempts) throw error
          for (const path of paths) if (isBelowLink(options.workspace, path)) vanished.add(path)
        }
      }
    },
  }
}

/** Whether keepup's own rules leave a file or folder out, or a folder above it. */
export function isExcludedAnywhere(rules: IgnoreRules, path: BytePath, isFolder = false): boolean {
  return rules.isExcluded(path, isFolder) || foldersAbove(path).some((folder) => rules.isExcluded(folder, true))
}

async function askGit(git: Git, scope: Scope, paths: readonly BytePath[], signal: AbortSignal | undefined) {
  if (paths.length === 0) return []
  const input = `${paths.map((path) => `./${joinPath(scope.prefix, path)}`).join("\0")}\0`
  const { stdout } = await git.run(["check-ignore", "--no-index", "-z", "--stdin"], {
    input: Buffer.from(input, "latin1"),
    workTree: scope.root,
    accept: [1],
    limit: "long",
    ...(signal === undefined ? {} : { signal }),
  })
  const skip = joinPath(scope.prefix, "x").length + 1 // what git echoes starts with "./" and the prefix
  const ignored = stdout.toString("latin1").split("\0")
  ignored.pop()
  return ignored.map((path) => path.slice(skip))
}

async function askIncluding(
  { git, workspace }: IgnoreOptions,
  paths: readonly BytePath[],
  signal: AbortSignal | undefined,
): Promise<BytePath[] | undefined> {
  if (paths.length === 0) return []
  const { stdout, exitCode } = await git.run(["check-ignore", "--no-index", "--verbose", "-z", "--stdin"], {
    input: Buffer.from(paths.map((path) => `./${path}\0`).join(""), "latin1"),
    workTree: workspace,
    accept: [1, 128], // 128: a folder became a link meanwhile
    limit: "long",
    ...(signal === undefined ? {} : { signal }),
  })
  if (exitCode === 128) return undefined
  const fields = stdout.toString("latin1").split("\0")
  const sources = new Set<BytePath>()
  for (let i = 0; i + 3 < fields.length; i += 4) {
    const [source, , pattern] = fields.slice(i, i + 3) as [BytePath, string, string]
    if (pattern.startsWith("!") && nameOf(source) === ".gitignore") sources.add(source)
  }
  return [...sources]
}

function isBelowLink(workspace: string, path: BytePath): boolean {
  const root = toBytePath(workspace)
  return foldersAbove(path).some((folder) => lookAtDisk(toSystemPath(`${root}/${folder}`))?.isSymbolicLink() === true)
}

/**
 * Rules of a repository around the workspace count too, unless they ignore the workspace as a whole: then it is not
 * part of that repository's life.
 */
async function findScope(options: IgnoreOptions): Promise<Scope> {
  const { repository, workspace, git } = options
  if (repository === undefined || repository.prefix === "") return { root: workspace, prefix: "" }
  const { exitCode } = await git.run(["check-ignore", "--no-index", "-q", "-z", "--stdin"], {
    input: Buffer.from(`./${repository.prefix}\0`, "latin1"),
    workTree: repository.root,
    accept: [1],
    limit: "short",
  })
  return exitCode === 0 ? { root: workspace, prefix: "" } : { root: repository.root, prefix: repository.prefix }
}

/** `core.excludesFile` first, then `info/exclude`, which wins, as in the user's own git. */
function readUserExcludes(options: IgnoreOptions): string {
  const { userConfig, homeDirectory, environment, repository } = options
  const root = repository?.root ?? options.workspace
  const global = findGlobalFile(userConfig.get("core.excludesfile"), "ignore", homeDirectory, environment, root)
  const texts = [global, repository && join(repository.commonDirectory, "info/exclude")]
  return texts.map((path) => (path ? (readBytes(path)?.replace(/^\xef\xbb\xbf/, "") ?? "") : "")).join("\n")
}

function readBytes(path: string): string | undefined {
  try {
    return statSync(path).isFile() ? readFileSync(path, "latin1") : undefined
  } catch {
    return undefined
  }
}
