/** Arguments → the command that is meant and what it is handed. Only that command's specification is loaded. */
import { KeepupError } from "@ku0/agent-runtime"
import { CommanderError, Option, Command as Parser } from "commander"
import type { Command, Input, OptionSpec } from "./command.js"
import { type CommandEntry, commandsUnder } from "./command-entry.js"
import { type GlobalFlags, globalOptions, takesValue } from "./global-options.js"
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
    return new KeepupError("INVALID_INPUT", `Which ${words.join(" ")} command?`, {
      hint: `There are: ${[...new Set(known)].join(", ")}. \`keepup help ${words.join(" ")}\` explains them.`,
    })
  }
  const near = suggest(wanted, known)
  const whole = ["keepup", ...words].join(" ")
  return new KeepupError("INVALID_INPUT", `There is no command \`${whole} ${wanted}\`.`, {
    hint: near.length > 0 ? `Did you mean \`${whole} ${near[0]}\`?` : "`keepup help` lists the commands.",
  })
}

export interface ParsedArguments {
  readonly flags: GlobalFlags
  readonly input: Input
}

/** Reads the options of a command, or the global ones alone. Throws `INVALID_INPUT`. */
export function parseArguments(command: Command | undefined, argv: readonly string[], name = ""): ParsedArguments {
  const dashes = command?.rest === undefined ? -1 : argv.indexOf("--")
  const before = dashes < 0 ? argv : argv.slice(0, dashes)
  const parser = new Parser(`keepup ${name}`.trim())
    .exitOverride()
    .configureOutput({ writeErr: () => undefined, writeOut: () => undefined })
    .helpOption(false)
    .helpCommand(false)
    .allowExcessArguments(command === undefined)
    .allowUnknownOption(command === undefined)
  for (const spec of [...globalOptions, ...(command?.options ?? [])]) parser.addOption(toOption(spec))
  const names = (command?.arguments ?? []).map(({ name: written }) => written.replace(/[?…]/g, ""))
  for (const { name: written } of command?.arguments ?? []) parser.argument(toArgument(written))
  let help = false
  try {
    help = before.some((argument) => argument === "--help" || argument === "-h")
    // help is given whatever else is missing
    if (!help || command === undefined) parser.parse([...before], { from: "user" })
  } catch (error) {
    throw toInvalid(error, name, command)
  }
  const options = parser.opts<Record<string, unknown>>()
  return {
    flags: { ...readFlags(options), help },
    input: toInput(names, parser.processedArgs, options, dashes < 0 ? [] : argv.slice(dashes + 1)),
  }
}

function readFlags(options: Readonly<Record<string, unknown>>): GlobalFlags {
  const text = (name: string) => (typeof options[name] === "string" ? (options[name] as string) : undefined)
  return {
    cwd: text("cwd"),
    stateDir: text("stateDir"),
    db: text("db"),
    session: text("session"),
    json: options["json"] === true,
    quiet: options["quiet"] === true,
    color: options["color"] !== false,
    debug: options["debug"] === true,
    help: options["help"] === true,
  }
}

function toOption({ flags, summary, choices, isCount }: OptionSpec): Option {
  const option = new Option(flags, summary)
  if (choices !== undefined) option.choices([...choices])
  if (isCount === true) option.argParser((value) => parseCount(value, option.long ?? flags))
  return option
}

function parseCount(value: string, flag: string): number {
  if (/^\d{1,12}$/.test(value)) return Number(value)
  throw new KeepupError("INVALID_INPUT", `${flag} takes a whole number, not ${JSON.stringify(value)}.`)
}

/** `REF?` → `[REF]`, `WORD…` → `[WORD...]`, `REF` → `<REF>`. */
function toArgument(name: string): string {
  const plain = name.replace(/[?…]/g, "")
  if (name.includes("…")) return name.includes("?") ? `[${plain}...]` : `<${plain}...>`
  return name.endsWith("?") ? `[${plain}]` : `<${plain}>`
}

function toInvalid(error: unknown, name: string, command: Command | undefined): unknown {
  if (!(error instanceof CommanderError)) return error
  const [first = ""] = error.message.replace(/^error: /, "").split("\n")
  const mean = /\(Did you mean (?:one of )?(.+?)\?\)/s.exec(error.message)?.[1]
  const isReference = command?.arguments?.some(({ completes }) => completes === "checkpoint") === true
  const hint =
    mean !== undefined
      ? `Did you mean ${mean}?`
      : error.code === "commander.missingArgument" && isReference
        ? "Write the number without #: to a shell, # begins a comment."
        : `\`keepup help ${name}\` shows what it takes.`
  const message = `${first.charAt(0).toUpperCase()}${first.slice(1).replace(/\.?$/, ".")}`
  return new KeepupError("INVALID_INPUT", message, { hint })
}

function toInput(
  names: readonly string[],
  processed: readonly unknown[],
  options: Readonly<Record<string, unknown>>,
  rest: readonly string[],
): Input {
  const given = new Map(names.map((name, index) => [name, processed[index]]))
  const key = (name: string) => name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
  const text = (value: unknown) => (typeof value === "string" ? value : undefined)
  const all = (value: unknown) => (Array.isArray(value) ? (value as string[]) : undefined)
  return {
    argument: (name) => text(given.get(name)) ?? "",
    optional: (name) => text(given.get(name)),
    list: (name) => all(given.get(name)) ?? [],
    rest,
    flag: (name) => options[key(name)] === true,
    option: (name) => text(options[key(name)]),
    count: (name) => (typeof options[key(name)] === "number" ? (options[key(name)] as number) : undefined),
    values: (name) => all(options[key(name)]),
    has: (name) => options[key(name)] !== undefined,
    isOff: (name) => options[key(name)] === false,
  }
}
