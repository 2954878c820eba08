/** `/checkpoint [name]`: keeps the files and the conversation as they are now. */
import type { Checkpoint } from "@ku0/agent-runtime"
import { oneLine } from "../../output/text.js"
import { refreshStatus, startSession } from "../session/open-session.js"
import type { SlashCommand } from "./slash-command.js"

export const checkpointCommand: SlashCommand = {
  name: "checkpoint",
  usage: "/checkpoint [name]",
  summary: "keep the files and the conversation as they are now",
  async run(chat, _, text) {
    const { scope } = chat
    const runtime = await scope.openRuntime()
    const session = scope.session ?? (await startSession(scope, runtime, ""))
    const name = text === "" ? {} : { name: text }
    const made = (await runtime.manager.take({ sessionId: session.id, trigger: "manual", ...name })) as Checkpoint
    await refreshStatus(scope)
    const called = made.name === null ? "" : ` "${oneLine(made.name)}"`
    chat.say({
      kind: "notice",
      level: "info",
      text: `Checkpoint created at message #${made.messageIndex}`,
      hint: `It is #${made.number}${called}. /rewind ${made.number} goes back to it.`,
    })
  },
}
