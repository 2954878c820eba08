/** `/checkpoints`: the timeline, and under it the table. */
import { renderCheckpoints } from "../../checkpoint-table.js"
import { plural } from "../../output/text.js"
import { openStore, requireSession, type SlashCommand } from "./slash-command.js"

const most = 50

export const checkpointsCommand: SlashCommand = {
  name: "checkpoints",
  usage: "/checkpoints",
  summary: "the timeline: every place you can go back to",
  isAlways: true,
  async run(chat) {
    const session = requireSession(chat)
    const store = await openStore(chat)
    const checkpoints = (await store.checkpoints.list(session.id, { limit: most })).reverse()
    const { checkpointCount } = await store.sessions.get(session.id)
    const text =
      checkpoints.length === 0
        ? "No checkpoints yet. /checkpoint makes one."
        : [
            renderCheckpoints(chat.scope.context, checkpoints),
            ...(checkpointCount > most ? [`${plural(checkpointCount - most, "older checkpoint")} not shown.`] : []),
            "",
            "Use `/rewind <#>` to restore to a checkpoint.",
          ].join("\n")
    chat.say({ kind: "block", format: "plain", text })
  },
}
