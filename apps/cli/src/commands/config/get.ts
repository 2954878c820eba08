/** `config get`: one setting. */
import { parseConfigValue } from "@ku0/agent-runtime"
import type { Command } from "../../command.js"
import { readSettings } from "../../open-workspace.js"
import { showValue } from "./list.js"

export const getCommand: Command = {
  summary: "the value of one setting",
  arguments: [{ name: "KEY", summary: "the setting", completes: "setting" }],
  examples: [{ command: "keepup config get checkpoint.retention", does: "How many automatic ones are kept" }],
  exits: [],
  async run(context, input) {
    const key = input.argument("KEY")
    const setting = readSettings(context).settings.find((one) => one.key === key)
    if (setting === undefined) parseConfigValue(key, undefined) // says which there are
    context.answer({ key, value: setting?.value, source: setting?.source }, () => showValue(setting?.value))
  },
}
