/**
 * Our messages as a prompt that every service takes: leading system text, then user and assistant in turn, first and
 * last a user or a tool; every tool call directly followed by exactly one result; no empty text; no id twice.
 */
import type {
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3ToolCallPart,
  LanguageModelV3ToolResultPart,
} from "@ai-sdk/provider"
import {
  KeepupError,
  type Message,
  pairToolCalls,
  type ToolCall,
  type ToolResultMessage,
} from "@ku0/agent-runtime-core"
import { createUniqueNames, type ToolNames } from "./tool-names.js"
import { wellFormed, wellFormedJson } from "./well-formed.js"

type Turn =
  | { readonly role: "user"; readonly text: string }
  | { readonly role: "assistant"; readonly text: string; readonly calls: readonly LanguageModelV3ToolCallPart[] }
  | { readonly role: "tool"; readonly results: readonly LanguageModelV3ToolResultPart[] }

const startNote = "(The conversation before this point is not shown.)"
const goOnNote = "Go on."

export function toPrompt(messages: readonly Message[], names: ToolNames): LanguageModelV3Prompt {
  const firstOther = messages.findIndex((message) => message.role !== "system")
  const leading = firstOther < 0 ? messages : messages.slice(0, firstOther)
  const turns = joinTurns(toTurns(messages.slice(leading.length), names))
  if (turns.length === 0) {
    throw new KeepupError("INVALID_INPUT", "There is no message a model could answer.", {
      details: { retryable: false },
    })
  }
  if (turns[0]?.role !== "user") turns.unshift({ role: "user", text: startNote })
  if (turns.at(-1)?.role === "assistant") turns.push({ role: "user", text: goOnNote })
  const system = joinTexts(leading.map((message) => message.content))
  return [...(system === "" ? [] : [{ role: "system" as const, content: system }]), ...turns.map(toSdkMessage)]
}

/** One or two turns for each message; results stand right behind their calls, wherever they stood before. */
function toTurns(messages: readonly Message[], names: ToolNames): Turn[] {
  const paired = pairToolCalls(messages)
  const results = new Map<string, ToolResultMessage[]>()
  for (const message of paired) {
    if (message.role !== "tool") continue
    const list = results.get(message.callId)
    if (list === undefined) results.set(message.callId, [message])
    else list.push(message)
  }
  const uniqueId = createUniqueNames("call")
  return paired.flatMap((message): Turn[] => {
    if (message.role === "tool") return []
    if (message.role !== "assistant") return [{ role: "user", text: userText(message) }]
    const pairs = (message.toolCalls ?? []).flatMap((call) => {
      const result = results.get(call.id)?.shift()
      return result === undefined ? [] : [toSdkPair(call, result, uniqueId(call.id), names)]
    })
    const answer: Turn = { role: "assistant", text: wellFormed(message.content), calls: pairs.map(([call]) => call) }
    return pairs.length === 0 ? [answer] : [answer, { role: "tool", results: pairs.map(([, result]) => result) }]
  })
}

function userText(message: Exclude<Message, { role: "tool" | "assistant" }>): string {
  const text = wellFormed(message.content)
  if (message.role === "user") return text
  if (message.role === "system") return text.trim() === "" ? "" : `Note of the system: ${text}`
  if (message.role === "summary") return `Summary of the conversation so far:\n${text}`
  return `(Earlier messages were left out to save room. ${text})`
}

function toSdkPair(call: ToolCall, result: ToolResultMessage, id: string, names: ToolNames) {
  const tool = { toolCallId: id, toolName: names.toService(call.name) }
  const value = wellFormed(result.content)
  const said = value.trim() === "" ? "(no output)" : value
  const output = { type: result.isError === true ? ("error-text" as const) : ("text" as const), value: said }
  return [
    { type: "tool-call", ...tool, input: toArguments(call.arguments) } satisfies LanguageModelV3ToolCallPart,
    { type: "tool-result", ...tool, output } satisfies LanguageModelV3ToolResultPart,
  ] as const
}

/** Services take objects only; what a model sent instead is shown to it under a name. */
function toArguments(given: unknown): unknown {
  if (given === undefined || given === null) return {}
  const value = wellFormedJson(given)
  return typeof value === "object" && !Array.isArray(value) ? value : { arguments: value }
}

/** Leaves out what is empty and joins neighbours of one role. */
function joinTurns(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = []
  for (const turn of turns) {
    const last = joined.at(-1)
    if (turn.role !== "tool" && turn.text.trim() === "" && (turn.role === "user" || turn.calls.length === 0)) continue
    if (turn.role === "user" && last?.role === "user") {
      joined[joined.length - 1] = { role: "user", text: joinTexts([last.text, turn.text]) }
    } else if (turn.role === "assistant" && last?.role === "assistant") {
      joined[joined.length - 1] = { ...turn, text: joinTexts([last.text, turn.text]) }
    } else joined.push(turn)
  }
  return joined
}

function joinTexts(texts: readonly string[]): string {
  return texts
    .filter((text) => text.trim() !== "")
    .map(wellFormed)
    .join("\n\n")
}

function toSdkMessage(turn: Turn): LanguageModelV3Message {
  if (turn.role === "tool") return { role: "tool", content: [...turn.results] }
  const text = turn.text.trim() === "" ? [] : [{ type: "text" as const, text: turn.text }]
  if (turn.role === "user") return { role: "user", content: text }
  return { role: "assistant", content: [...text, ...turn.calls] }
}
