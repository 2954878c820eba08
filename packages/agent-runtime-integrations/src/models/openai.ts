/** OpenAI's models over its Responses interface. */
import { createOpenAI } from "@ai-sdk/openai"
import type { Model } from "@ku0/agent-runtime-core"
import { createSdkModel } from "../sdk/create-sdk-model.js"
import { type CreateModelOptions, findValue, parseBaseUrl, requireKey, versionIfBare } from "../sdk/options.js"

const keyVariables = ["OPENAI_API_KEY"]

/** A model of OpenAI. Key: OPENAI_API_KEY; address: `baseUrl`, OPENAI_BASE_URL, or OpenAI's own. */
export function createOpenAiModel(name: string, options: CreateModelOptions): Model {
  const model = `openai/${name}`
  const key = requireKey(model, options.environment, keyVariables)
  const address = options.baseUrl ?? findValue(options.environment, ["OPENAI_BASE_URL"]) ?? "https://api.openai.com"
  const baseUrl = parseBaseUrl(address, versionIfBare("/v1"))
  return createSdkModel({
    service: { model, baseUrl, keyVariables, key },
    options,
    windowTokens: 128_000,
    connect: (fetch) => createOpenAI({ apiKey: key, baseURL: baseUrl, fetch })(name),
    // keepup keeps the history: the service need not store it.
    providerOptions: { openai: { store: false } },
    strictTools: false,
  })
}
