/** `provider/name` → a Model. The adapter is loaded when it is asked for; the others never. */
import { KeepupError, type Model } from "@ku0/agent-runtime-core"
import type { CreateModelOptions } from "../sdk/options.js"

export type { CreateModelOptions, ModelPrices } from "../sdk/options.js"

type Load = (name: string, options: CreateModelOptions) => Promise<Model>

const loaders: Readonly<Record<string, Load>> = {
  anthropic: async (name, options) => (await import("./anthropic.js")).createAnthropicModel(name, options),
  openai: async (name, options) => (await import("./openai.js")).createOpenAiModel(name, options),
  google: async (name, options) => (await import("./google.js")).createGoogleModel(name, options),
  "openai-compatible": loadCompatible(),
  ollama: loadCompatible("ollama"),
  lmstudio: loadCompatible("lmstudio"),
  vllm: loadCompatible("vllm"),
}

/** What may stand before the slash of a model's name. */
export const modelProviders: readonly string[] = Object.keys(loaders)

/**
 * A model by its name, like `anthropic/claude-sonnet-4-5` or `ollama/qwen3:8b`; everything after the first slash is the
 * provider's. Throws INVALID_INPUT for a name or address that can't be, UNAUTHORIZED for a key that is missing; sends
 * nothing.
 */
export async function createModel(reference: string, options: CreateModelOptions): Promise<Model> {
  const slash = reference.indexOf("/")
  const provider = slash < 0 ? "" : reference.slice(0, slash).trim()
  const name = reference.slice(slash + 1).trim()
  const load = Object.hasOwn(loaders, provider) ? loaders[provider] : undefined
  if (load === undefined || name === "") {
    throw new KeepupError("INVALID_INPUT", `There is no model "${reference}".`, {
      hint: `Write provider/name; providers are ${modelProviders.join(", ")}.`,
    })
  }
  return load(name, { ...options })
}

function loadCompatible(service?: "ollama" | "lmstudio" | "vllm"): Load {
  return async (name, options) =>
    (await import("./openai-compatible.js")).createOpenAiCompatibleModel(name, options, service)
}
