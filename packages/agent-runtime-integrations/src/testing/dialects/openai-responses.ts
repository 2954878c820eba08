/** OpenAI's Responses interface, streaming. */
import { findPairingProblems, findTextProblem, type Step } from "../find-pairing-problems.js"
import type { Dialect, FullTurn } from "../script.js"

interface Item {
  readonly type?: string
  readonly role?: string
  readonly content?: string | readonly { readonly text?: string }[]
  readonly call_id?: string
  readonly arguments?: string
}

interface Event {
  readonly type: string
  readonly [key: string]: unknown
}

export const openAiResponsesDialect: Dialect = {
  name: "openai-responses",
  matches: (path) => path.endsWith("/responses"),
  frames(turn) {
    const { number, texts, calls, usage, stop } = turn
    const response = { id: `resp_${number}`, object: "response", created_at: 0, model: "fake", output: [] }
    const reason = stop === "length" ? "max_output_tokens" : "content_filter"
    const end = stop === undefined ? "response.completed" : "response.incomplete"
    const events: Event[] = [
      { type: "response.created", response: { ...response, status: "in_progress" } },
      ...(texts.length === 0 ? [] : textEvents(turn)),
      ...calls.flatMap((_, index) => callEvents(turn, index)),
      {
        type: end,
        response: {
          ...response,
          status: stop === undefined ? "completed" : "incomplete",
          incomplete_details: stop === undefined ? null : { reason },
          usage: {
            input_tokens: usage.input,
            input_tokens_details: { cached_tokens: usage.cached },
            output_tokens: usage.output,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: usage.input + usage.output,
          },
        },
      },
    ]
    return events.map((event, sequence_number) => frame({ ...event, sequence_number }))
  },
  errorFrame: (type, message) =>
    frame({ type: "error", sequence_number: 99, error: { type, code: type, message, param: null } }),
  refusal: (status, message) => ({
    error: { message, type: "invalid_request_error", param: null, code: String(status) },
  }),
  findProblems(given) {
    const { input, store } = given as { input: readonly Item[]; store?: boolean }
    const problems = findPairingProblems(toSteps(input))
    if (store !== false) problems.push("the service is asked to store the conversation")
    const rest = input.filter((item) => item.role !== "system" && item.role !== "developer")
    if (rest[0]?.role !== "user") problems.push("the first item is not the user's")
    if (rest.at(-1)?.role === "assistant") problems.push("the last item is the assistant's")
    for (const item of input) {
      if (item.type === "function_call" && !/^\{.*\}$/s.test(item.arguments ?? ""))
        problems.push("arguments are no object")
      if (item.role === undefined) continue
      const texts = typeof item.content === "string" ? [item.content] : (item.content ?? []).map(({ text }) => text)
      for (const text of texts) problems.push(...findTextProblem(text, `a text of the ${item.role}`))
    }
    return problems
  },
}

function textEvents({ number, texts }: FullTurn): Event[] {
  const item = { type: "message", id: `msg_${number}`, role: "assistant" }
  const content = [{ type: "output_text", text: texts.join(""), annotations: [] }]
  return [
    { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress", content: [] } },
    ...texts.map((delta) => ({
      type: "response.output_text.delta",
      item_id: item.id,
      output_index: 0,
      content_index: 0,
      delta,
    })),
    { type: "response.output_item.done", output_index: 0, item: { ...item, status: "completed", content } },
  ]
}

function callEvents({ number, texts, calls }: FullTurn, index: number): Event[] {
  const call = calls[index]
  if (call === undefined) return []
  const output_index = index + (texts.length === 0 ? 0 : 1)
  const item = { type: "function_call", id: `fc_${number}_${index}`, call_id: call.id, name: call.name }
  const text = call.pieces.join("")
  const place = { item_id: item.id, output_index }
  return [
    { type: "response.output_item.added", output_index, item: { ...item, arguments: "", status: "in_progress" } },
    ...call.pieces.map((delta) => ({ type: "response.function_call_arguments.delta", ...place, delta })),
    { type: "response.function_call_arguments.done", ...place, arguments: text },
    { type: "response.output_item.done", output_index, item: { ...item, arguments: text, status: "completed" } },
  ]
}

function toSteps(items: readonly Item[]): Step[] {
  const steps: Step[] = []
  for (const { type, call_id } of items) {
    const kind = type === "function_call" ? "calls" : type === "function_call_output" ? "results" : "other"
    const last = steps.at(-1)
    if (kind === "other") steps.push({ kind })
    else if (last?.kind === kind) steps[steps.length - 1] = { kind, ids: [...last.ids, String(call_id)] }
    else steps.push({ kind, ids: [String(call_id)] })
  }
  return steps
}

function frame(event: Event): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}
