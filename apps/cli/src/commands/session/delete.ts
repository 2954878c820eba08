/** `session delete`: takes a session away. Branches of it keep the history they share. */
import { sessionToJson, shortId } from "@ku0/agent-runtime"
import type { Command } from "../../command.js"
import { oneLine, plural } from "../../output/text.js"
import { getSession } from "../../references.js"

export const deleteCommand: Command = {
  summary: "take a session away, with its checkpoints",
  description: [
    "The files of the workspace stay as they are. Branches of the session keep the history they share with it. " +
      "What only the session kept on disk is freed by `keepup gc`.",
  ],
  arguments: [{ name: "SESSION", summary: "an id or a part of it, a name, or latest", completes: "session" }],
  options: [
    { flags: "--dry-run", summary: "only say what would go" },
    { flags: "-y, --yes", summary: "do not ask" },
  ],
  examples: [{ command: "keepup session delete 4f1c9a20", does: "Take one away, after a question" }],
  exits: ["NOT_FOUND", "SESSION_RUNNING"],
  async run(context, input) {
    const session = await getSession(context, input.argument("SESSION"))
    const { store } = await context.openRuntime()
    const document = { session: sessionToJson(session) }
    const what = `session ${shortId(session.id)} "${oneLine(session.name)}" with ${plural(session.messageCount, "message")} and ${plural(session.checkpointCount, "checkpoint")}`
    if (input.flag("dry-run")) {
      context.answer({ ...document, applied: false }, () => `Would delete ${what}.`)
      return
    }
    if (!input.flag("yes")) await context.confirm(`Delete ${what}? This can't be undone.`)
    await context.uninterrupted(() => store.sessions.delete(session.id), { finishing: "What is being deleted" })
    context.answer(document, () => `Deleted ${what}.`)
  },
}
