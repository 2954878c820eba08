/**
 * What of the user's git settings decides about snapshots. Git itself is asked, once: the answer holds until one of
 * the files changes that it came from or could come from. Only the few settings that matter are kept.
 */
import { readFileSync, realpathSync, statSync } from "node:fs"
import { dirname, isAbsolute, join, resolve } from "node:path"
import { replaceCache } from "./durable-file.js"
import type { Git } from "./git-process.js"
import { expandHome, type UserRepository } from "./user-repository.js"

export interface ReadUserConfigOptions {
  readonly git: Git
  readonly repository: UserRepository | undefined
  readonly homeDirectory: string | undefined
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The git program, if one was named. */
  readonly program: string | undefined
  /** Where the answer is kept. */
  readonly cacheFile: string
  /** Milliseconds of the real clock; file times are compared with it. */
  readonly now: () => number
}

interface Kept {
  /** What was asked, and of whom. */
  readonly question: string
  readonly readAt: number
  /** Each file and its version then. */
  readonly files: readonly (readonly [path: string, version: string])[]
  readonly settings: readonly (readonly [key: string, value: string])[]
}

const wanted =
  /^(core\.(excludesfile|autocrlf|attributesfile)|extensions\.(objectformat|partialclone)|remote\..*\.promisor)$/s
/** A file younger than this may change again without its times changing. */
const settledMs = 2_100
/** Git is asked again at times, in case it reads a file that we do not know of. */
const longestMs = 24 * 60 * 60_000

/** Last value wins, keys in lower case. Empty where git can't tell. */
export async function readUserConfig(options: ReadUserConfigOptions): Promise<ReadonlyMap<string, string>> {
  const { git, repository, homeDirectory, environment, program } = options
  const found = findProgram(program ?? "git", environment["PATH"])
  const question = JSON.stringify([repository?.gitDirectory, homeDirectory, environment["XDG_CONFIG_HOME"], found])
  const kept = readKept(options.cacheFile)
  const age = options.now() - (kept?.readAt ?? 0)
  if (kept?.question === question && age >= 0 && age < longestMs && areSame(kept.files)) return new Map(kept.settings)
  const known = listKnownFiles(options, found)
  const before = known?.map(versionOf)
  const { stdout, exitCode } = await git.run(["config", "--list", "--show-origin", "--includes", "-z"], {
    ...(repository === undefined ? {} : { gitDirectory: repository.gitDirectory }),
    ...(homeDirectory === undefined ? {} : { userHome: homeDirectory }),
    accept: [1, 128, 129],
    limit: "short",
  })
  if (exitCode !== 0) return new Map()
  const { settings, origins, isFixed } = parseList(stdout, homeDirectory)
  if (known !== undefined && isFixed) {
    const files = [...new Set([...known, ...origins])].map((path) => [path, versionOf(path)] as const)
    const isStill = known.every((path, i) => versionOf(path) === before?.[i])
    if (isStill && files.every(([path]) => isSettled(path, options.now()))) {
      const answer: Kept = { question, readAt: options.now(), files, settings: [...settings] }
      keep(options.cacheFile, answer)
    }
  }
  return settings
}

/** Settings, the files they came from or would come from, and whether those files alone decide. */
function parseList(stdout: Buffer, homeDirectory: string | undefined) {
  const settings = new Map<string, string>()
  const origins = new Set<string>()
  let isFixed = true
  const parts = stdout.toString("utf8").split("\0")
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const origin = (parts[i] as string).startsWith("file:") ? (parts[i] as string).slice(5) : undefined
    if (origin !== undefined && !isAbsolute(origin)) isFixed = false
    else if (origin !== undefined) origins.add(origin)
    const item = parts[i + 1] as string
    const line = item.indexOf("\n")
    const key = (line > 0 ? item.slice(0, line) : item).toLowerCase()
    const value = line > 0 ? item.slice(line + 1) : "true"
    if (wanted.test(key)) settings.set(key, value)
    if (key === "include.path" || (key.startsWith("includeif.") && key.endsWith(".path"))) {
      const path = expandHome(value, homeDirectory)
      if (key.startsWith("includeif.onbranch:") || origin === undefined || path === undefined) isFixed = false
      else origins.add(resolve(dirname(origin), path))
    }
  }
  return { settings, origins, isFixed }
}

/** Where git looks for settings, there or not; undefined when that can't be told. */
function listKnownFiles({ repository, homeDirectory, environment }: ReadUserConfigOptions, found: string | undefined) {
  if (found === undefined || homeDirectory === undefined) return undefined
  const places = [found, realpathSync(found)].map((path) => resolve(dirname(path), "../etc/gitconfig"))
  const configHome = environment["XDG_CONFIG_HOME"] || join(homeDirectory, ".config")
  return [
    ...[found, "/etc/gitconfig", ...places, join(homeDirectory, ".gitconfig"), join(configHome, "git/config")],
    ...(repository === undefined ? [] : [join(repository.commonDirectory, "config")]),
    ...(repository === undefined ? [] : [join(repository.gitDirectory, "config.worktree")]),
  ]
}

function findProgram(program: string, path: string | undefined): string | undefined {
  const candidates = isAbsolute(program) ? [program] : (path ?? "").split(":").map((folder) => join(folder, program))
  return candidates.find((file) => findStat(file)?.isFile() === true)
}

function areSame(files: Kept["files"]): boolean {
  return files.every(([path, version]) => versionOf(path) === version)
}

function versionOf(path: string): string {
  const stat = findStat(path)
  return stat === undefined ? "none" : `${stat.ino}-${stat.mtimeNs}-${stat.ctimeNs}-${stat.size}`
}

function isSettled(path: string, now: number): boolean {
  const stat = findStat(path)
  return stat === undefined || Number(stat.ctimeNs / 1_000_000n) + settledMs < now
}

/** What can't be looked at is as good as not there: git can't read it either. */
function findStat(path: string) {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Where nothing may be written, git is asked each time. */
function keep(file: string, answer: Kept): void {
  try {
    replaceCache(file, JSON.stringify(answer), { mode: 0o600 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (!["EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT"].includes(code as string)) throw error
  }
}

function readKept(file: string): Kept | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8"))
  } catch {
    return undefined // none, or not readable: git is asked
  }
}
