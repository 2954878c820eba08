/** OpenAI's Chat Completions, streaming, as Ollama, LM Studio, vLLM and gateways speak it. */
import { findPairingProblems, findTextProblem, type Step } from "../find-pairing-problems.js"
import type { Dialect } from "../script.js"

interface ChatMessage {
  readonly role: string
  readonly content?: string | null
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly arguments: string } }[]
  readonly tool_call_id?: string
}

export const openAiChatDialect: Dialect = {
  name: "openai-chat",
  matches: (path) => path.endsWith("/chat/completions"),
  frames({ number, texts, calls, usage, stop }) {
    const base = { id: `chatcmpl-${number}`, object: "chat.completion.chunk", created: 0, model: "fake" }
    const chunk = (delta: object, finish_reason: string | null = null) =>
      frame({ ...base, choices: [{ index: 0, delta, finish_reason }] })
    const callDeltas = calls.map(({ id, name, pieces }, index) => [
      { index, id, type: "function", function: { name, arguments: "" } },
      ...pieces.map((text) => ({ index, function: { arguments: text } })),
    ])
    const ownEnd = calls.length > 0 ? "tool_calls" : "stop"
    return [
      chunk({ role: "assistant", content: "" }),
      ...texts.map((content) => chunk({ content })),
      ...interleave(callDeltas).map((delta) => chunk({ tool_calls: [delta] })),
      chunk({}, stop === "length" ? "length" : stop === "filter" ? "content_filter" : ownEnd),
      frame({
        ...base,
        choices: [],
        usage: {
          prompt_tokens: usage.input,
          completion_tokens: usage.output,
          total_tokens: usage.input + usage.output,
          prompt_tokens_details: { cached_tokens: usage.cached },
        },
      }),
      "data: [DONE]\n\n",
    ]
  },
  errorFrame: (type, message) => frame({ error: { message, type, param: null, code: null } }),
  refusal: (status, message) => ({ error: { message, type: "error", param: null, code: String(status) } }),
  findProblems(given) {
    const { messages } = given as { messages: readonly ChatMessage[] }
    const problems = findPairingProblems(toSteps(messages))
    const rest = messages.filter((message) => message.role !== "system")
    if (messages.slice(1).some((message) => message.role === "system"))
      problems.push("a system message is not the first")
    if (rest[0]?.role !== "user") problems.push("the first message is not the user's")
    if (rest.at(-1)?.role === "assistant") problems.push("the last message is the assistant's")
    rest.forEach(({ role, content, tool_calls = [] }, position) => {
      if (role !== "tool" && role === rest[position - 1]?.role) problems.push(`message ${position} repeats its role`)
      if (tool_calls.length === 0) problems.push(...findTextProblem(content, `message ${position}`))
      for (const call of tool_calls) {
        if (!/^\{.*\}$/s.test(call.function.arguments)) problems.push(`the arguments of ${call.id} are no object`)
      }
    })
    return problems
  },
}

/** Parallel calls come mixed, as some servers send them. */
function interleave<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map((list) => list.length))
  return Array.from({ length: longest }, (_, index) => lists.flatMap((list) => list.slice(index, index + 1))).flat()
}

function toSteps(messages: readonly ChatMessage[]): Step[] {
  const steps: Step[] = []
  for (const { role, tool_calls = [], tool_call_id } of messages) {
    const last = steps.at(-1)
    if (role === "tool" && last?.kind === "results") {
      steps[steps.length - 1] = { kind: "results", ids: [...last.ids, String(tool_call_id)] }
    } else if (role === "tool") steps.push({ kind: "results", ids: [String(tool_call_id)] })
    else if (tool_calls.length > 0) steps.push({ kind: "calls", ids: tool_calls.map(({ id }) => id) })
    else steps.push({ kind: "other" })
  }
  return steps
}

function frame(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`
}
