/** Help that teaches: commands in groups, an example under each, what it takes, and what its exit codes mean. */
import { type ErrorCode, errorCodes } from "@ku0/agent-runtime"
import type { Command, OptionSpec } from "./command.js"
import { type CommandEntry, commandGroups, commandsUnder } from "./command-entry.js"
import { globalOptions } from "./global-options.js"
import { createStyles, pad, type Styles, wrap } from "./output/text.js"
import { version } from "./version.js"

export interface HelpOptions {
  readonly commands: readonly CommandEntry[]
  readonly width: number
  readonly hasColour: boolean
}

/** What each code means to whoever reads it. */
export const exitMeanings: Readonly<Record<ErrorCode, string>> = {
  INTERNAL: "a bug in keepup",
  INVALID_INPUT: "a wrong argument or option",
  NOT_FOUND: "no such session, checkpoint or artifact",
  SESSION_RUNNING: "a task is running in the session or the workspace",
  CONFLICT: "a file, a name or the head changed meanwhile",
  CORRUPT: "the store says something impossible; run `keepup doctor`",
  STORE_TOO_NEW: "the store was written by a newer keepup",
  UNAVAILABLE: "no git, no database, full disk, snapshot not here",
  UNAUTHORIZED: "no key for the model, or a wrong one",
  CANCELLED: "a signal, or the user said no",
}

const references =
  "REF is a number like 3, a name, latest, or a part of an id, looked for in this order. SESSION:REF is a checkpoint of another session."

const anyCommand: readonly ErrorCode[] = ["INTERNAL", "INVALID_INPUT", "CANCELLED"]
const anyWithStore: readonly ErrorCode[] = ["CORRUPT", "STORE_TOO_NEW", "UNAVAILABLE"]

export async function renderHelp(words: readonly string[], options: HelpOptions): Promise<string> {
  const styles = createStyles(options.hasColour)
  const width = Math.max(40, Math.min(options.width, 100))
  const entries = commandsUnder(options.commands, words)
  const exact = entries.find(({ name }) => name === words.join(" "))
  if (exact !== undefined) return renderCommand(exact, await exact.load(), width, styles)
  return await renderList(words, entries, width, styles)
}

async function renderList(
  words: readonly string[],
  entries: readonly CommandEntry[],
  width: number,
  styles: Styles,
): Promise<string> {
  const isTop = words.length === 0
  const loaded = await Promise.all(entries.map(async (entry) => ({ entry, command: await entry.load() })))
  const sections = commandGroups.flatMap((group) => {
    const inside = loaded.filter(({ entry }) => entry.group === group)
    if (inside.length === 0) return []
    const lines = inside.flatMap(({ entry, command }) => renderListed(entry, command, width, styles))
    return [[...(isTop ? [styles.bold(group)] : []), ...lines].join("\n")]
  })
  const head = isTop
    ? `keepup ${version}: keeps the work of agents, and takes you back to any of it.\n\n` +
      `${styles.bold("Usage")}  keepup [options] COMMAND`
    : `${styles.bold("Usage")}  keepup ${words.join(" ")} COMMAND`
  const foot = isTop
    ? [
        `${styles.bold("Options of every command")}\n${renderOptions(globalOptions, width, styles)}`,
        renderExits(Object.keys(errorCodes) as ErrorCode[], styles),
      ]
    : []
  if (words.join(" ") === "checkpoint") foot.push(wrap(references, width))
  return [head, ...sections, ...foot, `\`keepup help ${[...words, "COMMAND"].join(" ")}\` explains one of them.`].join(
    "\n\n",
  )
}

function renderListed({ name }: CommandEntry, command: Command, width: number, styles: Styles): string[] {
  const [example] = command.examples
  const title = `  ${styles.cyan(pad(name, 19))} `
  const text = wrap(command.summary, width - 22, "").replaceAll("\n", `\n${" ".repeat(22)}`)
  return [`${title}${text}`, ...(example ? [styles.dim(`${" ".repeat(22)}$ ${example.command}`)] : [])]
}

function renderCommand({ name }: CommandEntry, command: Command, width: number, styles: Styles): string {
  const parts = [`${styles.bold("Usage")}  ${usageOf(name, command)}`, wrap(capital(command.summary), width)]
  for (const paragraph of command.description ?? []) parts.push(wrap(paragraph, width))
  const taken = [...(command.arguments ?? []), ...(command.rest ? [command.rest] : [])]
  if (taken.length > 0) {
    const rows = taken.map((one) => [one.name.replace("?", ""), one.summary] as const)
    parts.push(`${styles.bold("Arguments")}\n${renderRows(rows, width, styles)}`)
  }
  if (command.options?.length) parts.push(`${styles.bold("Options")}\n${renderOptions(command.options, width, styles)}`)
  parts.push(
    `${styles.bold("Examples")}\n${command.examples
      .map((one) => `  ${styles.dim(`# ${one.does}`)}\n  $ ${one.command}`)
      .join("\n")}`,
    renderExits(exitsOf(command), styles),
    styles.dim("`keepup help` lists the options that every command has."),
  )
  return parts.join("\n\n")
}

export function usageOf(name: string, command: Command): string {
  const args = (command.arguments ?? []).map(({ name: written }) => {
    const plain = written.replace(/[?…]/g, "")
    const text = written.includes("…") ? `${plain}…` : plain
    return written.includes("?") ? `[${text}]` : text
  })
  const options = command.options?.length ? ["[options]"] : []
  const rest = command.rest ? [`[-- ${command.rest.name}]`] : []
  return ["keepup", name, ...args, ...options, ...rest].join(" ")
}

/** The codes a command may end with, in the order of the table. */
export function exitsOf(command: Command): ErrorCode[] {
  const own = new Set<ErrorCode>([...anyCommand, ...command.exits, ...(command.exits.length > 0 ? anyWithStore : [])])
  return (Object.keys(errorCodes) as ErrorCode[]).filter((code) => own.has(code))
}

function renderOptions(options: readonly OptionSpec[], width: number, styles: Styles): string {
  const rows = options.map(({ flags, summary, choices }) => {
    const text = flags.replace(/[<>]/g, "").replace("...", "…")
    return [text, choices ? `${summary}: ${choices.join(", ")}` : summary] as const
  })
  return renderRows(rows, width, styles)
}

function renderExits(codes: readonly ErrorCode[], styles: Styles): string {
  const rows = codes.map(
    (code) => `  ${String(errorCodes[code].exit).padStart(3)}  ${pad(code, 15)}  ${exitMeanings[code]}`,
  )
  return [styles.bold("Exit codes"), "    0  done", ...rows].join("\n")
}

function renderRows(rows: readonly (readonly [string, string])[], width: number, styles: Styles): string {
  const left = Math.min(24, Math.max(...rows.map(([name]) => name.length)))
  return rows
    .map(([name, text]) => {
      const gap = name.length > left ? `\n${" ".repeat(left + 4)}` : " ".repeat(left - name.length + 2)
      const body = wrap(text, width - left - 4).replaceAll("\n", `\n${" ".repeat(left + 4)}`)
      return `  ${styles.cyan(name)}${gap}${body}`
    })
    .join("\n")
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`
}
