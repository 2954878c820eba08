/** `/resume <ref>`: goes on with another session. */
import { getSession } from "../../references.js"
import { goOnWith } from "../session/go-on.js"
import { type SlashCommand, usageError } from "./slash-command.js"

export const resumeCommand: SlashCommand = {
  name: "resume",
  usage: "/resume <ref>",
  summary: "go on with another session: an id or a part of it, a name, or latest",
  completes: ["session"],
  async run(chat, _, text) {
    if (text === "") throw usageError(resumeCommand, "Which session? /sessions shows them.")
    await goOnWith(chat.scope, await getSession(chat.scope.context, text))
  },
}
