/**
 * Git's facts after some files changed, worked out from the last ones without asking git again. Only for the plain case:
 * files that git tracks, or that it did not track before either, in a repository that takes bytes as they are. Undefined
 * wherever git might say something else.
 */
import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { type GitFacts, isKeepupError } from "@ku0/agent-runtime-core"
import { type BytePath, foldersAbove, nameOf, toSystemPath } from "../snapshot/byte-path.js"
import { idAt, visitIndex } from "../snapshot/git-index.js"
import type { FileEntry, TreeChange } from "../snapshot/trees.js"
import { findUserRepository, readText, type UserRepository } from "../snapshot/user-repository.js"

/** Facts → the paths that are not as in HEAD, and whether that is so in the index already. */
const uncommittedPaths = new WeakMap<GitFacts, ReadonlyMap<BytePath, boolean>>()

/** Remembers what a count was made of. */
export function noteUncommitted(facts: GitFacts, paths: ReadonlyMap<BytePath, boolean>): void {
  if (paths.size === facts.uncommitted && paths.size <= mostPaths) uncommittedPaths.set(facts, paths)
}

const mostPaths = 1_000
const largestIndex = 1 << 20
/** Settings with which git may take a file for another than its bytes say, or has more files that we do not know of. */
const unusualSettings = /autocrlf|eol|attributesfile|include|worktree|objectformat|ignorecase\s*=\s*true/i
const ruleFiles: ReadonlySet<string> = new Set([".gitignore", ".gitattributes", ".gitmodules", ".keepupignore"])

/** `last` are the facts before the changes. The caller makes sure that the repository itself is as it was then. */
export function deriveGitFacts(
  workspacePath: string,
  last: GitFacts | null,
  changes: readonly TreeChange[],
): GitFacts | undefined {
  const before = last === null ? undefined : uncommittedPaths.get(last)
  if (last === null || before === undefined || changes.length > mostPaths) return undefined
  const repository = findUserRepository(workspacePath)
  if (repository === undefined || !isPlain(repository, changes)) return undefined
  const index = readEntries(join(repository.gitDirectory, "index"))
  if (index === undefined) return undefined
  const paths = new Map(before)
  for (const change of changes) if (!applyChange(change, index.get(change.path), paths)) return undefined
  const facts = { ...last, uncommitted: paths.size }
  noteUncommitted(facts, paths)
  return facts
}

/** False when git has to be asked. */
function applyChange({ path, before, after }: TreeChange, entry: FileEntry | undefined, paths: Map<BytePath, boolean>) {
  // One that git does not track counts the same after an edit. A new one may be in a folder that counts as a whole.
  if (entry === undefined) return before !== undefined && after !== undefined
  const isModeSame = [before, after].every((side) => side === undefined || side.mode === entry.mode)
  if (!isModeSame || entry.mode === "120000") return false
  if (!paths.has(path) && before?.id !== entry.id) return false // git saw another content than the snapshot
  if (after?.id !== entry.id) paths.set(path, paths.get(path) ?? false)
  else if (paths.get(path) === false) paths.delete(path)
  return true
}

function isPlain(repository: UserRepository, changes: readonly TreeChange[]): boolean {
  const { root, prefix, gitDirectory, commonDirectory } = repository
  if (prefix !== "" || gitDirectory !== commonDirectory) return false
  if (changes.some(({ path }) => ruleFiles.has(nameOf(path)))) return false
  const config = readText(join(gitDirectory, "config"))
  if (config === undefined || unusualSettings.test(config)) return false
  if (existsSync(join(gitDirectory, "info/attributes"))) return false
  const folders = new Set(["", ...changes.flatMap(({ path }) => foldersAbove(path))])
  return ![...folders].some((folder) => hasAttributes(root, folder))
}

function hasAttributes(root: string, folder: BytePath): boolean {
  const path = toSystemPath(`${Buffer.from(root).toString("latin1")}/${folder}/.gitattributes`)
  return existsSync(path)
}

/** The last index that was read: one program looks at the same one many times. */
let lastIndex: { readonly version: string; readonly entries: ReadonlyMap<BytePath, FileEntry> } | undefined

/** What an index lists. Undefined where it says anything unusual of any file. */
function readEntries(file: string): ReadonlyMap<BytePath, FileEntry> | undefined {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true })
    if (size > largestIndex) return undefined
    const version = [file, ino, size, mtimeNs, ctimeNs].join("\n")
    if (lastIndex?.version === version) return lastIndex.entries
    const entries = parseEntries(readFileSync(file))
    if (entries !== undefined) lastIndex = { version, entries }
    return entries
  } catch (error) {
    if (isKeepupError(error) || (error as NodeJS.ErrnoException).code !== undefined) return undefined
    throw error
  }
}

function parseEntries(data: Buffer): Map<BytePath, FileEntry> | undefined {
  const entries = new Map<BytePath, FileEntry>()
  let isUsual = true
  const { isSplit, isSparse } = visitIndex(data, (path, at, mode, flags) => {
    const isFile = mode === 0o100644 || mode === 0o100755 || mode === 0o120000
    if ((flags & ~0xfff) !== 0 || !isFile) isUsual = false
    entries.set(path, { mode: mode.toString(8), id: data.toString("hex", at + idAt, at + idAt + 20) })
  })
  return isUsual && !isSplit && !isSparse ? entries : undefined
}
