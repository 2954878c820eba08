/** `session rename`: another name for a session. */
import { sessionToJson, shortId } from "@ku0/agent-runtime"
import type { Command } from "../../command.js"
import { oneLine } from "../../output/text.js"
import { getSession, parseSessionName } from "../../references.js"

export const renameCommand: Command = {
  summary: "give a session another name",
  arguments: [
    { name: "SESSION", summary: "an id or a part of it, a name, or latest", completes: "session" },
    { name: "NAME", summary: "the new name" },
  ],
  examples: [{ command: 'keepup session rename latest "Faster parser"', does: "Name what you are at" }],
  exits: ["NOT_FOUND"],
  async run(context, input) {
    const name = parseSessionName(input.argument("NAME"))
    const session = await getSession(context, input.argument("SESSION"))
    const { store } = await context.openRuntime()
    const renamed = await store.sessions.rename(session.id, name)
    context.answer(
      { session: sessionToJson(renamed) },
      () => `Session ${shortId(session.id)} is now "${oneLine(renamed.name)}"; it was "${oneLine(session.name)}".`,
    )
  },
}
