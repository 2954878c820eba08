/** A model that follows a script: the same answers every time, offline. What it was sent can be checked as it goes. */
import { readFile } from "node:fs/promises"
import { KeepupError, type Message, type Model, type ModelAnswer, type ModelRequest } from "@ku0/agent-runtime-core"
import { sleepFor } from "../sleep.js"
import { parseAnswer, parseScript, patternsOf, type ScriptedAnswer } from "./parse-script.js"

export type { ScriptedAnswer, ScriptedCall } from "./parse-script.js"
export { parseScript } from "./parse-script.js"

export interface ScriptedModelOptions {
  readonly answers: readonly ScriptedAnswer[]
  /** Default: `scripted`. */
  readonly name?: string
  /** How many answers were given before, by an earlier process: failures in the script do not count. */
  readonly startAt?: number
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>
  /** False: what it was sent is not kept to be looked at. For long runs. */
  readonly keepsRequests?: boolean
}

export interface ScriptedModel extends Model {
  /** Everything it was sent, in order. */
  readonly requests: readonly ModelRequest[]
  /** Answers it has not given yet. */
  remaining(): number
}

export function createScriptedModel(options: ScriptedModelOptions): ScriptedModel {
  const answers = options.answers.map((answer, index) => parseAnswer(answer, `Answer ${index + 1} of the script`))
  const requests: ModelRequest[] = []
  let next = skipGiven(answers, options.startAt ?? 0)

  async function answer(request: ModelRequest, onDelta: (text: string) => void): Promise<ModelAnswer> {
    if (options.keepsRequests !== false) requests.push({ ...request, messages: [...request.messages] })
    const number = next + 1
    const step = answers[next]
    if (step === undefined) {
      throw new KeepupError("INVALID_INPUT", `The script has no answer ${number}: it ends after ${answers.length}.`, {
        hint: "Add an answer without tool calls at its end.",
      })
    }
    const sent = request.messages.map(toText)
    checkExpectations(step, sent, number)
    next++
    if (step.delayMs !== undefined) await (options.sleep ?? sleepFor)(step.delayMs, request.signal)
    request.signal.throwIfAborted()
    if (step.error !== undefined) throw toFailure(step.error)
    const fill = (text: string): string => fillTemplates(text, request.messages, sent, number)
    const content = fill(step.content ?? "")
    for (const piece of content.match(/\S+\s*|\s+/g) ?? []) onDelta(piece)
    const toolCalls = (step.toolCalls ?? []).map((call, index) => ({
      id: `scripted_${number}_${index}`,
      name: call.name,
      arguments: mapStrings(call.arguments ?? {}, fill),
    }))
    return { content, toolCalls, ...(step.usage === undefined ? {} : { usage: step.usage }) }
  }

  return { name: options.name ?? "scripted", answer, requests, remaining: () => answers.length - next }
}

/** A scripted model from a file of answers: a JSON list, or one answer a line. */
export async function readScriptedModel(
  path: string,
  options: Omit<ScriptedModelOptions, "answers"> = {},
): Promise<ScriptedModel> {
  try {
    return createScriptedModel({ ...options, answers: parseScript(await readFile(path, "utf8")) })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause
    throw new KeepupError("NOT_FOUND", `There is no script ${path}.`, { cause })
  }
}

/** Where the script goes on after `count` answers; failures on the way were met by who got those answers. */
function skipGiven(answers: readonly ScriptedAnswer[], count: number): number {
  let given = 0
  let place = 0
  while (given < count && place < answers.length) if (answers[place++]?.error === undefined) given++
  return place
}

function checkExpectations(step: ScriptedAnswer, sent: readonly string[], number: number): void {
  const last = sent.at(-1) ?? ""
  const all = sent.join("\n\n")
  const refuse = (what: string): KeepupError =>
    new KeepupError(
      "INVALID_INPUT",
      `Answer ${number} of the script: ${what}. The newest message: ${last.slice(0, 500)}`,
      {
        hint: "The run did not go as the script expects.",
      },
    )
  const fits = (pattern: unknown, text: string): boolean => new RegExp(String(pattern), "s").test(text)
  for (const pattern of patternsOf(step.expect)) {
    if (!fits(pattern, all)) throw refuse(`/${pattern}/ does not fit what the model was sent`)
  }
  for (const pattern of patternsOf(step.expectLast)) {
    if (!fits(pattern, last)) throw refuse(`/${pattern}/ does not fit the newest message`)
  }
  for (const pattern of patternsOf(step.expectNot)) {
    if (fits(pattern, all)) throw refuse(`/${pattern}/ fits what the model was sent, and must not`)
  }
}

/** `{{prompt}}`, `{{last_tool_result}}`, `{{re:…}}`: other braces stay as they are. */
function fillTemplates(text: string, messages: readonly Message[], sent: readonly string[], number: number): string {
  const newest = (role: Message["role"]): string => {
    const found = messages.findLast((message) => message.role === role)
    if (found !== undefined) return found.content
    throw new KeepupError("INVALID_INPUT", `Answer ${number} of the script: there is no ${role} message to fill in.`)
  }
  return text.replace(/\{\{(prompt|last_tool_result|re:(.+?))\}\}(?!\})/gs, (_whole, name: string, pattern: string) => {
    if (name === "prompt") return newest("user")
    if (name === "last_tool_result") return newest("tool")
    const match = sent
      .toReversed()
      .map((one) => new RegExp(pattern, "s").exec(one))
      .find((one) => one !== null)
    if (match === undefined || match === null) {
      throw new KeepupError(
        "INVALID_INPUT",
        `Answer ${number} of the script: /${pattern}/ was not found in any message.`,
      )
    }
    return match[1] ?? match[0]
  })
}

function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value)
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, mapStrings(part, change)]))
}

function toFailure({ message, status, retryAfterMs }: NonNullable<ScriptedAnswer["error"]>): Error {
  return Object.assign(new Error(message), {
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

function toText(message: Message): string {
  const calls = message.role === "assistant" ? (message.toolCalls ?? []) : []
  return [message.content, ...calls.map((call) => `${call.name} ${JSON.stringify(call.arguments)}`)].join("\n")
}
