/** `/rewind 3` → the command and its words. A name that is none gets the nearest ones. */
import { KeepupError } from "@ku0/agent-runtime"
import { suggest } from "../../suggest.js"
import type { SlashCommand } from "./slash-command.js"
import { slashCommands } from "./slash-commands.js"

export interface SlashRequest {
  readonly command: SlashCommand
  readonly words: readonly string[]
  /** All that stands behind the name. */
  readonly text: string
}

export function isSlash(text: string): boolean {
  return /^\/[a-z]*(\s|$)/i.test(text.trimStart())
}

export function findSlash(line: string): SlashRequest {
  const [, written = "", rest = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(line.trim()) ?? []
  const name = written.toLowerCase()
  const command = slashCommands.find((one) => one.name === name)
  const text = rest.trim()
  if (command !== undefined) return { command, words: text === "" ? [] : text.split(/\s+/), text }
  const near = suggest(
    name,
    slashCommands.map((one) => one.name),
  )
  const [first] = near.length > 0 ? near : slashCommands.map((one) => one.name).filter((one) => one.startsWith(name))
  throw new KeepupError("INVALID_INPUT", `There is no command /${written}.`, {
    hint: first === undefined || name === "" ? "/help shows the commands." : `Did you mean /${first}?`,
  })
}
