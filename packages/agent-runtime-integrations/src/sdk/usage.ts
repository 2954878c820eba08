/** Tokens as the service counted them; a cost only when prices were given and everything they need was counted. */
import type { LanguageModelV3Usage } from "@ai-sdk/provider"
import type { ModelAnswer } from "@ku0/agent-runtime-core"
import type { ModelPrices } from "./options.js"

export function toUsage(usage: LanguageModelV3Usage, prices: ModelPrices | undefined): Pick<ModelAnswer, "usage"> {
  const inputTokens = usage.inputTokens.total
  const outputTokens = usage.outputTokens.total
  const cost = prices === undefined ? undefined : findCost(usage, prices)
  const known = Object.entries({ inputTokens, outputTokens, cost }).filter(([, value]) => value !== undefined)
  return known.length === 0 ? {} : { usage: Object.fromEntries(known) as NonNullable<ModelAnswer["usage"]> }
}

function findCost({ inputTokens, outputTokens }: LanguageModelV3Usage, prices: ModelPrices): number | undefined {
  if (inputTokens.total === undefined || outputTokens.total === undefined) return undefined
  const read = inputTokens.cacheRead ?? 0
  const written = inputTokens.cacheWrite ?? 0
  const plain = Math.max(0, inputTokens.total - read - written)
  const input =
    plain * prices.input + read * (prices.cacheRead ?? prices.input) + written * (prices.cacheWrite ?? prices.input)
  return (input + outputTokens.total * prices.output) / 1_000_000
}
