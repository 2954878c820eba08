/** `/import <file>`: takes an exported session in. */
import { runCommandLine, type SlashCommand, usageError } from "./slash-command.js"

export const importCommand: SlashCommand = {
  name: "import",
  usage: "/import <file>",
  summary: "take an exported session in; the files of the workspace stay as they are",
  completes: ["file"],
  isAlways: true,
  async run(chat, _, text) {
    if (text === "") throw usageError(importCommand, "Which file?")
    await runCommandLine(chat, "session import", [text])
  },
}
