/** The providers the tests go through, and a way to ask one of them. */
import type { Message, ModelAnswer, ModelRequest, ToolDescription } from "@ku0/agent-runtime-core"
import { type CreateModelOptions, createModel } from "../models/create-model.js"

export const key = "key-0123456789abcdef"

/** `opening`: with how many frames a scripted text has said its first word and not yet its last. */
export const providers = [
  { model: "anthropic/claude-fake", variables: ["ANTHROPIC_API_KEY"], dialect: "anthropic", opening: 4 },
  { model: "openai/gpt-fake", variables: ["OPENAI_API_KEY"], dialect: "openai-responses", opening: 3 },
  {
    model: "google/gemini-fake",
    variables: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
    dialect: "google",
    opening: 1,
  },
  {
    model: "openai-compatible/fake",
    variables: ["OPENAI_COMPATIBLE_API_KEY"],
    dialect: "openai-chat",
    opening: 2,
  },
] as const

export type Provider = (typeof providers)[number]

export const tools: readonly ToolDescription[] = [
  {
    name: "read_file",
    description: "Reads a file.",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  },
  { name: "list.files", description: "Lists files.", parameters: {} },
]

export const prompt: readonly Message[] = [
  { role: "system", content: "You are careful." },
  { role: "user", content: "What is in a.txt?" },
]

export type AskOptions = Partial<ModelRequest> & Partial<CreateModelOptions>

/** Asks a provider, by default with the prompt and the tools above. */
export async function ask(
  { model: reference, variables }: Provider,
  options: AskOptions,
  onDelta: (text: string) => void = () => {},
): Promise<ModelAnswer> {
  const { messages = prompt, tools: offered = tools, signal = new AbortController().signal, ...rest } = options
  const model = await createModel(reference, { environment: { [variables[variables.length - 1] ?? ""]: key }, ...rest })
  return model.answer({ messages, tools: offered, signal }, onDelta)
}
