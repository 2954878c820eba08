/** `/undo`: takes the last restore or rewind of files back. */
import { undoHere } from "../session/time-travel.js"
import type { SlashCommand } from "./slash-command.js"

export const undoCommand: SlashCommand = {
  name: "undo",
  usage: "/undo",
  summary: "take the last restore back: every file and the conversation",
  run: async (chat) => await undoHere(chat.scope),
}
