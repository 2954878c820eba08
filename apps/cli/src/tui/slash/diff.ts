/** `/diff [#]`: what changed since a checkpoint; since the newest one unless told. */
import { patchBetween } from "@ku0/agent-runtime"
import { findCheckpoint } from "./find-checkpoint.js"
import { requireSession, type SlashCommand } from "./slash-command.js"

export const diffCommand: SlashCommand = {
  name: "diff",
  usage: "/diff [#]",
  summary: "what changed since a checkpoint, or since the newest one",
  completes: ["checkpoint"],
  isAlways: true,
  async run(chat, _, text) {
    const session = requireSession(chat)
    const checkpoint = await findCheckpoint(chat, session, text === "" ? "latest" : text)
    const patch = await patchBetween(await chat.scope.openRuntime(), checkpoint, "workspace")
    if (patch.length === 0) {
      chat.say({ kind: "notice", level: "info", text: `No differences since #${checkpoint.number}.`, hint: undefined })
    } else chat.say({ kind: "block", format: "patch", text: patch.toString("utf8").trimEnd() })
  },
}
