/**
 * What the workspace's own repository looks like now. It is only read: HEAD and the operation in progress from its
 * files, the counts from a `git status` that takes no lock and refreshes nothing.
 */
import { existsSync, statSync } from "node:fs"
import { join } from "node:path"
import type { GitFacts } from "@ku0/agent-runtime-core"
import type { BytePath } from "../snapshot/byte-path.js"
import { createGit } from "../snapshot/git-process.js"
import { findUserRepository, readText, type UserRepository } from "../snapshot/user-repository.js"
import { noteUncommitted } from "./derive-git-facts.js"

export interface ReadGitFactsOptions {
  readonly workspacePath: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly program?: string
  readonly signal?: AbortSignal
  /** How long git may take; 10 s unless told. */
  readonly timeLimitMs?: number
}

const defaultTimeLimitMs = 10_000

/** Files whose presence means that git is in the middle of something. */
const operations: readonly (readonly [file: string, name: string])[] = [
  ["rebase-merge", "rebase"],
  ["rebase-apply", "rebase"],
  ["MERGE_HEAD", "merge"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  ["BISECT_LOG", "bisect"],
]

/** `null` where there is no repository. Throws if git can't be started, or does not answer in time. */
export async function readGitFacts(options: ReadGitFactsOptions): Promise<GitFacts | null> {
  const repository = findUserRepository(options.workspacePath)
  if (repository === undefined) return null
  const operation = operations.find(([file]) => existsSync(join(repository.gitDirectory, file)))?.[1] ?? null
  const { uncommittedPaths, ...counts } = await readStatus(repository, options)
  const facts = { ...counts, operation }
  noteUncommitted(facts, uncommittedPaths)
  return facts
}

/**
 * Changes when the facts may have changed although no file of the workspace did: a commit, an `add`, a checkout, a merge
 * that begins. Costs a few looks at files of the repository. Empty where there is none, undefined where git counts
 * files that no snapshot holds.
 */
export function readGitSignature(workspacePath: string): string | undefined {
  const repository = findUserRepository(workspacePath)
  if (repository === undefined) return ""
  if (repository.prefix !== "" || existsSync(join(repository.root, ".keepupignore"))) return undefined
  const { gitDirectory, commonDirectory } = repository
  const head = readText(join(gitDirectory, "HEAD"))?.trim() ?? ""
  const branch = /^ref: (\S+)$/.exec(head)?.[1]
  const watched = ["index", "config", "info/exclude", "packed-refs", ...(branch === undefined ? [] : [branch])]
  // of a worktree: where its branches lie
  const folders = commonDirectory === gitDirectory ? [gitDirectory] : [gitDirectory, commonDirectory]
  const times = folders.flatMap((folder) =>
    [...watched, ...operations.map(([file]) => file)].map((file) => {
      const found = statSync(join(folder, file), { bigint: true, throwIfNoEntry: false })
      return found === undefined ? "" : `${found.ino}.${found.mtimeNs}.${found.size}`
    }),
  )
  return [head, ...times].join(" ")
}

async function readStatus(
  repository: UserRepository,
  options: ReadGitFactsOptions,
): Promise<Omit<GitFacts, "operation"> & { uncommittedPaths: ReadonlyMap<BytePath, boolean> }> {
  const git = createGit({
    environment: options.environment,
    gitDirectory: repository.gitDirectory,
    timeLimitMs: options.timeLimitMs ?? defaultTimeLimitMs,
    ...(options.program !== undefined && { program: options.program }),
  })
  const args = [
    "status",
    "--porcelain=v2",
    "--branch",
    "-z",
    "--untracked-files=normal",
    "--ignore-submodules=dirty",
    "--no-renames",
  ]
  const { signal } = options
  const { stdout } = await git.run(args, { workTree: repository.root, limit: "short", ...(signal && { signal }) })
  let branch: string | null = null
  let head: string | null = null
  let uncommitted = 0
  let untracked = 0
  const uncommittedPaths = new Map<BytePath, boolean>()
  for (const line of stdout.toString("latin1").split("\0")) {
    if (line.startsWith("# branch.oid ")) head = line.endsWith("(initial)") ? null : line.slice(13)
    else if (line.startsWith("# branch.head ")) branch = line.endsWith("(detached)") ? null : toText(line.slice(14))
    else if (line.startsWith("? ")) untracked += isOwnFolder.test(line) ? 0 : 1
    else if (/^[12u] /.test(line)) {
      uncommitted++
      const plain = /^1 (.). N\.\.\. (?:\S+ ){5}(.+)$/s.exec(line)
      if (plain) uncommittedPaths.set(plain[2] as string, plain[1] !== ".")
    }
  }
  return { branch: branch ?? branchDuringRebase(repository), head, uncommitted, untracked, uncommittedPaths }
}

/** Where a restore under way keeps what it is about to write. */
const isOwnFolder = /^\? (.*\/)?\.keepup-restore-[^/]+\/$/s
const toText = (bytes: string) => Buffer.from(bytes, "latin1").toString("utf8")

/** HEAD is detached while a rebase runs; people still think of the branch being rebased. */
function branchDuringRebase({ gitDirectory }: UserRepository): string | null {
  for (const folder of ["rebase-merge", "rebase-apply"]) {
    const name = readText(join(gitDirectory, folder, "head-name"))?.trim()
    if (name !== undefined) return name.replace("refs/heads/", "")
  }
  return null
}
