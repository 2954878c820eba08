/** Lists files of the workspace, by glob if wanted. */
import { stat } from "node:fs/promises"
import type { Tool } from "@ku0/agent-runtime-core"
import { compileGlob } from "../glob.js"
import { type ArgumentSchema, parseArguments, toParameters } from "./parse-arguments.js"
import { missingFile } from "./text-file.js"
import { walkFiles } from "./walk-files.js"
import type { Workspace } from "./workspace-path.js"

const schema: ArgumentSchema = {
  type: "object",
  properties: {
    path: { type: "string", description: "Folder to begin in, relative to the workspace; all of it if left out" },
    glob: { type: "string", description: "Only files that fit, for example **/*.ts" },
  },
}

interface Arguments {
  readonly path?: string | null
  readonly glob?: string | null
}

export interface ListFilesOptions {
  readonly workspace: Workspace
  /** Whether a file may be shown; `path` is relative to the workspace. Must not throw. */
  readonly isVisible?: (path: string) => boolean
  /** The most files of one answer. Default: 1,000. */
  readonly maxFiles?: number
}

export function createListFilesTool(options: ListFilesOptions): Tool {
  const { workspace, isVisible = () => true, maxFiles = 1_000 } = options
  return {
    name: "list_files",
    description: "List the files of the workspace, or of a folder in it. node_modules is left out unless you name it.",
    parameters: toParameters(schema),
    hasEffects: false,
    targets: async (args) => [(await workspace.resolve(parseArguments<Arguments>(schema, args).path ?? ".")).relative],
    async run(args, { signal }) {
      const { path, glob } = parseArguments<Arguments>(schema, args)
      const start = await workspace.resolve(path ?? ".")
      if (!(await isFolder(start.absolute))) throw missingFile(`${path} that is a folder`)
      const fits = glob === undefined || glob === null ? () => true : compileGlob(glob)
      const found: string[] = []
      for await (const { relative, isLink } of walkFiles(workspace, start, signal)) {
        if (!fits(relative) || !isVisible(relative)) continue
        if (found.length === maxFiles) {
          found.push(`(More than ${maxFiles} files; name a folder or a glob to see the others.)`)
          break
        }
        found.push(isLink ? `${relative} (link)` : relative)
      }
      return { content: found.length === 0 ? "(No files.)" : found.join("\n") }
    },
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false
    throw error
  }
}
