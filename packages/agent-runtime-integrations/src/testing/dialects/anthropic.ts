/** Anthropic's Messages interface, streaming. */
import { findPairingProblems, findTextProblem, type Step } from "../find-pairing-problems.js"
import type { Dialect } from "../script.js"

interface Block {
  readonly type: string
  readonly text?: string
  readonly id?: string
  readonly input?: unknown
  readonly tool_use_id?: string
}

interface Body {
  readonly max_tokens?: number
  readonly messages: readonly { readonly role: string; readonly content: readonly Block[] }[]
}

const errorTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
}

export const anthropicDialect: Dialect = {
  name: "anthropic",
  matches: (path) => path.endsWith("/v1/messages"),
  frames({ number, texts, calls, usage, stop }) {
    const uncached = { input_tokens: usage.input - usage.cached, cache_read_input_tokens: usage.cached }
    const start = { id: `msg_${number}`, type: "message", role: "assistant", model: "fake", content: [] }
    const frames = [
      frame("message_start", {
        message: { ...start, stop_reason: null, stop_sequence: null, usage: { ...uncached, output_tokens: 1 } },
      }),
      frame("ping", {}),
    ]
    const blocks = [
      ...(texts.length === 0
        ? []
        : [{ head: { type: "text", text: "" }, deltas: texts.map((text) => ({ type: "text_delta", text })) }]),
      ...calls.map(({ id, name, pieces }) => ({
        head: { type: "tool_use", id, name, input: {} },
        deltas: pieces.map((partial_json) => ({ type: "input_json_delta", partial_json })),
      })),
    ]
    blocks.forEach(({ head, deltas }, index) => {
      frames.push(frame("content_block_start", { index, content_block: head }))
      for (const delta of deltas) frames.push(frame("content_block_delta", { index, delta }))
      frames.push(frame("content_block_stop", { index }))
    })
    const ownEnd = calls.length > 0 ? "tool_use" : "end_turn"
    const stop_reason = stop === "length" ? "max_tokens" : stop === "filter" ? "refusal" : ownEnd
    const delta = { stop_reason, stop_sequence: null }
    return [
      ...frames,
      frame("message_delta", { delta, usage: { output_tokens: usage.output } }),
      frame("message_stop", {}),
    ]
  },
  errorFrame: (type, message) => frame("error", { error: { type, message } }),
  refusal: (status, message) => ({ type: "error", error: { type: errorTypes[status] ?? "api_error", message } }),
  findProblems(given) {
    const body = given as Body
    const { messages } = body
    const problems = findPairingProblems(messages.map(toStep))
    if (typeof body.max_tokens !== "number") problems.push("max_tokens is missing")
    if (messages[0]?.role !== "user") problems.push("the first message is not the user's")
    if (messages.at(-1)?.role !== "user") problems.push("the last message is not the user's")
    messages.forEach(({ role, content }, position) => {
      if (role === messages[position - 1]?.role) problems.push(`message ${position} has the role of the one before`)
      if (content.length === 0) problems.push(`message ${position} is empty`)
      const firstText = content.findIndex((block) => block.type === "text")
      const lastResult = content.findLastIndex((block) => block.type === "tool_result")
      if (firstText >= 0 && firstText < lastResult) problems.push(`text stands before a result in message ${position}`)
      for (const block of content) {
        if (block.type === "text") problems.push(...findTextProblem(block.text, `a text of message ${position}`))
        const isObject = typeof block.input === "object" && block.input !== null && !Array.isArray(block.input)
        if (block.type === "tool_use" && !isObject) problems.push(`the input of ${block.id} is no object`)
      }
    })
    return problems
  },
}

function toStep({ content }: Body["messages"][number]): Step {
  const calls = content.flatMap((block) => (block.type === "tool_use" ? [String(block.id)] : []))
  const results = content.flatMap((block) => (block.type === "tool_result" ? [String(block.tool_use_id)] : []))
  if (calls.length > 0) return { kind: "calls", ids: calls }
  return results.length > 0 ? { kind: "results", ids: results } : { kind: "other" }
}

function frame(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`
}
