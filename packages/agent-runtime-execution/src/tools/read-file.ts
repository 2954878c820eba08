/** Reads a text file, whole or some lines of it. The file then counts as read. */
import { KeepupError, type Tool } from "@ku0/agent-runtime-core"
import { diskFiles } from "./file-operations.js"
import { type ArgumentSchema, parseArguments, toParameters } from "./parse-arguments.js"
import { decodeText, missingFile } from "./text-file.js"
import type { FileToolOptions } from "./tool-options.js"

const schema: ArgumentSchema = {
  type: "object",
  properties: {
    path: { type: "string", description: "Path of the file, relative to the workspace" },
    offset: { type: "integer", minimum: 1, description: "First line to show, counted from 1" },
    limit: { type: "integer", minimum: 1, description: "How many lines to show" },
  },
  required: ["path"],
}

interface Arguments {
  readonly path: string
  readonly offset?: number | null
  readonly limit?: number | null
}

export interface ReadFileOptions extends FileToolOptions {
  /** The most characters of one answer. Default: 50,000. */
  readonly maxCharacters?: number
}

export function createReadFileTool(options: ReadFileOptions): Tool {
  const { workspace, files = diskFiles, context, maxCharacters = 50_000 } = options
  return {
    name: "read_file",
    description: "Read a text file of the workspace. Read a file again when it changed, before you edit it.",
    parameters: toParameters(schema),
    hasEffects: false,
    targets: async (args) => [(await workspace.resolve(parseArguments<Arguments>(schema, args).path)).relative],
    async run(args) {
      const { path, offset, limit } = parseArguments<Arguments>(schema, args)
      const place = await workspace.resolve(path)
      const content = await files.read(place.absolute)
      if (content === undefined) throw missingFile(path)
      const text = decodeText(content, path)
      const shown = showLines(text, offset ?? 1, limit ?? Number.POSITIVE_INFINITY, maxCharacters, path)
      context?.markRead(place.absolute, content)
      return { content: shown }
    },
  }
}

function showLines(text: string, offset: number, limit: number, maxCharacters: number, path: string): string {
  if (text === "") return "(The file is empty.)"
  const lines = text.split("\n")
  const count = text.endsWith("\n") ? lines.length - 1 : lines.length
  if (offset > count) throw new KeepupError("INVALID_INPUT", `${path} has only ${count} lines.`)
  const wanted = lines.slice(offset - 1, Math.min(lines.length, offset - 1 + limit)).join("\n")
  const shown = wanted.slice(0, maxCharacters)
  const last = Math.min(count, offset - 1 + shown.split("\n").length)
  if (shown.length === wanted.length && last >= count) return shown
  const cut = shown.length < wanted.length ? ", cut off" : ""
  return `${shown}\n(Lines ${offset} to ${last} of ${count}${cut}. Use offset to go on.)`
}
