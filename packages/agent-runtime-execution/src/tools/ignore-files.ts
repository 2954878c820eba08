/** What the .gitignore files of a workspace, and of a repository around it, say about its paths. Git is not needed. */
import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { dirname, join, relative, sep } from "node:path"
import { createPatternList, type PatternList } from "@ku0/agent-runtime-core"

export interface IgnoreFiles {
  /** The rules that hold in a folder below: these, and those of its own file. */
  enter(folder: string): Promise<IgnoreFiles>
  /** Whether a path right in this folder is ignored. Absolute paths. */
  isIgnored(path: string, isFolder: boolean): boolean
}

interface RuleFile {
  readonly folder: string
  readonly patterns: PatternList
}

/** The rules that hold in a folder, read from the repository it is in, or from the workspace if it is in none. */
export async function readIgnoreFiles(workspaceRoot: string, folder: string): Promise<IgnoreFiles> {
  const top = findRepository(workspaceRoot) ?? workspaceRoot
  const exclude = await readRules(top, join(".git", "info", "exclude"))
  let rules = createIgnoreFiles(exclude)
  const steps = relative(top, folder)
    .split(sep)
    .filter((name) => name !== "")
  for (let at = 0; at <= steps.length; at++) rules = await rules.enter(join(top, ...steps.slice(0, at)))
  return rules
}

function createIgnoreFiles(files: readonly RuleFile[]): IgnoreFiles {
  return {
    enter: async (folder) => createIgnoreFiles([...files, ...(await readRules(folder, ".gitignore"))]),
    isIgnored(path, isFolder) {
      // the file nearest to the path decides, as in git
      for (let at = files.length - 1; at >= 0; at--) {
        const { folder, patterns } = files[at] as RuleFile
        const decision = patterns.match(relative(folder, path).split(sep).join("/"), isFolder)
        if (decision !== undefined) return decision
      }
      return false
    },
  }
}

async function readRules(folder: string, name: string): Promise<RuleFile[]> {
  try {
    const text = await readFile(join(folder, name), "utf8")
    return [{ folder, patterns: createPatternList(text.replace(/^\ufeff/, "").split("\n")) }]
  } catch {
    return [] // not there, or not ours to read: then it says nothing
  }
}

function findRepository(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at
    if (dirname(at) === at) return undefined
  }
}
