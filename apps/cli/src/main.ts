/** Arguments → command → exit code. The one place that prints an error. */
import { type ErrorCode, errorCodes, isKeepupError, type Runtime } from "@ku0/agent-runtime"
import type { Command } from "./command.js"
import { commandsUnder } from "./command-entry.js"
import { commands } from "./commands.js"
import { type Context, createContext, findStateFolder, wantsColour } from "./context.js"
import { findCommand, type Request, unknownCommand } from "./find-command.js"
import { type GlobalFlags, takesValue } from "./global-options.js"
import type { Machine } from "./machine.js"
import { createProgress } from "./output/progress.js"
import { type ParsedArguments, withoutArguments } from "./parsed-arguments.js"
import { showError } from "./show-error.js"
import { version } from "./version.js"
import { isCutOff, watchInterrupts } from "./watch-interrupts.js"

export async function main(argv: readonly string[], machine: Machine): Promise<number> {
  let flags = readGlobalFlags(argv)
  const asked = findCommand(commands, argv)
  const request = isBare(asked, argv) && canChat(machine, flags) ? findCommand(commands, ["chat", ...argv]) : asked
  try {
    if (flags.help || isHelp(request)) return await showHelp(request, machine, flags)
    if (request.entry === undefined) {
      if (argv.includes("--version") || argv.includes("-V")) {
        machine.stdout.write(`${flags.json ? JSON.stringify({ ok: true, version }) : version}\n`)
        return 0
      }
      throw unknownCommand(commands, request)
    }
    const command = await request.entry.load()
    const parsed = await readArguments(command, request)
    flags = parsed.flags
    const ended = await runCommand(command, parsed, machine)
    return ended === undefined ? 0 : errorCodes[ended].exit
  } catch (thrown) {
    const error = isKeepupError(thrown) ? thrown : (await import("./explain-failure.js")).explainFailure(thrown)
    showError(error, {
      flags,
      machine,
      stateDirectory: findStateFolder(flags, machine),
      hasColour: wantsColour(flags, machine, machine.stderr.isTerminal),
      command: request.words.join(" "),
    })
    const { exit } = errorCodes[error.code]
    if (isCutOff(error)) machine.exit(exit)
    return exit
  }
}

async function readArguments(command: Command, { rest, words }: Request): Promise<ParsedArguments> {
  const parsed = rest.length === 0 ? withoutArguments(command) : undefined
  if (parsed !== undefined) return parsed
  const { parseArguments } = await import("./parse-arguments.js")
  return parseArguments(command, rest, words.join(" "))
}

async function runCommand(
  command: Command,
  { flags, input }: ParsedArguments,
  machine: Machine,
): Promise<ErrorCode | undefined> {
  const progress = createProgress(machine.stderr, machine.clock, flags.quiet || flags.json)
  const interrupt = watchInterrupts(machine, (text) => context.warn(text))
  let opened: Promise<Runtime> | undefined
  let ended: ErrorCode | undefined
  const context: Context = createContext({
    commands,
    flags,
    machine,
    progress,
    signal: interrupt.signal,
    uninterrupted: interrupt.hold,
    endWith(code) {
      ended = code
    },
    async openRuntime(self, options) {
      const { openWorkspace } = await import("./open-workspace.js")
      opened = openWorkspace(self, options)
      return await opened
    },
  })
  const close = async () => {
    progress.end()
    await opened?.then(
      (runtime) => runtime.close(),
      () => undefined, // it was never open; the command has the reason
    )
  }
  try {
    const isStopped = await interrupt.race(command.run(context, input))
    await close()
    return isStopped ? "CANCELLED" : ended
  } catch (error) {
    if (isCutOff(error)) progress.end()
    else await close()
    throw error
  }
}

/** `keepup` with nothing but options. */
function isBare({ words, rest }: Request, argv: readonly string[]): boolean {
  if (words.length > 0 || argv.includes("--version") || argv.includes("-V")) return false
  return rest.every((argument, index) => {
    const before = rest[index - 1] ?? ""
    return argument.startsWith("-") || takesValue(before) || chatOptions.includes(before)
  })
}

/** Options of the chat that have a value. */
const chatOptions = ["--script", "--model", "--approval", "--max-steps"]

/** Whether a person sits at a terminal: then `keepup` alone is the chat. */
function canChat(machine: Machine, flags: GlobalFlags): boolean {
  return machine.stdout.isTerminal && machine.canAsk && !flags.json && !flags.help
}

function isHelp({ words, entry, rest }: Request): boolean {
  return words.length === 0 && entry === undefined && rest.length === 0
}

async function showHelp(request: Request, machine: Machine, flags: GlobalFlags): Promise<number> {
  if (request.entry === undefined && commandsUnder(commands, request.words).length === 0)
    throw unknownCommand(commands, request)
  const { renderHelp } = await import("./help.js")
  const hasColour = wantsColour(flags, machine, machine.stdout.isTerminal)
  const width = machine.stdout.columns ?? 80
  const text = await renderHelp(request.words, { commands, width, hasColour })
  machine.stdout.write(`${flags.json ? JSON.stringify({ ok: true, help: text }) : text}\n`)
  return 0
}

/** The flags as far as they can be read before the command is known: for errors on the way there. */
function readGlobalFlags(argv: readonly string[]): GlobalFlags {
  const end = argv.indexOf("--")
  const own = end < 0 ? argv : argv.slice(0, end)
  const valueFor = (flag: string) => {
    const at = own.indexOf(flag)
    return at < 0 ? own.find((one) => one.startsWith(`${flag}=`))?.slice(flag.length + 1) : own[at + 1]
  }
  return {
    cwd: valueFor("--cwd"),
    stateDir: valueFor("--state-dir"),
    db: valueFor("--db"),
    session: valueFor("--session"),
    json: own.includes("--json"),
    quiet: own.includes("--quiet") || own.includes("-q"),
    color: !own.includes("--no-color"),
    debug: own.includes("--debug"),
    help: own.includes("--help") || own.includes("-h"),
  }
}
