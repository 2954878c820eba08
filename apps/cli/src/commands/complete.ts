/** `__complete -- WORDS`: what could come next, for the shells. A line for each: value, tab, meaning; `:files` for files. */
import { type Checkpoint, configKeys, configRules, type Runtime, type Session, shortId } from "@ku0/agent-runtime"
import type { ArgumentSpec, Command, Completion, OptionSpec } from "../command.js"
import { type CommandEntry, commandsUnder } from "../command-entry.js"
import { type Context, findStateFolder, findWorkspace } from "../context.js"
import { findCommand } from "../find-command.js"
import { globalOptions, takesValue } from "../global-options.js"
import { openWorkspace } from "../open-workspace.js"
import { oneLine } from "../output/text.js"
import { relativeTime } from "../output/time.js"
import { findSession, triggerWords } from "../references.js"

type Candidate = readonly [value: string, meaning: string]

export const completeCommand: Command = {
  summary: "what could come next, for shell completion",
  rest: { name: "WORD…", summary: "the words so far" },
  examples: [],
  exits: [],
  async run(context, input) {
    const words = input.rest
    const current = words.at(-1) ?? ""
    const before = words.slice(0, -1)
    const candidates = await lookThere(context, before, (there) => complete(there, before, current))
    for (const [value, meaning] of candidates) {
      if (value === ":files" || value.startsWith(current)) {
        context.machine.stdout.write(meaning === "" ? `${value}\n` : `${value}\t${meaning}\n`)
      }
    }
  },
}

async function complete(context: Context, before: readonly string[], current: string): Promise<Candidate[]> {
  const request = findCommand(context.commands, before)
  const command = await request.entry?.load()
  const options = [...(command?.options ?? []), ...globalOptions]
  if (request.rest.includes("--")) return await valuesOf(context, command?.rest?.completes, before)
  const last = before.at(-1) ?? ""
  const waiting = options.find((one) => namesOf(one).includes(last) && /[<[]/.test(one.flags))
  if (waiting !== undefined) return await valuesOf(context, waiting.choices ?? waiting.completes, before)
  const [, name] = /^(--[a-z-]+)=/.exec(current) ?? []
  if (name !== undefined) {
    const option = options.find((one) => namesOf(one).includes(name) && /[<[]/.test(one.flags))
    const values = await valuesOf(context, option?.choices ?? option?.completes, before)
    return values.map(([value, meaning]) => [value === ":files" ? value : `${name}=${value}`, meaning])
  }
  if (current.startsWith("-"))
    return options.flatMap((one) => namesOf(one).map((name): Candidate => [name, one.summary]))
  if (command === undefined) {
    if (request.rest.some((word, index) => !word.startsWith("-") && !takesValue(request.rest[index - 1] ?? "")))
      return []
    return await nextWords(context.commands, request.words)
  }
  const given = request.rest.filter(
    (word, index) => !word.startsWith("-") && !isValue(options, request.rest[index - 1]),
  )
  const spec = argumentAt(command.arguments ?? [], given.length)
  return spec === undefined ? [] : await valuesOf(context, spec.completes, before)
}

/** Options of the line may name another place: what is there is offered, and not what is here. */
async function lookThere(
  context: Context,
  before: readonly string[],
  look: (there: Context) => Promise<Candidate[]>,
): Promise<Candidate[]> {
  const { machine } = context
  const [cwd, stateDir, db] = ["--cwd", "--state-dir", "--db"].map((name) =>
    // the shell has not done this yet: the line is not run
    valueGiven(before, name)?.replace(/^~(?=\/|$)/, machine.homeDirectory),
  )
  if (cwd === undefined && stateDir === undefined && db === undefined) return await look(context)
  const flags = { ...context.flags, cwd, stateDir, db }
  let runtime: Promise<Runtime> | undefined
  const there: Context = {
    ...context,
    flags,
    workspacePath: findWorkspace(flags, machine),
    stateDirectory: findStateFolder(flags, machine),
    openRuntime() {
      runtime ??= openWorkspace(there, {})
      return runtime
    },
  }
  try {
    return await look(there)
  } finally {
    await (await runtime)?.close()
  }
}

/** The value of an option: the word after it, or what follows its `=`. */
function valueGiven(words: readonly string[], name: string): string | undefined {
  const end = words.indexOf("--")
  const own = end < 0 ? words : words.slice(0, end)
  const at = own.findLastIndex((word) => word === name || word.startsWith(`${name}=`))
  return own[at] === name ? own[at + 1] : own[at]?.slice(name.length + 1)
}

async function nextWords(commands: readonly CommandEntry[], words: readonly string[]): Promise<Candidate[]> {
  const found = new Map<string, string>()
  for (const entry of commandsUnder(commands, words)) {
    const word = entry.name.split(" ")[words.length]
    if (word === undefined || found.has(word)) continue
    const isGroup = entry.name.split(" ").length > words.length + 1
    found.set(word, isGroup ? `${word} …` : (await entry.load()).summary)
  }
  return [...found]
}

function namesOf({ flags }: OptionSpec): string[] {
  return flags.split(/[ ,]+/).filter((part) => part.startsWith("-"))
}

function isValue(options: readonly OptionSpec[], word: string | undefined): boolean {
  return options.some((one) => word !== undefined && namesOf(one).includes(word) && one.flags.includes("<"))
}

function argumentAt(specs: readonly ArgumentSpec[], index: number): ArgumentSpec | undefined {
  return specs[index] ?? (specs.at(-1)?.name.includes("…") ? specs.at(-1) : undefined)
}

async function valuesOf(
  context: Context,
  completes: Completion | undefined,
  before: readonly string[],
): Promise<Candidate[]> {
  if (completes === undefined) return []
  if (completes === "file") return [[":files", ""]]
  if (completes === "setting") return configKeys.map((key) => [key, configRules[key].description])
  if (completes === "command") return await nextWords(context.commands, before.slice(before.indexOf("help") + 1))
  if (completes === "session") return await listSessions(context)
  if (completes === "checkpoint") return await listCheckpoints(context, before)
  return completes.map((value) => [value, ""])
}

async function listSessions(context: Context): Promise<Candidate[]> {
  const { store } = await context.openRuntime()
  const sessions = await store.sessions.list({ workspacePath: context.workspacePath, limit: 50 })
  const meaning = ({ status, updatedAt }: Session) => `${status}, ${relativeTime(updatedAt, context.now)}`
  const isPlain = ({ name }: Session) =>
    oneLine(name) === name && sessions.filter((one) => one.name === name).length === 1
  return [
    ...sessions.map((one): Candidate => [shortId(one.id), `${oneLine(one.name)} (${meaning(one)})`]),
    ...sessions.filter(isPlain).map((one): Candidate => [one.name, `${shortId(one.id)}, ${meaning(one)}`]),
    ["latest", "the newest one"],
  ]
}

async function listCheckpoints(context: Context, before: readonly string[]): Promise<Candidate[]> {
  const session = await findSession(context, valueGiven(before, "--session") ?? valueGiven(before, "-S"))
  if (session === undefined) return []
  const { store } = await context.openRuntime()
  const all = await store.checkpoints.list(session.id)
  const meaning = (one: Checkpoint) => `${triggerWords(one.trigger)}, ${relativeTime(one.createdAt, context.now)}`
  return [
    ...all
      .filter(({ name }) => name !== null)
      .map((one): Candidate => [oneLine(one.name as string), `#${one.number}, ${meaning(one)}`]),
    ...all.map((one): Candidate => [String(one.number), meaning(one)]),
    ["latest", "the newest one"],
  ]
}
