/** `/export md|json [file]`: the session as a text to read, or with everything in it, to be imported elsewhere. */
import { requireSession, runCommandLine, type SlashCommand, usageError } from "./slash-command.js"

const formats: readonly string[] = ["md", "json"]

export const exportCommand: SlashCommand = {
  name: "export",
  usage: "/export md|json [file]",
  summary: "the session as text to read (md), or with everything in it (json) for /import",
  completes: [["md", "json"], "file"],
  isAlways: true,
  async run(chat, words, text) {
    const session = requireSession(chat)
    const [format = ""] = words
    if (!formats.includes(format)) {
      throw usageError(
        exportCommand,
        format === "" ? "As md or json?" : `There is no format ${JSON.stringify(format)}.`,
      )
    }
    const file = text.slice(format.length).trim()
    await runCommandLine(chat, "session export", [
      session.id,
      ...(file === "" || file === "-" ? [] : [file]),
      "--format",
      format,
    ])
  },
}
