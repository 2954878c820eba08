/** `/restore <#>`: makes a checkpoint the present of this session, after a look at the plan. */
import { KeepupError } from "@ku0/agent-runtime"
import { confirmRestore, restoreHere } from "../session/time-travel.js"
import { findCheckpoint } from "./find-checkpoint.js"
import { requireSession, type SlashCommand, usageError } from "./slash-command.js"

export const restoreCommand: SlashCommand = {
  name: "restore",
  usage: "/restore <#>",
  summary: "make a checkpoint the present: files and conversation",
  completes: ["checkpoint"],
  async run(chat, _, text) {
    const session = requireSession(chat)
    if (text === "") throw usageError(restoreCommand, "Which checkpoint? /checkpoints shows them.")
    const checkpoint = await findCheckpoint(chat, session, text)
    const agreed = await confirmRestore(chat.scope, checkpoint, false)
    if (agreed === undefined) throw new KeepupError("CANCELLED", "Nothing was changed.")
    await restoreHere(chat.scope, checkpoint, agreed)
  },
}
