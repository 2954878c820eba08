/** A place in the table of commands: enough to find and list a command without loading it. */
import type { Command } from "./command.js"

export interface CommandEntry {
  /** `checkpoint restore`. */
  readonly name: string
  readonly group: string
  /** Works, and is not shown. */
  readonly isHidden?: boolean
  load(): Promise<Command>
}

/** In the order of help. */
export const commandGroups = [
  "Let an agent work",
  "Look and go back",
  "Keep",
  "Sessions",
  "Settings and house-keeping",
] as const

/** The commands a person sees whose name begins with these words. */
export function commandsUnder(commands: readonly CommandEntry[], words: readonly string[]): readonly CommandEntry[] {
  const start = words.join(" ")
  return commands.filter(
    ({ name, isHidden }) => isHidden !== true && (start === "" || name === start || name.startsWith(`${start} `)),
  )
}
