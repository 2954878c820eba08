/** The command line as one page of Markdown, made from the commands themselves. */
import { errorCodes } from "@ku0/agent-runtime"
import type { OptionSpec } from "./command.js"
import { commandGroups } from "./command-entry.js"
import { commands } from "./commands.js"
import { globalOptions } from "./global-options.js"
import { exitMeanings, exitsOf, usageOf } from "./help.js"

export async function renderCliDocs(): Promise<string> {
  const shown = commands.filter(({ isHidden }) => isHidden !== true)
  const parts = [
    "# The command line",
    "Made from the commands by `pnpm fix`; `pnpm check` fails when it is stale. `keepup help COMMAND` says the same.",
    "A checkpoint is written as its number (`3`, or `'#3'`: to a shell, `#` begins a comment), a name, `latest`, an id or four " +
      "or more characters of one, looked for in this order; `SESSION:REF` names a checkpoint of another session. A session is written as an id or a part of " +
      "it, a name, or `latest`; without one, it is the newest of the workspace that is not a finished import.",
    `## Options of every command\n\n${optionTable(globalOptions)}`,
    `## Exit codes\n\n${exitTable()}`,
  ]
  for (const group of commandGroups) {
    parts.push(`## ${group}`)
    for (const entry of shown.filter((one) => one.group === group)) {
      const command = await entry.load()
      const taken = [...(command.arguments ?? []), ...(command.rest ? [command.rest] : [])]
      const rows = taken.map(({ name, summary }) => `| \`${name.replace("?", "")}\` | ${cell(summary)} |`)
      parts.push(
        `### keepup ${entry.name}`,
        `${capital(command.summary)}.`,
        `\`\`\`\n${usageOf(entry.name, command)}\n\`\`\``,
        ...(command.description ?? []),
        ...(rows.length > 0 ? [`| argument | |\n|---|---|\n${rows.join("\n")}`] : []),
        ...(command.options?.length ? [optionTable(command.options)] : []),
        `\`\`\`sh\n${command.examples.map((one) => `# ${one.does}\n${one.command}`).join("\n")}\n\`\`\``,
        `Exit codes: 0, ${exitsOf(command)
          .map((code) => `${errorCodes[code].exit} ${code}`)
          .join(", ")}.`,
      )
    }
  }
  return `${parts.join("\n\n")}\n`
}

function optionTable(options: readonly OptionSpec[]): string {
  const rows = options.map(({ flags, summary, choices }) => {
    const text = choices === undefined ? summary : `${summary}: ${choices.join(", ")}`
    return `| \`${flags.replace(/[<>]/g, "").replace("...", "…")}\` | ${cell(text)} |`
  })
  return `| option | |\n|---|---|\n${rows.join("\n")}`
}

function exitTable(): string {
  const rows = Object.entries(errorCodes).map(
    ([code, { exit }]) => `| ${exit} | \`${code}\` | ${exitMeanings[code as keyof typeof exitMeanings]} |`,
  )
  return `| exit | code | when |\n|---|---|---|\n| 0 | – | done |\n${rows.join("\n")}`
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|")
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
