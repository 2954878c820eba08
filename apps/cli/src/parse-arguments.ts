/** Arguments → what a command is handed. */
import { KeepupError } from "@ku0/agent-runtime"
import { CommanderError, Option, Command as Parser } from "commander"
import type { Command, OptionSpec } from "./command.js"
import { globalOptions } from "./global-options.js"
import { type ParsedArguments, readFlags, toInput } from "./parsed-arguments.js"
import { suggest } from "./suggest.js"

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

function toOption({ flags, summary, choices, isCount }: OptionSpec): Option {
  const option = new Option(flags, summary)
  if (choices !== undefined) option.argParser((value) => parseChoice(value, choices, option.long ?? flags))
  if (isCount === true) option.argParser((value) => parseCount(value, option.long ?? flags))
  return option
}

/** In the names of events dot and colon are the same. */
function parseChoice(value: string, choices: readonly string[], flag: string): string {
  const plain = value.replaceAll(":", ".")
  if (choices.includes(plain)) return plain
  const [near] = suggest(plain, choices)
  throw new KeepupError("INVALID_INPUT", `${flag} does not take ${JSON.stringify(value)}.`, {
    hint: `${near === undefined ? "" : `Did you mean ${near}? `}There are: ${choices.join(", ")}.`,
  })
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
