/** `help`: the commands, or one of them explained. */
import { KeepupError } from "@ku0/agent-runtime"
import type { Command } from "../command.js"
import { commandsUnder } from "../command-entry.js"
import { renderHelp } from "../help.js"
import { suggest } from "../suggest.js"

export const helpCommand: Command = {
  summary: "the commands, or one of them explained",
  arguments: [{ name: "COMMAND?…", summary: "like checkpoint restore", completes: "command" }],
  examples: [{ command: "keepup help checkpoint restore", does: "Everything about one command" }],
  exits: [],
  async run(context, input) {
    const words = input.list("COMMAND")
    const { width, styles, commands } = context
    if (commandsUnder(commands, words).length === 0) {
      const [near] = suggest(
        words.join(" "),
        commands.flatMap(({ name, isHidden }) => (isHidden ? [] : [name])),
      )
      throw new KeepupError("INVALID_INPUT", `There is no command \`keepup ${words.join(" ")}\`.`, {
        hint: near === undefined ? "`keepup help` lists the commands." : `Did you mean \`keepup help ${near}\`?`,
      })
    }
    const text = await renderHelp(words, {
      commands,
      width: Number.isFinite(width) ? width : 80,
      hasColour: styles.isOn,
    })
    context.answer({ help: text }, () => text)
  },
}
