/** `checkpoint diff`: what changed since a checkpoint, or between two. */
import { changeToJson, diffCheckpoints, type FileChange, patchBetween } from "@ku0/agent-runtime"
import type { Command } from "../../command.js"
import { paintPatch, renderStat } from "../../output/diff.js"
import { oneLine } from "../../output/text.js"
import { getCheckpoint, getSession } from "../../references.js"
import { toWorkspacePaths } from "../../workspace-paths.js"

const reference = "3, a name, latest, a part of an id, or SESSION:REF"

export const diffCommand: Command = {
  summary: "what changed since a checkpoint, or between two",
  arguments: [
    { name: "REF", summary: reference, completes: "checkpoint" },
    { name: "REF2?", summary: "another one; the workspace as it is now unless told", completes: "checkpoint" },
  ],
  rest: { name: "PATH…", summary: "only these files and folders", completes: "file" },
  options: [
    { flags: "--stat", summary: "a line for each file, with its counts" },
    { flags: "--name-only", summary: "only the paths" },
  ],
  examples: [
    { command: "keepup checkpoint diff 3", does: "What happened since #3" },
    { command: "keepup checkpoint diff 3 5 --stat", does: "What changed from #3 to #5, in short" },
    { command: "keepup checkpoint diff latest -- src", does: "Only in one folder" },
  ],
  exits: ["NOT_FOUND"],
  async run(context, input) {
    const session = await getSession(context)
    const from = await getCheckpoint(context, session, input.argument("REF"))
    const second = input.optional("REF2")
    const to = second === undefined ? "workspace" : await getCheckpoint(context, session, second)
    const runtime = await context.openRuntime()
    const paths = toWorkspacePaths(context, session.workspacePath, input.rest)
    if (context.flags.json || input.flag("stat") || input.flag("name-only")) {
      const all = await diffCheckpoints(runtime, from, to)
      const changes = all.filter((change) => isUnder(change, paths))
      context.answer({ files: changes.map(changeToJson) }, () => {
        if (input.flag("name-only")) return changes.map(({ path }) => oneLine(path)).join("\n")
        return renderStat(changes, context.width, context.styles)
      })
      return
    }
    const patch = await patchBetween(runtime, from, to, paths)
    if (patch.length === 0) context.remark("No differences.")
    else context.answer({}, () => paintPatch(patch, context.styles, context.machine.stdout.isTerminal))
  },
}

function isUnder({ path, from }: FileChange, paths: readonly string[]): boolean {
  if (paths.length === 0 || paths.includes(".")) return true
  const isIn = (one: string | undefined) =>
    one !== undefined && paths.some((folder) => one === folder || one.startsWith(`${folder}/`))
  return isIn(path) || isIn(from)
}
