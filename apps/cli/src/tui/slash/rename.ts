/** `/rename <name>`: another name for the session. */
import { oneLine } from "../../output/text.js"
import { refreshStatus } from "../session/open-session.js"
import { openStore, requireSession, type SlashCommand, usageError } from "./slash-command.js"

export const renameCommand: SlashCommand = {
  name: "rename",
  usage: "/rename <name>",
  summary: "give the session another name",
  isAlways: true,
  async run(chat, _, text) {
    const session = requireSession(chat)
    if (text === "") throw usageError(renameCommand, "A session needs a name.")
    const { name } = await (await openStore(chat)).sessions.rename(session.id, text)
    await refreshStatus(chat.scope)
    chat.say({ kind: "notice", level: "info", text: `The session is now "${oneLine(name)}".`, hint: undefined })
  },
}
