/** `/rewind <#>`: goes on from a checkpoint in a new session; the original stays. */
import { rewindHere } from "../session/time-travel.js"
import { findCheckpoint } from "./find-checkpoint.js"
import { requireSession, type SlashCommand, usageError } from "./slash-command.js"

export const rewindCommand: SlashCommand = {
  name: "rewind",
  usage: "/rewind <#>",
  summary: "go back to a checkpoint in a new session; the original stays",
  completes: ["checkpoint"],
  async run(chat, _, text) {
    const session = requireSession(chat)
    if (text === "") throw usageError(rewindCommand, "Which checkpoint? /checkpoints shows them.")
    await rewindHere(chat.scope, await findCheckpoint(chat, session, text))
  },
}
