/** A summary of messages, made by a model. */
import { KeepupError, type Message, type Model } from "@ku0/agent-runtime-core"

const instruction = `Summarise this conversation between a user and a coding agent, so that the agent can go on without it.
Keep: what the user wants, decisions and why, files that were read or changed and how, commands and what they showed,
what failed, what is still to be done. Use plain sentences and short lists. Do not add anything that was not said.`

/** Makes a function for `fitContext` that asks a model for summaries. */
export function createModelSummariser(
  model: Model,
): (messages: readonly Message[], signal: AbortSignal) => Promise<string> {
  return async (messages, signal) => {
    const request: Message[] = [
      { role: "system", content: instruction },
      { role: "user", content: messages.map(toText).join("\n\n") },
    ]
    const answer = await model.answer({ messages: request, tools: [], signal }, () => undefined)
    if (answer.content.trim() === "") throw new KeepupError("UNAVAILABLE", "The model gave an empty summary.")
    return answer.content
  }
}

/** As text, because a list of messages for a summary need not be a valid conversation. */
function toText(message: Message): string {
  if (message.role === "tool") return `[result of ${message.name}]\n${message.content}`
  const calls = message.role === "assistant" ? (message.toolCalls ?? []) : []
  const asked = calls.map((call) => `[calls ${call.name}] ${JSON.stringify(call.arguments)}`)
  return [`[${message.role}]`, message.content, ...asked].filter((line) => line !== "").join("\n")
}
