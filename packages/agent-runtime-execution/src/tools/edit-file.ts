/** Replaces exact pieces of one or several files, all of them or none. */
import { isKeepupError, type Tool, type ToolInspection } from "@ku0/agent-runtime-core"
import { guardEdit } from "../context/guard-edit.js"
import { applyEdits, type TextEdit } from "./apply-edits.js"
import { commitFiles, type FileWrite } from "./commit-files.js"
import { readFileFacts } from "./file-facts.js"
import { diskFiles } from "./file-operations.js"
import { type ArgumentSchema, parseArguments, toParameters } from "./parse-arguments.js"
import { decodeText, missingFile } from "./text-file.js"
import type { FileToolOptions } from "./tool-options.js"

const schema: ArgumentSchema = {
  type: "object",
  properties: {
    edits: {
      type: "array",
      minItems: 1,
      description: "Made in this order. If one of them does not fit, none is made.",
      items: {
        type: "object",
        properties: {
          path: { type: "string", description: "Path of the file, relative to the workspace" },
          oldText: { type: "string", description: "Exactly as in the file, and there only once" },
          newText: { type: "string", description: "What shall stand there" },
          replaceAll: { type: "boolean", description: "Replace every place where oldText stands" },
        },
        required: ["path", "oldText", "newText"],
      },
    },
  },
  required: ["edits"],
}

interface FileEdit extends TextEdit {
  readonly path: string
}

export function createEditFileTool(options: FileToolOptions): Tool {
  const { workspace, files = diskFiles, context } = options
  const parse = (args: unknown): readonly FileEdit[] => parseArguments<{ edits: FileEdit[] }>(schema, args).edits
  const pathsOf = (args: unknown): string[] => parse(args).map(({ path }) => path)

  /** Edits by file, whatever its name in them; files in the order they are first named. */
  async function groupByFile(edits: readonly FileEdit[]): Promise<Map<string, { name: string; edits: FileEdit[] }>> {
    const groups = new Map<string, { name: string; edits: FileEdit[] }>()
    for (const edit of edits) {
      const place = await workspace.resolve(edit.path)
      const group = groups.get(place.absolute) ?? { name: place.relative, edits: [] }
      group.edits.push(edit)
      groups.set(place.absolute, group)
    }
    return groups
  }

  async function inspect(args: unknown): Promise<ToolInspection> {
    const seen: { name: string; state: "made" | "not made" | "unclear" }[] = []
    for (const [path, { name, edits }] of await groupByFile(parse(args))) {
      const content = await files.read(path)
      seen.push({ name, state: content === undefined ? "unclear" : readState(decodeText(content, name), edits, name) })
    }
    const summary = `${seen.map(({ name, state }) => `${name}: the edits look ${state}`).join("; ")}.`
    if (seen.every(({ state }) => state === "made")) return { summary, isApplied: true }
    return seen.every(({ state }) => state === "not made") ? { summary, isApplied: false } : { summary }
  }

  return {
    name: "edit_file",
    description: "Replace exact pieces of text in one or several files of the workspace, all of them or none.",
    parameters: toParameters(schema),
    hasEffects: true,
    targets: async (args) =>
      await Promise.all(pathsOf(args).map(async (path) => (await workspace.resolve(path)).relative)),
    readFacts: async (args) => await readFileFacts(workspace, files, pathsOf(args)),
    inspect,
    async run(args) {
      const groups = await groupByFile(parse(args))
      guardEdit(context, [...groups.keys()])
      const writes: FileWrite[] = []
      for (const [path, { name, edits }] of groups) {
        const before = await files.read(path)
        if (before === undefined) throw missingFile(name)
        writes.push({ path, name, before, after: Buffer.from(applyEdits(decodeText(before, name), edits, name)) })
      }
      await commitFiles(writes, options)
      const counts = [...groups.values()].map(({ name, edits }) => `${name} (${edits.length})`)
      return { content: `Edited ${counts.join(", ")}.` }
    },
  }
}

/** Whether the edits could still be made, or have left their text behind. */
function readState(text: string, edits: readonly TextEdit[], name: string): "made" | "not made" | "unclear" {
  try {
    applyEdits(text, edits, name)
    return "not made"
  } catch (error) {
    if (!isKeepupError(error)) throw error
  }
  return edits.every(
    ({ oldText, newText }) => text.includes(newText) && (newText.includes(oldText) || !text.includes(oldText)),
  )
    ? "made"
    : "unclear"
}
