/**
 * Files that a snapshot does not hold because its own rules left them out: they may well have been there. A restore that
 * brings those rules back must not take such files away, though today's rules let them be captured.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type BytePath, foldersAbove, joinPath, nameOf, toBytePath, toSystemPath } from "./byte-path.js"
import { treeMode } from "./git-objects.js"
import { createPatternList } from "./ignore-patterns.js"
import type { SnapshotEnvironment } from "./snapshot-environment.js"
import { findEntry } from "./trees.js"

const ownRules = ".keepupignore"

/** Whether a changed path decides about others. */
export function isRuleFile(path: BytePath): boolean {
  return nameOf(path) === ".gitignore" || path === ownRules
}

/** Those of the paths that the rules in a tree leave out. The caller holds the lock. */
export async function findIgnoredThen(
  environment: SnapshotEnvironment,
  tree: string,
  paths: readonly BytePath[],
): Promise<Set<BytePath>> {
  if (paths.length === 0) return new Set()
  const { include } = await environment.readRules()
  const own = createPatternList(((await readRules(environment, tree, ownRules))?.toString("utf8") ?? "").split("\n"))
  const ignored = await askGit(environment, tree, paths)
  const isIgnored = (path: BytePath) => ignored.has(path) && !include.matchWithFolders(path, false)
  return new Set(paths.filter((path) => own.matchWithFolders(path, false) || isIgnored(path)))
}

/** Git decides, in a folder where there is nothing but the rules of then. */
async function askGit({ git, store, reader }: SnapshotEnvironment, tree: string, paths: readonly BytePath[]) {
  const workTree = join(store, "rules-then")
  rmSync(workTree, { recursive: true, force: true })
  try {
    mkdirSync(workTree)
    for (const folder of new Set(["", ...paths.flatMap(foldersAbove)])) {
      const rules = await readRules({ reader }, tree, joinPath(folder, ".gitignore"))
      if (rules === undefined) continue
      const at = joinPath(toBytePath(workTree), folder)
      mkdirSync(toSystemPath(at), { recursive: true })
      writeFileSync(toSystemPath(`${at}/.gitignore`), rules)
    }
    const { stdout } = await git.run(["check-ignore", "--no-index", "-z", "--stdin"], {
      input: Buffer.from(paths.map((path) => `./${path}\0`).join(""), "latin1"),
      workTree,
      accept: [1],
      limit: "long",
    })
    return new Set(
      stdout
        .toString("latin1")
        .split("\0")
        .map((path) => path.slice(2)),
    )
  } finally {
    rmSync(workTree, { recursive: true, force: true })
  }
}

/** The content of a rules file as it was. Git reads none through a link. */
async function readRules(
  { reader }: Pick<SnapshotEnvironment, "reader">,
  tree: string,
  path: BytePath,
): Promise<Buffer | undefined> {
  const entry = await findEntry(reader, tree, path)
  if (entry === undefined || entry.mode === treeMode || entry.mode === "120000") return undefined
  return await reader.get(entry.id, "blob")
}
