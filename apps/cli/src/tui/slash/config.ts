/** `/config [key value]`: the settings, one of them, or a change of yours. */
import { runCommandLine, type SlashCommand } from "./slash-command.js"

export const configCommand: SlashCommand = {
  name: "config",
  usage: "/config [key value]",
  summary: "the settings, one of them, or a change; a change counts from the next start",
  completes: ["setting"],
  isAlways: true,
  async run(chat, words, text) {
    const [key] = words
    if (key === undefined) return await runCommandLine(chat, "config list", [])
    const value = text.slice(key.length).trim()
    if (value === "") return await runCommandLine(chat, "config get", [key])
    await runCommandLine(chat, "config set", [key, value])
  },
}
