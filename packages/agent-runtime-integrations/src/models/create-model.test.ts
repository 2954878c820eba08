import { afterEach, describe, expect, it, vi } from "vitest"
import { createModel, modelProviders } from "./create-model.js"

const keys = { ANTHROPIC_API_KEY: "a", OPENAI_API_KEY: "b", GEMINI_API_KEY: "c" }
const request = {
  messages: [{ role: "user" as const, content: "Hi" }],
  tools: [],
  signal: new AbortController().signal,
}

/** Where a model sends its request, and with what. */
async function whereTo(reference: string, environment: Record<string, string>, baseUrl?: string) {
  let sent: { url: string; headers: Headers } | undefined
  const fetch = async (url: unknown, init?: RequestInit) => {
    sent = { url: String(url), headers: new Headers(init?.headers) }
    return new Response(null, { status: 500 })
  }
  const model = await createModel(reference, { environment, fetch, ...(baseUrl === undefined ? {} : { baseUrl }) })
  await model.answer(request, () => {}).catch(() => {})
  return sent ?? expect.unreachable("nothing was sent")
}

afterEach(() => vi.unstubAllEnvs())

describe("createModel", () => {
  it("loads nothing but the adapter it is asked for", async () => {
    const adapters = ["anthropic", "openai", "google", "openai-compatible"]
    const loaded: string[] = []
    for (const name of adapters) {
      vi.doMock(`./${name}.js`, (original: () => Promise<object>) => {
        loaded.push(name)
        return original()
      })
    }
    vi.resetModules() // other tests may have loaded them before
    try {
      const fresh = await import("./create-model.js")
      expect(loaded).toEqual([])
      await fresh.createModel("openai-compatible/a/b", { environment: {}, baseUrl: "http://127.0.0.1:1" })
      expect(loaded).toEqual(["openai-compatible"])
      await fresh.createModel("anthropic/x", { environment: keys })
      expect(loaded).toEqual(["openai-compatible", "anthropic"])
    } finally {
      for (const name of adapters) vi.doUnmock(`./${name}.js`)
      vi.resetModules()
    }
  })

  it("takes everything after the first slash for the provider's name of the model", async () => {
    const model = await createModel("vllm/meta-llama/Llama-3", { environment: {} })
    expect(model.name).toBe("vllm/meta-llama/Llama-3")
  })

  it.each(["", "claude", "/claude", "anthropic/", "anthropic/  ", "nobody/x", "constructor/x", "__proto__/x"])(
    "refuses %j and says how to write it",
    async (reference) => {
      const error = await createModel(reference, { environment: keys }).catch((thrown) => thrown)
      expect(error).toMatchObject({ code: "INVALID_INPUT" })
      expect(error.hint).toContain(modelProviders.join(", "))
    },
  )

  it.each([
    ["anthropic/x", "ANTHROPIC_API_KEY"],
    ["openai/x", "OPENAI_API_KEY"],
    ["google/x", "GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY"],
  ])("says which key %s needs before anything is sent", async (reference, variable) => {
    const fetch = vi.fn()
    const environment = { ANTHROPIC_API_KEY: " ", OPENAI_API_KEY: "" }
    const error = await createModel(reference, { environment, fetch }).catch((thrown) => thrown)
    expect(error).toMatchObject({ code: "UNAUTHORIZED", hint: `Set ${variable}.` })
    expect(fetch).not.toHaveBeenCalled()
  })

  it("needs an address for a server it does not know", async () => {
    const error = await createModel("openai-compatible/x", { environment: {} }).catch((thrown) => thrown)
    expect(error).toMatchObject({ code: "INVALID_INPUT" })
    expect(error.hint).toContain("OPENAI_COMPATIBLE_BASE_URL")
  })

  it.each([
    ["anthropic/x", "https://api.anthropic.com/v1/messages"],
    ["openai/x", "https://api.openai.com/v1/responses"],
    ["google/x", "https://generativelanguage.googleapis.com/v1beta/models/x:streamGenerateContent?alt=sse"],
    ["ollama/x", "http://127.0.0.1:11434/v1/chat/completions"],
    ["lmstudio/x", "http://127.0.0.1:1234/v1/chat/completions"],
    ["vllm/x", "http://127.0.0.1:8000/v1/chat/completions"],
  ])("sends %s to %s", async (reference, url) => {
    expect((await whereTo(reference, keys)).url).toBe(url)
  })

  it.each([
    ["anthropic/x", "ANTHROPIC_BASE_URL", "http://gate:1/claude/", "http://gate:1/claude/v1/messages"],
    ["anthropic/x", "ANTHROPIC_BASE_URL", "http://gate:1/v1", "http://gate:1/v1/messages"],
    ["openai/x", "OPENAI_BASE_URL", "http://gate:1", "http://gate:1/v1/responses"],
    ["openai/x", "OPENAI_BASE_URL", "http://gate:1/api/", "http://gate:1/api/responses"],
    [
      "google/x",
      "GOOGLE_GEMINI_BASE_URL",
      "http://gate:1",
      "http://gate:1/v1beta/models/x:streamGenerateContent?alt=sse",
    ],
    ["ollama/x", "OPENAI_COMPATIBLE_BASE_URL", "http://box:11434", "http://box:11434/v1/chat/completions"],
  ])("%s takes its address from %s=%s", async (reference, variable, address, url) => {
    expect((await whereTo(reference, { ...keys, [variable]: address })).url).toBe(url)
    expect((await whereTo(reference, { ...keys, [variable]: "http://other" }, address)).url).toBe(url)
  })

  it("reads the environment it is given and never the process's", async () => {
    vi.stubEnv("ANTHROPIC_BASE_URL", "http://elsewhere/v1")
    vi.stubEnv("ANTHROPIC_API_KEY", "of the process")
    const { url, headers } = await whereTo("anthropic/x", keys)
    expect(url).toBe("https://api.anthropic.com/v1/messages")
    expect(headers.get("x-api-key")).toBe("a")
    await expect(createModel("anthropic/x", { environment: {} })).rejects.toMatchObject({ code: "UNAUTHORIZED" })
  })

  it("sends a key to a compatible server only if there is one", async () => {
    expect((await whereTo("ollama/x", keys)).headers.get("authorization")).toBeNull()
    const environment = { OPENAI_COMPATIBLE_API_KEY: "secret" }
    expect((await whereTo("ollama/x", environment)).headers.get("authorization")).toBe("Bearer secret")
  })

  it("prefers Google's own name for the key", async () => {
    const environment = { GEMINI_API_KEY: "second", GOOGLE_GENERATIVE_AI_API_KEY: "first" }
    expect((await whereTo("google/x", environment)).headers.get("x-goog-api-key")).toBe("first")
  })

  it.each(["localhost:11434", "ftp://box/v1", "not an address", "http://me:secret@box/v1", "http://box/v1?key=secret"])(
    "refuses the address %s without repeating what may be secret",
    async (baseUrl) => {
      const error = await createModel("ollama/x", { environment: {}, baseUrl }).catch((thrown) => thrown)
      expect(error).toMatchObject({ code: "INVALID_INPUT" })
      expect(error.message + error.hint).not.toContain("secret")
    },
  )
})
