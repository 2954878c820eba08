/** Searches the files of the workspace: with ripgrep where it is installed, else by going through them. */
import { readFile, stat } from "node:fs/promises"
import { KeepupError, type Tool } from "@ku0/agent-runtime-core"
import { compileGlob } from "../glob.js"
import { readIgnoreFiles } from "./ignore-files.js"
import { type ArgumentSchema, parseArguments, toParameters } from "./parse-arguments.js"
import { runProcess } from "./run-process.js"
import { compileSearch } from "./search-text.js"
import { missingFile } from "./text-file.js"
import { walkFiles } from "./walk-files.js"
import type { Workspace, WorkspacePath } from "./workspace-path.js"

const schema: ArgumentSchema = {
  type: "object",
  properties: {
    pattern: { type: "string", description: "A regular expression; lines that fit are shown" },
    path: { type: "string", description: "Folder or file to search, relative to the workspace" },
    glob: { type: "string", description: "Only files that fit, for example *.ts" },
    ignoreCase: { type: "boolean" },
  },
  required: ["pattern"],
}

interface Arguments {
  readonly pattern: string
  readonly path?: string | null
  readonly glob?: string | null
  readonly ignoreCase?: boolean | null
}

export interface SearchFilesOptions {
  readonly workspace: Workspace
  /** Environment of ripgrep, which is looked for in its PATH. */
  readonly env: Readonly<Record<string, string>>
  /** Program to use as ripgrep; `null` for none. Default: `rg`. */
  readonly ripgrep?: string | null
  /** Whether a file may be shown; `path` is relative to the workspace. Must not throw. */
  readonly isVisible?: (path: string) => boolean
  /** The most lines of one answer. Default: 200. */
  readonly maxLines?: number
}

interface Match {
  readonly path: string
  readonly line: string
  readonly text: string
}

type Matches = AsyncIterable<Match>

/** Files above this are not text that a person wrote. */
const maxFileBytes = 5_000_000

export function createSearchFilesTool(options: SearchFilesOptions): Tool {
  const { workspace, isVisible = () => true, maxLines = 200 } = options
  return {
    name: "search_files",
    description:
      "Search the text files of the workspace by regular expression. What .gitignore files leave out is not searched unless you name the file.",
    parameters: toParameters(schema),
    hasEffects: false,
    targets: async (args) => [(await workspace.resolve(parseArguments<Arguments>(schema, args).path ?? ".")).relative],
    async run(args, { signal }) {
      const wanted = parseArguments<Arguments>(schema, args)
      const start = await workspace.resolve(wanted.path ?? ".")
      if ((await stat(start.absolute).catch(() => undefined)) === undefined) throw missingFile(start.relative)
      const fits = wanted.glob === undefined || wanted.glob === null ? () => true : compileGlob(wanted.glob)
      const matches =
        (await searchWithRipgrep(options, start, wanted, signal)) ?? walk(options, start, wanted, signal, fits)
      const lines: string[] = []
      for await (const { path, line, text } of matches) {
        if (workspace.isProtected(path) || !isVisible(path) || !fits(path)) continue
        if (lines.length === maxLines) {
          lines.push(`(More than ${maxLines} lines; use a narrower pattern, path or glob.)`)
          break
        }
        lines.push(`${path}:${line}: ${text.length > 300 ? `${text.slice(0, 300)}…` : text}`)
      }
      return { content: lines.length === 0 ? "(Nothing found.)" : lines.join("\n") }
    },
  }
}

/** What ripgrep finds, or `undefined` if it is not there. */
async function searchWithRipgrep(
  { ripgrep = "rg", env }: SearchFilesOptions,
  start: WorkspacePath,
  { pattern, ignoreCase }: Arguments,
  signal: AbortSignal,
): Promise<Matches | undefined> {
  if (ripgrep === null) return undefined
  const isFile = (await stat(start.absolute)).isFile()
  const flags = [
    "--line-number",
    "--no-heading",
    "--with-filename",
    "--null",
    "--color=never",
    "--hidden",
    "--sort=path",
  ]
  // with and without ripgrep the same files are searched: .gitignore counts, also without a repository, and nothing else
  const rules = ["--no-require-git", "--no-ignore-dot", "--no-ignore-global"]
  const args = [
    ...flags,
    ...rules,
    "--no-config",
    "--crlf",
    "--glob=!.git",
    ...(ignoreCase === true ? ["--ignore-case"] : []),
  ]
  const cwd = isFile ? start.absolute.slice(0, start.absolute.lastIndexOf("/")) : start.absolute
  const target = isFile ? start.absolute.slice(cwd.length + 1) : "."
  const prefix = isFile ? start.relative.slice(0, -target.length) : start.relative === "." ? "" : `${start.relative}/`
  const limits = { timeoutMs: 30_000, graceMs: 500, maxBytes: 4_000_000 }
  const command = { command: ripgrep, args: [...args, "-e", pattern, "--", target], cwd, env, signal, ...limits }
  try {
    const { exitCode, output } = await runProcess(command)
    signal.throwIfAborted()
    const text = output.bytes.toString()
    if (exitCode !== 0 && exitCode !== 1)
      throw new KeepupError("INVALID_INPUT", `ripgrep failed: ${text.slice(0, 500)}`)
    return readMatches(text, prefix)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}

async function* readMatches(output: string, prefix: string): AsyncGenerator<Match> {
  for (const row of output.split("\n")) {
    const found = /^(?:\.\/)?([^\0]+)\0(\d+):(.*?)\r?$/s.exec(row)
    if (found !== null) yield { path: prefix + found[1], line: found[2] as string, text: found[3] as string }
  }
}

async function* walk(
  { workspace }: SearchFilesOptions,
  start: WorkspacePath,
  { pattern, ignoreCase }: Arguments,
  signal: AbortSignal,
  fits: (path: string) => boolean,
): AsyncGenerator<Match> {
  const search = compileSearch(pattern, ignoreCase === true)
  const one = [{ ...start, isLink: false }]
  const isFile = (await stat(start.absolute)).isFile()
  const { absolute: root } = await workspace.resolve(".")
  const files = isFile ? one : walkFiles(workspace, start, signal, await readIgnoreFiles(root, start.absolute))
  for await (const { absolute, relative, isLink } of files) {
    if (isLink || !fits(relative)) continue
    const content = await readSmallFile(absolute)
    if (content === undefined || content.includes(0)) continue
    for (const { number, text } of search(content.toString())) yield { path: relative, line: String(number), text }
  }
}

/** `undefined` for one that is too large, gone meanwhile, or not ours to read: the others are still worth searching. */
async function readSmallFile(path: string): Promise<Buffer | undefined> {
  try {
    return (await stat(path)).size > maxFileBytes ? undefined : await readFile(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "ENOENT" || code === "EACCES") return undefined
    throw error
  }
}
