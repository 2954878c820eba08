/** What a command is handed of the arguments. Where there are none, the parser need not be loaded to say so. */
import type { Command, Input } from "./command.js"
import { type GlobalFlags, globalOptions } from "./global-options.js"

export interface ParsedArguments {
  readonly flags: GlobalFlags
  readonly input: Input
}

/** What no arguments at all mean; `undefined` if the command can't do without. */
export function withoutArguments(command: Command): ParsedArguments | undefined {
  if (command.arguments?.some(({ name }) => !name.includes("?"))) return undefined
  const options: Record<string, unknown> = {}
  for (const { flags } of [...globalOptions, ...(command.options ?? [])]) {
    const negated = /^--no-([\w-]+)$/.exec(flags)?.[1]
    if (negated !== undefined) options[keyOf(negated)] = true
  }
  return { flags: { ...readFlags(options), help: false }, input: toInput([], [], options, []) }
}

export function readFlags(options: Readonly<Record<string, unknown>>): GlobalFlags {
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

export function toInput(
  names: readonly string[],
  processed: readonly unknown[],
  options: Readonly<Record<string, unknown>>,
  rest: readonly string[],
): Input {
  const given = new Map(names.map((name, index) => [name, processed[index]]))
  const text = (value: unknown) => (typeof value === "string" ? value : undefined)
  const all = (value: unknown) => (Array.isArray(value) ? (value as string[]) : undefined)
  return {
    argument: (name) => text(given.get(name)) ?? "",
    optional: (name) => text(given.get(name)),
    list: (name) => all(given.get(name)) ?? [],
    rest,
    flag: (name) => options[keyOf(name)] === true,
    option: (name) => text(options[keyOf(name)]),
    count: (name) => (typeof options[keyOf(name)] === "number" ? (options[keyOf(name)] as number) : undefined),
    values: (name) => all(options[keyOf(name)]),
    has: (name) => options[keyOf(name)] !== undefined,
    isOff: (name) => options[keyOf(name)] === false,
  }
}

/** `dry-run` → `dryRun`. */
function keyOf(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
