/** Any server that speaks OpenAI's Chat Completions: Ollama, LM Studio, vLLM, llama.cpp, gateways. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { KeepupError, type Model } from "@ku0/agent-runtime-core"
import { createSdkModel } from "../sdk/create-sdk-model.js"
import { type CreateModelOptions, findValue, parseBaseUrl, versionIfBare } from "../sdk/options.js"

const keyVariables = ["OPENAI_COMPATIBLE_API_KEY"]

/** Where these listen unless told otherwise. */
const localAddresses = {
  ollama: "http://127.0.0.1:11434/v1",
  lmstudio: "http://127.0.0.1:1234/v1",
  vllm: "http://127.0.0.1:8000/v1",
} as const

export type LocalService = keyof typeof localAddresses

/**
 * A model behind an address. Address: `baseUrl`, OPENAI_COMPATIBLE_BASE_URL, or where `service` listens by default; key,
 * if the server wants one: OPENAI_COMPATIBLE_API_KEY.
 */
export function createOpenAiCompatibleModel(name: string, options: CreateModelOptions, service?: LocalService): Model {
  const model = `${service ?? "openai-compatible"}/${name}`
  const local = service === undefined ? undefined : localAddresses[service]
  const address = options.baseUrl ?? findValue(options.environment, ["OPENAI_COMPATIBLE_BASE_URL"]) ?? local
  if (address === undefined) {
    throw new KeepupError("INVALID_INPUT", `No address for ${model}.`, {
      hint: `Set OPENAI_COMPATIBLE_BASE_URL, or name one of ${Object.keys(localAddresses).join(", ")} as the provider.`,
    })
  }
  const key = findValue(options.environment, keyVariables)
  const baseUrl = parseBaseUrl(address, versionIfBare("/v1"))
  return createSdkModel({
    service: { model, baseUrl, keyVariables, key },
    options,
    connect: (fetch) =>
      createOpenAICompatible({
        name: "compatible",
        baseURL: baseUrl,
        includeUsage: true,
        fetch,
        ...(key === undefined ? {} : { apiKey: key }),
      })(name),
  })
}
