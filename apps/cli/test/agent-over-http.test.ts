/** The built-in agent against models over real HTTP, with everything that goes wrong there. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  type BusEvent,
  messagesForModel,
  openRuntime,
  type RunSessionOptions,
  type Runtime,
  runSession,
  type SessionId,
} from "@ku0/agent-runtime"
import { createModel } from "@ku0/agent-runtime-integrations/models"
import {
  type Fault,
  type ModelServer,
  openModelServer,
  type ScriptedTurn,
} from "@ku0/agent-runtime-integrations/testing"
import { afterEach, beforeEach, describe, expect, it } from "vitest"

const providers = [
  { reference: "anthropic/claude-fake", variable: "ANTHROPIC_API_KEY", opening: 4 },
  { reference: "openai-compatible/fake", variable: "OPENAI_COMPATIBLE_API_KEY", opening: 2 },
]

let root: string
let runtime: Runtime
let server: ModelServer
let events: BusEvent[]

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "keepup-http-")))
  mkdirSync(join(root, "workspace"))
  events = []
  server = await openModelServer()
  runtime = await openRuntime({
    stateDirectory: join(root, "state"),
    workspacePath: join(root, "workspace"),
    environment: { PATH: process.env["PATH"] },
  })
})
afterEach(async () => {
  await server.close()
  await runtime.close()
  rmSync(root, { recursive: true })
})

const command = "printf '%s\\n' \"$KEEPUP_CALL_ID\" >> ../effects"
const working: ScriptedTurn[] = [
  {
    text: "I will.",
    calls: [{ name: "run_command", arguments: { command }, pieces: 3 }],
    usage: { input: 10, output: 5 },
  },
  {
    calls: [
      { name: "write_file", arguments: { path: "a.txt", content: "grüße" } },
      { name: "read_file", arguments: { path: "a.txt" } },
    ],
    usage: { input: 20, output: 5 },
  },
]
const done: ScriptedTurn = { text: ["All", " done."], usage: { input: 30, output: 5 } }

describe.each(providers)("the agent with $reference", ({ reference, variable, opening }) => {
  /** Silence is waited for only where there is some: on a busy machine an answer may take its time. */
  async function run(options: Partial<RunSessionOptions> = {}, idleTimeoutMs = 60_000) {
    const model = await createModel(reference, {
      environment: { [variable]: "key-0123456789abcdef" },
      baseUrl: server.url,
      idleTimeoutMs,
    })
    return await runSession(runtime, {
      model,
      retry: { baseMs: 5, attempts: 3 },
      onEvent: (event) => {
        events.push(event)
      },
      ...(options.sessionId === undefined && { prompt: "Do it." }),
      ...options,
    })
  }

  /** What holds after every run: nothing the service would have refused, a valid history, each effect once. */
  async function expectSound(sessionId: SessionId): Promise<void> {
    expect(server.requests.flatMap(({ problems }) => problems)).toEqual([])
    const messages = messagesForModel(await runtime.store.log.fold(await runtime.store.log.head(sessionId)))
    const calls = messages.flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []))
    const results = messages.flatMap((message) => (message.role === "tool" ? [message.callId] : []))
    expect(results).toEqual(calls.map(({ id }) => id))
    const effects = readFileSync(join(root, "effects"), "utf8").trim().split("\n")
    expect(effects).toEqual(calls.filter(({ name }) => name === "run_command").map(({ id }) => id))
  }

  it("works through tool calls to an answer, and counts what it cost", async () => {
    server.say(...working, done)
    const { session, run: result } = await run()
    expect(result).toMatchObject({ outcome: "completed", answer: "All done.", steps: 3 })
    expect(result.usage).toMatchObject({ inputTokens: 60, outputTokens: 15 })
    expect(readFileSync(join(root, "workspace/a.txt"), "utf8")).toBe("grüße")
    expect(events.some(({ type }) => type === "message:delta")).toBe(true)
    await expectSound(session.id)
  })

  it.each<[string, Fault]>([
    ["a stream that is cut", { kind: "cut", after: opening }],
    ["a stream that ends too early", { kind: "end", after: opening }],
    ["too many requests", { kind: "status", status: 429, headers: { "retry-after": "0" } }],
    ["a broken service", { kind: "status", status: 500 }],
    ["nonsense in the stream", { kind: "insert", after: opening, text: "data: {{{{\n\n" }],
    ["silence in the middle", { kind: "silence", after: opening }],
    ["silence from the start", { kind: "silence" }],
    ["an overloaded service", { kind: "error", after: opening, type: "overloaded_error", message: "Overloaded" }],
  ])("asks again after %s, and nothing of the half answer stays", async (_, fault) => {
    server.say(working[0] as ScriptedTurn, { text: ["Half", " an answer"], fault }, working[1] as ScriptedTurn, done)
    const { session, run: result } = await run({}, fault.kind === "silence" ? 1_000 : undefined)
    expect(result).toMatchObject({ outcome: "completed", answer: "All done.", steps: 3 })
    expect(server.requests).toHaveLength(4)
    expect(server.requests[1]?.body["messages"]).toEqual(server.requests[2]?.body["messages"])
    const log = JSON.stringify(await runtime.store.log.read(session.id))
    expect(log).not.toContain("Half")
    await expectSound(session.id)
  })

  it.each<[string, number, Fault]>([
    ["never recovers", 3, { kind: "status", status: 500 }],
    ["answers with a page", 1, { kind: "body", type: "text/html", text: "<title>Welcome</title>" }],
    ["refuses the key", 1, { kind: "status", status: 401 }],
  ])("ends the run when the service %s, and goes on later from there", async (_, attempts, fault) => {
    server.say(working[0] as ScriptedTurn, ...Array.from({ length: attempts }, () => ({ fault })))
    const { session, run: failed } = await run()
    expect(failed).toMatchObject({ outcome: "failed", steps: 2 })
    expect(failed.error?.code).toMatch(/^(UNAVAILABLE|UNAUTHORIZED)$/)
    expect(server.requests).toHaveLength(1 + attempts)
    expect(events.filter(({ type }) => type === "turn:started")).toHaveLength(2)
    expect(events.filter(({ type }) => type === "turn:ended")).toHaveLength(2)
    server.say(working[1] as ScriptedTurn, done)
    const { run: later } = await run({ sessionId: session.id })
    expect(later).toMatchObject({ outcome: "completed", answer: "All done.", steps: 2 })
    await expectSound(session.id)
  })

  it("stops in the middle of an answer when it is cancelled, and goes on later from there", async () => {
    server.say(working[0] as ScriptedTurn, { text: ["Half", " an"], fault: { kind: "silence", after: opening } })
    const controller = new AbortController()
    const { session, run: cancelled } = await run({
      signal: controller.signal,
      onEvent: ({ type, data }) => {
        if (type === "message:delta" && JSON.stringify(data).includes("Half")) controller.abort()
      },
    })
    expect(cancelled.outcome).toBe("cancelled")
    server.say(working[1] as ScriptedTurn, done)
    const { run: later } = await run({ sessionId: session.id })
    expect(later).toMatchObject({ outcome: "completed", answer: "All done." })
    await expectSound(session.id)
  })
})
