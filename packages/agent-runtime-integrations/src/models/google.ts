/** Gemini models over Google's generateContent interface. */
import { createGoogleGenerativeAI } from "@ai-sdk/google"
import type { Model } from "@ku0/agent-runtime-core"
import { createSdkModel } from "../sdk/create-sdk-model.js"
import { type CreateModelOptions, findValue, parseBaseUrl, requireKey, versionAtEnd } from "../sdk/options.js"

const keyVariables = ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"]
const ownAddress = "https://generativelanguage.googleapis.com"

/** A Gemini model. Key: GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY; address: `baseUrl`, GOOGLE_GEMINI_BASE_URL, or Google's own. */
export function createGoogleModel(name: string, options: CreateModelOptions): Model {
  const model = `google/${name}`
  const key = requireKey(model, options.environment, keyVariables)
  const address = options.baseUrl ?? findValue(options.environment, ["GOOGLE_GEMINI_BASE_URL"]) ?? ownAddress
  const baseUrl = parseBaseUrl(address, versionAtEnd("/v1beta"))
  return createSdkModel({
    service: { model, baseUrl, keyVariables, key },
    options,
    windowTokens: 1_000_000,
    connect: (fetch) => createGoogleGenerativeAI({ apiKey: key, baseURL: baseUrl, fetch })(name),
  })
}
