/** `config list`: every setting, its value, and who set it. */
import type { Command } from "../../command.js"
import { readSettings, userFile, workspaceFile } from "../../open-workspace.js"
import { renderTable } from "../../output/table.js"
import { oneLine } from "../../output/text.js"

export const listCommand: Command = {
  summary: "every setting, its value, and who set it",
  examples: [{ command: "keepup config list", does: "How keepup is set up here" }],
  exits: [],
  async run(context) {
    const { settings } = readSettings(context)
    const { styles, width } = context
    const files = { workspace: workspaceFile(context.workspacePath), user: userFile(context.machine) }
    context.answer({ settings: settings.map(({ key, value, source }) => ({ key, value, source })), files }, () => {
      const columns = [
        { title: "SETTING", paint: styles.cyan },
        { title: "VALUE", shrinksTo: 16 },
        { title: "FROM" },
        { title: "MEANS", shrinksTo: 10, dispensable: 1, paint: styles.dim },
      ]
      const rows = settings.map(({ key, value, source, description }) => [key, showValue(value), source, description])
      const table = renderTable({ columns, rows, width, styles })
      return `${table}\n\nworkspace: ${oneLine(files.workspace)}\nuser:      ${oneLine(files.user)}`
    })
  },
}

/** A value as `config set` takes it. */
export function showValue(value: unknown): string {
  return Array.isArray(value) ? value.join(",") : oneLine(String(value))
}
