/** `__complete -- WORDS`: what could come next, for the shells. A line for each: value, tab, meaning; `:files` for files. */
import { type Checkpoint, configKeys, configRules, type Session, shortId } from "@ku0/agent-runtime"
import type { ArgumentSpec, Command, Completion, OptionSpec } from "../command.js"
import { type CommandEntry, commandsUnder } from "../command-entry.js"
import type { Context } from "../context.js"
import { findCommand } from "../find-command.js"
import { globalOptions, takesValue } from "../global-options.js"
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
    const candidates = await complete(context, words.slice(0, -1), current)
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
  const flag = before.findLastIndex((word) => word === "-S" || word === "--session")
  const named = flag < 0 ? undefined : before[flag + 1]
  const session = await findSession(context, named)
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
