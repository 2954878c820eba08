/** Arguments → the command they mean, before anything of it is loaded. */
import { KeepupError } from "@ku0/agent-runtime"
import { type CommandEntry, commandsUnder } from "./command-entry.js"
import { takesValue } from "./global-options.js"
import { suggest } from "./suggest.js"

/** What the arguments ask for. */
export interface Request {
  /** Words of the command as far as they are one. */
  readonly words: readonly string[]
  readonly entry: CommandEntry | undefined
  /** The arguments without the words of the command. */
  readonly rest: readonly string[]
}

/** Finds the words of the command among the options before and between them. */
export function findCommand(commands: readonly CommandEntry[], argv: readonly string[]): Request {
  const words: string[] = []
  let at = 0
  const options: string[] = []
  for (; at < argv.length; at++) {
    const argument = argv[at] as string
    if (argument === "--") break
    if (argument.startsWith("-")) {
      options.push(argument)
      if (takesValue(argument) && at + 1 < argv.length) options.push(argv[++at] as string)
      continue
    }
    const longer = [...words, argument]
    if (commandsUnder(commands, longer).length === 0 && !commands.some(({ name }) => name === longer.join(" "))) break
    words.push(argument)
    if (commands.some(({ name }) => name === words.join(" "))) {
      at++
      break
    }
  }
  const entry = commands.find(({ name }) => name === words.join(" "))
  return { words, entry, rest: [...options, ...argv.slice(at)] }
}

/** The error for words that are no command. */
export function unknownCommand(commands: readonly CommandEntry[], { words, rest }: Request): KeepupError {
  const wanted = rest.find((argument, index) => !argument.startsWith("-") && !takesValue(rest[index - 1] ?? ""))
  const known = commandsUnder(commands, words).map(({ name }) => name.split(" ")[words.length] as string)
  if (wanted === undefined) {
    return new KeepupError(
      "INVALID_INPUT",
      words.length === 0 ? "Which command?" : `Which ${words.join(" ")} command?`,
      {
        hint: `There are: ${[...new Set(known)].join(", ")}. \`${["keepup help", ...words].join(" ")}\` explains them.`,
      },
    )
  }
  const near = suggest(wanted, known)
  const whole = ["keepup", ...words].join(" ")
  return new KeepupError("INVALID_INPUT", `There is no command \`${whole} ${wanted}\`.`, {
    hint: near.length > 0 ? `Did you mean \`${whole} ${near[0]}\`?` : "`keepup help` lists the commands.",
  })
}
