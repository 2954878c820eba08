/** Writes a whole file. One that was read and changed meanwhile is not overwritten. */
import type { Tool } from "@ku0/agent-runtime-core"
import { commitFiles } from "./commit-files.js"
import { readFileFacts } from "./file-facts.js"
import { diskFiles } from "./file-operations.js"
import { type ArgumentSchema, parseArguments, toParameters } from "./parse-arguments.js"
import type { FileToolOptions } from "./tool-options.js"

const schema: ArgumentSchema = {
  type: "object",
  properties: {
    path: { type: "string", description: "Path of the file, relative to the workspace" },
    content: { type: "string", description: "Everything the file shall hold" },
  },
  required: ["path", "content"],
}

interface Arguments {
  readonly path: string
  readonly content: string
}

export function createWriteFileTool(options: FileToolOptions): Tool {
  const { workspace, files = diskFiles } = options
  const parse = (args: unknown): Arguments => parseArguments<Arguments>(schema, args)
  return {
    name: "write_file",
    description: "Write a file of the workspace: make it, or replace everything in it. Folders are made as needed.",
    parameters: toParameters(schema),
    hasEffects: true,
    targets: async (args) => [(await workspace.resolve(parse(args).path)).relative],
    readFacts: async (args) => await readFileFacts(workspace, files, [parse(args).path]),
    async inspect(args) {
      const { path, content } = parse(args)
      const now = await files.read((await workspace.resolve(path)).absolute)
      const isApplied = now?.equals(Buffer.from(content)) === true
      if (isApplied) return { summary: `${path} holds exactly what was to be written.`, isApplied }
      return { summary: now === undefined ? `${path} is not there.` : `${path} holds something else.`, isApplied }
    },
    async run(args) {
      const { path, content } = parse(args)
      const place = await workspace.resolve(path)
      const before = await files.read(place.absolute)
      const after = Buffer.from(content)
      await commitFiles([{ path: place.absolute, name: place.relative, before, after }], options)
      return { content: `${before === undefined ? "Made" : "Replaced"} ${place.relative} (${after.length} bytes).` }
    },
  }
}
