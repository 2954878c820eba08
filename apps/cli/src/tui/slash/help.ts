/** `/help`: every slash command and every key. */
import type { SlashCommand } from "./slash-command.js"

export const helpCommand: SlashCommand = {
  name: "help",
  usage: "/help",
  summary: "the commands and the keys",
  isAlways: true,
  run: async (chat) => chat.openHelp(),
}
