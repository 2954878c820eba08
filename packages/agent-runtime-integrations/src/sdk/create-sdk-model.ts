/**
 * A Model over one language model of the AI SDK. The SDK speaks the service's protocol and nothing else: it runs no
 * tool and retries nothing.
 */
import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3Prompt } from "@ai-sdk/provider"
import { KeepupError, type Model, type ModelRequest, type ToolDescription } from "@ku0/agent-runtime-core"
import type { CreateModelOptions } from "./options.js"
import { readAnswer } from "./read-answer.js"
import { type ServiceFacts, toModelError } from "./to-model-error.js"
import { toPrompt } from "./to-prompt.js"
import { createToolNames, createUniqueNames, type ToolNames } from "./tool-names.js"
import { createWatchedFetch } from "./watched-fetch.js"

const defaultIdleTimeoutMs = 300_000

export interface SdkModelOptions {
  readonly service: ServiceFacts
  readonly options: CreateModelOptions
  /** Makes the SDK's model; it must use this `fetch`. */
  readonly connect: (fetch: typeof globalThis.fetch) => LanguageModelV3
  readonly providerOptions?: LanguageModelV3CallOptions["providerOptions"]
  /** The last word on the prompt, for what only one service knows. */
  readonly shapePrompt?: (prompt: LanguageModelV3Prompt) => LanguageModelV3Prompt
  /** What models of this service usually take in, in tokens: a small one rather than a large one. */
  readonly windowTokens?: number
  /** Set where a service would otherwise change the tools' schemas. */
  readonly strictTools?: boolean
}

export function createSdkModel({ service, options, connect, ...settings }: SdkModelOptions): Model {
  const fetch = createWatchedFetch({
    model: service.model,
    baseUrl: service.baseUrl,
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    idleTimeoutMs: options.idleTimeoutMs ?? defaultIdleTimeoutMs,
  })
  const sdk = connect(fetch)
  const { maxOutputTokens, prices } = options
  const { providerOptions, shapePrompt, strictTools } = settings
  const windowTokens = options.windowTokens ?? settings.windowTokens
  return {
    name: service.model,
    ...(windowTokens === undefined ? {} : { windowTokens }),
    async answer(request, onDelta) {
      if (request.signal.aborted) throw cancelled(service)
      const names = createToolNames(request.tools)
      const callId = takeIds(request)
      try {
        const prompt = toPrompt(request.messages, names)
        const { stream } = await sdk.doStream({
          prompt: shapePrompt?.(prompt) ?? prompt,
          ...(request.tools.length === 0 ? {} : { tools: request.tools.map(toSdkTool(names, strictTools)) }),
          abortSignal: request.signal,
          ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
          ...(providerOptions === undefined ? {} : { providerOptions }),
        })
        return await readAnswer(stream, { model: service.model, names, callId, prices, onDelta })
      } catch (thrown) {
        throw request.signal.aborted ? cancelled(service) : toModelError(thrown, service, Date.now())
      }
    },
  }
}

/** Ids of new calls: the model's own, unless the conversation has it already. */
function takeIds({ messages }: ModelRequest): (given: string) => string {
  const unique = createUniqueNames("call")
  for (const message of messages)
    if (message.role === "assistant") for (const { id } of message.toolCalls ?? []) unique(id)
  return unique
}

function toSdkTool(names: ToolNames, strict: boolean | undefined) {
  return ({ name, description, parameters }: ToolDescription) => ({
    type: "function" as const,
    name: names.toService(name),
    description,
    // Services want an object with properties, also for a tool without arguments.
    inputSchema: { type: "object" as const, properties: {}, ...parameters },
    ...(strict === undefined ? {} : { strict }),
  })
}

function cancelled({ model }: ServiceFacts): KeepupError {
  return new KeepupError("CANCELLED", `The answer of ${model} was cancelled.`)
}
