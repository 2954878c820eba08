/** `/quit`: leaves with a checkpoint, and says how to come back. */
import type { SlashCommand } from "./slash-command.js"

export const quitCommand: SlashCommand = {
  name: "quit",
  usage: "/quit",
  summary: "leave with a checkpoint; everything is kept",
  isAlways: true,
  run: async (chat) => chat.leave(),
}
