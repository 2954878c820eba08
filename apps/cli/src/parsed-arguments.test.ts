import { expect, it } from "vitest"
import type { Command } from "./command.js"
import { commands } from "./commands.js"
import { globalOptions } from "./global-options.js"
import { parseArguments } from "./parse-arguments.js"
import { type ParsedArguments, withoutArguments } from "./parsed-arguments.js"

function probe({ flags, input }: ParsedArguments, command: Command) {
  const names = (command.arguments ?? []).map(({ name }) => name.replace(/[?…]/g, ""))
  const options = [...globalOptions, ...(command.options ?? [])].map(
    ({ flags: written }) => /--(?:no-)?([\w-]+)/.exec(written)?.[1] as string,
  )
  return {
    flags,
    rest: input.rest,
    arguments: names.map((name) => [name, input.argument(name), input.optional(name), input.list(name)]),
    options: options.map((name) => [
      ...[name, input.flag(name), input.option(name), input.count(name)],
      ...[input.values(name), input.has(name), input.isOff(name)],
    ]),
  }
}

it.each(commands.map((entry) => [entry.name, entry] as const))(
  "reads no arguments of %s as the parser would, or leaves it to the parser to say what is missing",
  async (name, entry) => {
    const command = await entry.load()
    const none = withoutArguments(command)
    if (none === undefined) expect(() => parseArguments(command, [], name)).toThrow("Missing required argument")
    else expect(probe(none, command)).toEqual(probe(parseArguments(command, [], name), command))
  },
)
