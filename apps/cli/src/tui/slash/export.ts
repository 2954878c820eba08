/** `/export md|json [file]`: the session as a text to read, or with everything in it, to be imported elsewhere. */
import { requireSession, runCommandLine, type SlashCommand, usageError } from "./slash-command.js"

const formats: Readonly<Record<string, string>> = { md: "md", json: "keepup" }

export const exportCommand: SlashCommand = {
  name: "export",
  usage: "/export md|json [file]",
  summary: "the session as text to read (md), or with everything in it (json, compressed) for /import",
  completes: [["md", "json"], "file"],
  isAlways: true,
  async run(chat, words, text) {
    const session = requireSession(chat)
    const [word = ""] = words
    const format = formats[word]
    if (format === undefined) {
      throw usageError(exportCommand, word === "" ? "As md or json?" : `There is no format ${JSON.stringify(word)}.`)
    }
    const file = text.slice(word.length).trim()
    await runCommandLine(chat, "session export", [
      session.id,
      ...(file === "" || file === "-" ? [] : [file]),
      "--format",
      format,
    ])
  },
}
