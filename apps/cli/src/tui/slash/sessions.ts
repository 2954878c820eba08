/** `/sessions`: the sessions of this workspace, branches under the session they came from. */
import { renderTree } from "../../output/tree.js"
import { plantSessions } from "../../session-tree.js"
import { openStore, type SlashCommand } from "./slash-command.js"

export const sessionsCommand: SlashCommand = {
  name: "sessions",
  usage: "/sessions",
  summary: "the sessions of this workspace, branches under theirs",
  isAlways: true,
  async run(chat) {
    const { context } = chat.scope
    const sessions = await (await openStore(chat)).sessions.list({ workspacePath: context.workspacePath, limit: 50 })
    const tree = renderTree(await plantSessions(context, sessions))
    const text = sessions.length === 0 ? "No sessions here yet." : `${tree}\n\nUse \`/resume <id>\` to go on with one.`
    chat.say({ kind: "block", format: "plain", text })
  },
}
