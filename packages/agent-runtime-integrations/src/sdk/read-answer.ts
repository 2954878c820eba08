/** The parts a service streams, gathered to one answer. What does not end as an answer ends is refused. */
import type { LanguageModelV3FinishReason, LanguageModelV3StreamPart, LanguageModelV3Usage } from "@ai-sdk/provider"
import { KeepupError, type ModelAnswer, type ToolCall } from "@ku0/agent-runtime-core"
import type { ModelPrices } from "./options.js"
import type { ToolNames } from "./tool-names.js"
import { toUsage } from "./usage.js"

export interface ReadAnswerOptions {
  readonly model: string
  readonly names: ToolNames
  readonly callId: (given: string) => string
  readonly prices: ModelPrices | undefined
  /** Must not throw. */
  readonly onDelta: (text: string) => void
}

/** Throws what the stream reports as an error, as it is. */
export async function readAnswer(
  stream: ReadableStream<LanguageModelV3StreamPart>,
  options: ReadAnswerOptions,
): Promise<ModelAnswer> {
  const reader = stream.getReader()
  const toolCalls: ToolCall[] = []
  let content = ""
  let block: string | undefined
  let end: { reason: LanguageModelV3FinishReason; usage: LanguageModelV3Usage } | undefined
  const say = (text: string): void => {
    if (text === "") return
    content += text
    options.onDelta(text)
  }
  try {
    for (;;) {
      const { done, value: part } = await reader.read()
      if (done) break
      if (part.type === "error") throw part.error
      if (part.type === "text-delta") {
        if (block !== undefined && block !== part.id && !/(^|\s)$/.test(content)) say("\n\n")
        block = part.id
        say(part.delta)
      } else if (part.type === "tool-call" && part.providerExecuted !== true) {
        const name = options.names.fromService(part.toolName)
        toolCalls.push({ id: options.callId(part.toolCallId), name, arguments: parseArguments(part.input) })
      } else if (part.type === "finish") end = { reason: part.finishReason, usage: part.usage }
    }
  } finally {
    // Closes the connection when the answer was given up in the middle.
    reader.cancel().catch(() => {})
  }
  if (end === undefined || end.reason.unified === "error" || isUnfinished(end.reason)) throw brokenOff(options.model)
  const stoppedBy = { length: "length", "content-filter": "filter" } as const
  const stop =
    end.reason.unified === "length" || end.reason.unified === "content-filter" ? end.reason.unified : undefined
  return {
    content,
    toolCalls,
    ...toUsage(end.usage, options.prices),
    ...(stop === undefined ? {} : { stoppedBy: stoppedBy[stop] }),
  }
}

/** A stream that just ends is reported as finished for no reason. */
function isUnfinished(reason: LanguageModelV3FinishReason): boolean {
  return reason.unified === "other" && reason.raw === undefined
}

/** Text that is no JSON is handed on as it is: the tool refuses it, and the model sees why. */
function parseArguments(text: string): unknown {
  if (text.trim() === "") return {}
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** An answer that ends before its end. */
export function brokenOff(model: string, cause?: unknown): KeepupError {
  return new KeepupError("UNAVAILABLE", `The answer of ${model} broke off before its end.`, {
    hint: "Ask again.",
    details: { retryable: true },
    ...(cause === undefined ? {} : { cause }),
  })
}
