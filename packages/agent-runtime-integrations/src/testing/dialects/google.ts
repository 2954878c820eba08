/** Google's generateContent interface, streaming as server-sent events. */
import { findPairingProblems, findTextProblem, type Step } from "../find-pairing-problems.js"
import type { Dialect } from "../script.js"

interface Part {
  readonly text?: string
  readonly functionCall?: { readonly id?: string; readonly name: string; readonly args: unknown }
  readonly functionResponse?: { readonly id?: string; readonly name: string }
}

interface Content {
  readonly role: string
  readonly parts: readonly Part[]
}

const statusNames: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  503: "UNAVAILABLE",
}

export const googleDialect: Dialect = {
  name: "google",
  matches: (path) => path.includes(":streamGenerateContent?alt=sse"),
  /** A call comes whole: this service does not cut arguments. */
  frames({ number, texts, calls, usage, stop }) {
    const chunk = (parts: readonly object[], end: object = {}) =>
      frame({ candidates: [{ index: 0, content: { role: "model", parts }, ...end }], responseId: `r${number}` })
    const finishReason = stop === "length" ? "MAX_TOKENS" : stop === "filter" ? "SAFETY" : "STOP"
    const usageMetadata = {
      promptTokenCount: usage.input,
      cachedContentTokenCount: usage.cached,
      candidatesTokenCount: usage.output,
      totalTokenCount: usage.input + usage.output,
    }
    return [
      ...texts.map((text) => chunk([{ text }])),
      ...calls.map(({ id, name, pieces }) => chunk([{ functionCall: { id, name, args: parse(pieces.join("")) } }])),
      frame({
        candidates: [{ index: 0, content: { role: "model", parts: [{ text: "" }] }, finishReason }],
        usageMetadata,
        responseId: `r${number}`,
      }),
    ]
  },
  errorFrame: (type, message) => frame({ error: { code: Number(type) || 503, message, status: "UNAVAILABLE" } }),
  refusal: (status, message) => ({ error: { code: status, message, status: statusNames[status] ?? "INTERNAL" } }),
  findProblems(given) {
    const { contents } = given as { contents: readonly Content[] }
    const problems = findPairingProblems(contents.map(toStep))
    if (contents[0]?.role !== "user") problems.push("the first content is not the user's")
    if (contents.at(-1)?.role !== "user") problems.push("the last content is the model's")
    contents.forEach(({ parts }, position) => {
      if (parts.length === 0) problems.push(`content ${position} is empty`)
      for (const { text, functionCall } of parts) {
        if (text !== undefined) problems.push(...findTextProblem(text, `a text of content ${position}`))
        const isObject = typeof functionCall?.args === "object" && !Array.isArray(functionCall.args)
        if (functionCall !== undefined && !isObject)
          problems.push(`the arguments of ${functionCall.name} are no object`)
      }
    })
    return problems
  },
}

function toStep({ parts }: Content): Step {
  const calls = parts.flatMap(({ functionCall }) => (functionCall === undefined ? [] : [String(functionCall.id)]))
  const results = parts.flatMap(({ functionResponse }) =>
    functionResponse === undefined ? [] : [String(functionResponse.id)],
  )
  if (calls.length > 0) return { kind: "calls", ids: calls }
  return results.length > 0 ? { kind: "results", ids: results } : { kind: "other" }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function frame(data: object): string {
  return `data: ${JSON.stringify(data)}\r\n\r\n`
}
