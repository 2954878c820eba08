/** `session new`: a session for work that is not keepup's own agent's. */
import { basename } from "node:path"
import { sessionToJson, shortId } from "@ku0/agent-runtime"
import type { Command } from "../../command.js"
import { oneLine } from "../../output/text.js"
import { parseSessionName, requireWorkspace } from "../../references.js"

export const newCommand: Command = {
  summary: "start an empty session in this workspace",
  arguments: [{ name: "NAME?", summary: "what it is called; the folder's name unless told" }],
  options: [
    { flags: "--task <TEXT>", summary: "what is to be done in it" },
    { flags: "--agent <NAME>", summary: "who works in it; manual unless told" },
  ],
  examples: [{ command: 'keepup session new "Try the other parser"', does: "Begin something else" }],
  exits: ["UNAVAILABLE"],
  async run(context, input) {
    const { store } = await context.openRuntime()
    await requireWorkspace(context)
    const session = await store.sessions.create({
      workspacePath: context.workspacePath,
      name: parseSessionName(input.optional("NAME") ?? basename(context.workspacePath)),
      agentType: input.option("agent") ?? "manual",
      ...(input.has("task") && { taskDescription: input.option("task") ?? "" }),
    })
    context.answer(
      { session: sessionToJson(session) },
      () => `Session ${shortId(session.id)} "${oneLine(session.name)}" started in ${oneLine(session.workspacePath)}.`,
    )
  },
}
