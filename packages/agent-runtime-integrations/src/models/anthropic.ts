/** Claude models over Anthropic's Messages interface. */
import { createAnthropic } from "@ai-sdk/anthropic"
import type { LanguageModelV3Prompt } from "@ai-sdk/provider"
import type { Model } from "@ku0/agent-runtime-core"
import { createSdkModel } from "../sdk/create-sdk-model.js"
import { type CreateModelOptions, findValue, parseBaseUrl, requireKey, versionAtEnd } from "../sdk/options.js"

const keyVariables = ["ANTHROPIC_API_KEY"]

/** A Claude model. Key: ANTHROPIC_API_KEY; address: `baseUrl`, ANTHROPIC_BASE_URL, or Anthropic's own. */
export function createAnthropicModel(name: string, options: CreateModelOptions): Model {
  const model = `anthropic/${name}`
  const key = requireKey(model, options.environment, keyVariables)
  const address =
    options.baseUrl ?? findValue(options.environment, ["ANTHROPIC_BASE_URL"]) ?? "https://api.anthropic.com"
  const baseUrl = parseBaseUrl(address, versionAtEnd("/v1"))
  return createSdkModel({
    service: { model, baseUrl, keyVariables, key },
    options,
    windowTokens: 200_000,
    connect: (fetch) => createAnthropic({ apiKey: key, baseURL: baseUrl, fetch })(name),
    // Arguments come when they are whole and checked: nobody looks at their pieces.
    providerOptions: { anthropic: { toolStreaming: false } },
    shapePrompt: markForCache,
  })
}

/**
 * Asks the service to keep the tools and the system text, and the conversation up to here, for the next turn: without it
 * every turn of a loop pays for the whole history again.
 */
function markForCache(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
  const providerOptions = { anthropic: { cacheControl: { type: "ephemeral" } } }
  return prompt.map((message, position) =>
    message.role === "system" || position === prompt.length - 1 ? { ...message, providerOptions } : message,
  )
}
