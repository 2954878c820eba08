/** `config list`: every setting, its value, and who set it. */
import type { Command } from "../../command.js"
import type { Context } from "../../context.js"
import { readSettings, userFile, workspaceFile } from "../../open-workspace.js"
import { renderTable } from "../../output/table.js"
import { oneLine, textWidth, wrap } from "../../output/text.js"

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
      const rows = settings.map(({ key, value, source, description }) => [
        key,
        showValue(value) || "-",
        source,
        description,
      ])
      const table = renderTable({ columns, rows, width: Number.POSITIVE_INFINITY, styles })
      const isWide = Math.max(...table.split("\n").map(textWidth)) <= width
      const shown = isWide ? table : rows.map((row) => renderBlock(row, context)).join("\n")
      return `${shown}\n\nworkspace: ${oneLine(files.workspace)}\nuser:      ${oneLine(files.user)}`
    })
  },
}

/** Where the table does not fit: what it means under each setting. */
function renderBlock([key = "", value = "", source = "", means = ""]: readonly string[], context: Context): string {
  const { styles, width } = context
  const set = wrap(`${styles.cyan(key)} = ${value} ${styles.dim(`(${source})`)}`.replaceAll(",", ", "), width, "    ")
  return `${set}\n    ${styles.dim(wrap(means, width - 4, "    "))}`
}

/** A value as `config set` takes it. */
export function showValue(value: unknown): string {
  return oneLine(Array.isArray(value) ? value.join(",") : String(value))
}
