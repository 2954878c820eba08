import { KeepupError, type Message, type Model } from "@ku0/agent-runtime-core"
import { describe, expect, test } from "vitest"
import { call, clock, ids, runLoop, tool } from "../test/make-loop.js"
import { createMemoryLog, Died, type MemoryLog } from "../test/memory-log.js"
import { runAgentLoop } from "./agent-loop.js"

const echo = tool("echo", ({ text }: { text: string }) => ({ content: text }))
const look = tool("look", ({ text }: { text: string }) => ({ content: text }), { hasEffects: false })
const lastData = (log: MemoryLog, type: string) => log.entries.findLast((entry) => entry.type === type)?.data
const results = (log: MemoryLog) => log.state().messages.filter((message) => message.role === "tool")
const abortable = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)))

describe("runAgentLoop", () => {
  test("goes from the prompt over tool calls to the answer, with every pair closed", async () => {
    const log = createMemoryLog()
    const end = await runLoop(
      log,
      [
        { content: "I look", toolCalls: [call("echo", { text: "hi" })], usage: { inputTokens: 3, outputTokens: 1 } },
        { content: "It said {{last_tool_result}}", usage: { inputTokens: 5, cost: 0.5 } },
      ],
      { prompt: "go", tools: [echo] },
    )
    expect(end).toMatchObject({ outcome: "completed", answer: "It said hi", steps: 2 })
    expect(end.usage).toEqual({ inputTokens: 8, outputTokens: 1, cost: 0.5 })
    expect(log.types()).toEqual([
      "run:started",
      "message:added",
      "turn:started",
      "message:added",
      "tool:started",
      "tool:ended",
      "message:added",
      "turn:ended",
      "turn:started",
      "message:added",
      "turn:ended",
      "run:ended",
    ])
    expect(lastData(log, "run:ended")).toMatchObject({ outcome: "completed", usage: { inputTokens: 8 } })
    expect(log.state().phase).toBe("idle")
  })

  test("has tool:started in the log before the tool runs, and the result before the model sees it", async () => {
    const log = createMemoryLog()
    const seen: unknown[] = []
    const spy = tool("spy", () => {
      seen.push(log.types().at(-1))
      return { content: "x" }
    })
    const model: Model = {
      name: "spy",
      async answer({ messages }) {
        seen.push(log.types().slice(-2))
        const isFirst = messages.length === 1
        return { content: "", toolCalls: isFirst ? [{ id: "mine", name: "spy", arguments: {} }] : [] }
      },
    }
    await runLoop(log, [], { prompt: "go", tools: [spy], model })
    expect(seen).toEqual([["message:added", "turn:started"], "tool:started", ["turn:ended", "turn:started"]])
    expect(log.entries.slice(5, 7).map(({ type }) => type)).toEqual(["tool:ended", "message:added"])
  })

  test("makes a thrown error of a tool a result, with its code and hint, and goes on", async () => {
    const log = createMemoryLog()
    const broken = tool("broken", ({ how }: { how: string }) => {
      if (how === "keepup") throw new KeepupError("CONFLICT", "It changed.", { hint: "Read it." })
      throw how === "text" ? "just text" : new Error("boom")
    })
    const calls = ["keepup", "text", "error"].map((how) => call("broken", { how }))
    const end = await runLoop(log, [{ toolCalls: calls }, { content: "ok" }], { prompt: "go", tools: [broken] })
    expect(end.outcome).toBe("completed")
    expect(results(log).map(({ content, isError }) => [content, isError])).toEqual([
      ["CONFLICT: It changed.\nRead it.", true],
      ["just text", true],
      ["boom", true],
    ])
  })

  test("tells the model about a tool that is not there", async () => {
    const log = createMemoryLog()
    await runLoop(log, [{ toolCalls: [call("fly")] }, { expectLast: "no tool named fly.*echo" }], {
      prompt: "go",
      tools: [echo],
    })
    expect(log.types()).not.toContain("tool:started")
    expect(lastData(log, "tool:ended")).toMatchObject({ name: "fly", outcome: "error" })
  })

  test("runs neighbours without effects side by side, the others alone, and keeps results in order", async () => {
    const log = createMemoryLog()
    const active = new Set<string>()
    const together: string[][] = []
    const slow = async ({ text, ms }: { text: string; ms: number }) => {
      active.add(text)
      together.push([...active])
      await new Promise((resolve) => setTimeout(resolve, ms))
      active.delete(text)
      return { content: text }
    }
    const read = tool("read", slow, { hasEffects: false })
    const write = tool("write", slow)
    const calls = [
      call("read", { text: "a", ms: 30 }),
      call("read", { text: "b", ms: 1 }),
      call("write", { text: "c", ms: 5 }),
      call("write", { text: "d", ms: 1 }),
      call("read", { text: "e", ms: 1 }),
    ]
    await runLoop(log, [{ toolCalls: calls }, {}], { prompt: "go", tools: [read, write] })
    expect(together).toEqual([["a"], ["a", "b"], ["c"], ["d"], ["e"]])
    expect(results(log).map(({ content }) => content)).toEqual(["a", "b", "c", "d", "e"])
  })

  test("records a result as soon as all before it are there", async () => {
    const log = createMemoryLog()
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const read = tool(
      "read",
      async ({ text }: { text: string }) => {
        if (text === "c") await held
        return { content: text }
      },
      { hasEffects: false },
    )
    const calls = ["a", "b", "c"].map((text) => call("read", { text }))
    const running = runLoop(log, [{ toolCalls: calls }, {}], { prompt: "go", tools: [read] })
    while (results(log).length < 2) await new Promise((resolve) => setTimeout(resolve, 1))
    release()
    await running
    expect(results(log).map(({ content }) => content)).toEqual(["a", "b", "c"])
  })

  test("gives the same call in two turns two ids, so that neither is taken for the other", async () => {
    const log = createMemoryLog()
    const same = { toolCalls: [call("echo", { text: "x" })] }
    await runLoop(log, [same, same, {}], { prompt: "go", tools: [echo] })
    await runLoop(log, [same, same, {}, same, {}], { prompt: "again", tools: [echo] })
    expect(new Set(results(log).map(({ callId }) => callId)).size).toBe(3)
  })

  test("ends at the step limit, and a resume goes on", async () => {
    const log = createMemoryLog()
    const answers = [1, 2, 3].map((text) => ({ toolCalls: [call("echo", { text: `${text}` })] }))
    const end = await runLoop(log, [...answers, { content: "end" }], { prompt: "go", tools: [echo], maxSteps: 2 })
    expect(end).toMatchObject({ outcome: "step-limit", steps: 2 })
    const more = await runLoop(log, [...answers, { content: "end" }], { tools: [echo] })
    expect(more).toMatchObject({ outcome: "completed", answer: "end" })
    expect(results(log)).toHaveLength(3)
  })

  test("pauses between tool calls, and a resume runs only those that have not run", async () => {
    const log = createMemoryLog()
    const ran: string[] = []
    const write = tool("write", ({ text }: { text: string }) => {
      ran.push(text)
      return { content: text }
    })
    const answers = [{ toolCalls: ["a", "b", "c"].map((text) => call("write", { text })) }, { content: "end" }]
    const isPauseRequested = () => ran.length === 1
    const end = await runLoop(log, answers, { prompt: "go", tools: [write], isPauseRequested })
    expect(end.outcome).toBe("paused")
    expect(log.types().slice(-3)).toEqual(["turn:ended", "run:ended", "session:paused"])
    expect(log.state()).toMatchObject({ phase: "paused", openToolCalls: [] })
    expect((await runLoop(log, answers, { tools: [write] })).outcome).toBe("completed")
    expect(ran).toEqual(["a", "b", "c"])
    expect(log.types()).toContain("session:resumed")
  })

  test("pauses between turns", async () => {
    const log = createMemoryLog()
    const end = await runLoop(log, [{ content: "never" }], { prompt: "go", isPauseRequested: async () => true })
    expect(end).toMatchObject({ outcome: "paused", steps: 0 })
    expect((await runLoop(log, [{ content: "now" }])).answer).toBe("now")
  })

  test("pauses when a tool stopped on the way, and the same call goes on when it is resumed", async () => {
    const log = createMemoryLog()
    const ran: string[] = []
    const slow = tool("slow", async (_args, { callId }) => {
      ran.push(callId)
      return ran.length === 1 ? { content: "halfway", isPaused: true } : { content: "there" }
    })
    const answers = [{ toolCalls: [call("slow"), call("after")] }, { content: "end {{last_tool_result}}" }]
    const tools = [slow, tool("after", () => ({ content: "after" }))]
    const end = await runLoop(log, answers, { prompt: "go", tools })
    expect(end.outcome).toBe("paused")
    expect(lastData(log, "tool:ended")).toMatchObject({ name: "slow", outcome: "paused" })
    expect(log.state()).toMatchObject({ openToolCalls: [], inDoubtToolCalls: [], phase: "paused" })
    expect(results(log)).toEqual([])
    expect((await runLoop(log, answers, { tools })).answer).toBe("end after")
    expect(ran).toEqual([ran[0], ran[0]])
    expect(results(log).map(({ content }) => content)).toEqual(["there", "after"])
  })

  test("waits for a tool that stops by itself, however long that takes, and keeps its call for the resume", async () => {
    const log = createMemoryLog()
    const controller = new AbortController()
    const patient = tool(
      "patient",
      async () => {
        controller.abort()
        await new Promise((resolve) => setTimeout(resolve, 30))
        return { content: "stopped", isPaused: true }
      },
      { stopsByItself: true },
    )
    const options = { prompt: "go", tools: [patient], signal: controller.signal, cancelGraceMs: 1 }
    const end = await runLoop(log, [{ toolCalls: [call("patient")] }], options)
    expect(end.outcome).toBe("cancelled")
    expect(log.state().inDoubtToolCalls).toEqual([])
    expect(lastData(log, "tool:ended")).toMatchObject({ outcome: "paused" })
  })

  test("cancels a running tool, closes every call, and can be resumed", async () => {
    const log = createMemoryLog()
    const controller = new AbortController()
    const hang = tool("hang", async (_args, { signal }) => {
      setTimeout(() => controller.abort(), 5)
      return await abortable(signal)
    })
    const answers = [{ toolCalls: [call("hang"), call("hang")] }, { content: "end" }]
    const end = await runLoop(log, answers, { prompt: "go", tools: [hang], signal: controller.signal })
    expect(end.outcome).toBe("cancelled")
    expect(results(log).map(({ content }) => content)).toEqual(["Cancelled.", "Cancelled before it began."])
    expect(log.types().slice(-2)).toEqual(["turn:ended", "run:ended"])
    expect((await runLoop(log, answers, { tools: [hang] })).answer).toBe("end")
  })

  test("leaves the call of a tool that does not stop in doubt", async () => {
    const log = createMemoryLog()
    const controller = new AbortController()
    const deaf = tool("deaf", async () => {
      controller.abort()
      return await new Promise<never>(() => undefined)
    })
    const options = { prompt: "go", tools: [deaf], signal: controller.signal, cancelGraceMs: 5 }
    const end = await runLoop(log, [{ toolCalls: [call("deaf"), call("deaf")] }], options)
    expect(end.outcome).toBe("cancelled")
    expect(log.state().inDoubtToolCalls).toHaveLength(1)
    expect(results(log)).toHaveLength(1)
  })

  test("cancels a model that does not listen", async () => {
    const log = createMemoryLog()
    const controller = new AbortController()
    const model: Model = {
      name: "deaf",
      answer: async () => {
        setTimeout(() => controller.abort(), 5)
        return await new Promise<never>(() => undefined)
      },
    }
    const end = await runLoop(log, [], { prompt: "go", model, signal: controller.signal })
    expect(end.outcome).toBe("cancelled")
    expect(lastData(log, "turn:ended")).toMatchObject({ outcome: "cancelled" })
  })

  test("was cancelled before it began", async () => {
    const log = createMemoryLog()
    const end = await runLoop(log, [{}], { prompt: "go", signal: AbortSignal.abort() })
    expect(end).toMatchObject({ outcome: "cancelled", steps: 0 })
  })

  test("a new prompt closes calls that never ran", async () => {
    const log = createMemoryLog()
    const answers = [{ toolCalls: [call("echo", { text: "a" })] }, { content: "end" }]
    let asked = 0
    await runLoop(log, answers, { prompt: "go", tools: [echo], isPauseRequested: () => ++asked > 1 })
    expect(log.state().messages.at(-1)?.role).toBe("assistant")
    await runLoop(log, answers, { prompt: "something else", tools: [echo] })
    expect(results(log)).toMatchObject([{ content: "Not finished: the user asked for something else." }])
    expect(log.types()).not.toContain("tool:started")
  })

  test("resumes a session that is already answered by saying so, without asking the model", async () => {
    const log = createMemoryLog()
    await runLoop(log, [{ content: "end" }], { prompt: "go" })
    expect(await runLoop(log, [{ content: "end" }])).toMatchObject({ outcome: "completed", steps: 0 })
  })

  test("refuses to go on with nothing, or in the middle of a restore", async () => {
    const log = createMemoryLog()
    await expect(runLoop(log, [])).rejects.toMatchObject({ code: "INVALID_INPUT", hint: "Give a prompt." })
    const history = { ...log.state(), phase: "restoring" as const }
    await expect(runLoop(log, [], { prompt: "go", history })).rejects.toMatchObject({ code: "CONFLICT" })
    await expect(runLoop(log, [], { prompt: "go", tools: [echo, echo] })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    })
    expect(log.entries).toEqual([])
  })

  test("rejects when the log does, and says nothing more", async () => {
    const log = createMemoryLog()
    log.dieAt(1, "before")
    await expect(runLoop(log, [{ content: "end" }], { prompt: "go" })).rejects.toBeInstanceOf(Died)
  })

  test("ends as failed, pairs closed, when a port fails", async () => {
    const log = createMemoryLog()
    let asked = 0
    const isPauseRequested = () => {
      if (++asked > 1) throw new Error("no answer")
      return false
    }
    const answers = [{ toolCalls: [call("echo", { text: "a" })] }, {}]
    const end = await runLoop(log, answers, { prompt: "go", tools: [echo], isPauseRequested })
    expect(end).toMatchObject({ outcome: "failed", error: { code: "INTERNAL", message: "no answer" } })
    expect(log.types().slice(-2)).toEqual(["turn:ended", "run:ended"])
  })

  test("sends the system prompt first, and keeps it out of the log", async () => {
    const log = createMemoryLog()
    let sent: readonly Message[] = []
    const model: Model = {
      name: "m",
      answer: async ({ messages }) => {
        sent = messages
        return { content: "", toolCalls: [] }
      },
    }
    await runLoop(log, [], { prompt: { content: "go", artifactIds: ["i"] }, model, systemPrompt: "Be brief." })
    expect(sent).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "go", artifactIds: ["i"] },
    ])
    expect(log.state().messages.map(({ role }) => role)).toEqual(["user", "assistant"])
  })

  test("tells progress and deltas without keeping them, in order with what is kept", async () => {
    const log = createMemoryLog()
    const chatty = tool("chatty", (_args, { onProgress }) => {
      onProgress("half")
      return { content: "x" }
    })
    await runLoop(log, [{ content: "I say so", toolCalls: [call("chatty")] }, {}], { prompt: "go", tools: [chatty] })
    const types = log.heard.map(({ type }) => type)
    expect(types.slice(3, 11)).toEqual([
      "message:delta",
      "message:delta",
      "message:delta",
      "message:added",
      "tool:started",
      "tool:progress",
      "tool:ended",
      "message:added",
    ])
    expect(log.types()).not.toContain("message:delta")
  })

  test("hands changed state over with the results it belongs to", async () => {
    const log = createMemoryLog()
    let state: Record<string, unknown> | undefined
    const write = tool("write", () => {
      state = { todo: ["a"] }
      return { content: "x" }
    })
    const takeChangedState = () => {
      const taken = state
      state = undefined
      return taken
    }
    log.dieAt(3, "after")
    await runLoop(log, [{ toolCalls: [call("write")] }, {}], { prompt: "go", tools: [write], takeChangedState }).catch(
      () => undefined,
    )
    expect(log.types().slice(-3)).toEqual(["tool:ended", "message:added", "turn:ended"])
    expect(log.kept).toEqual({ todo: ["a"] })
    expect(log.types().filter((type) => type === "tool:ended")).toHaveLength(1)
  })

  test("goes on after a crash that nobody has cleaned up", async () => {
    const log = createMemoryLog()
    log.dieAt(2, "before")
    const answers = [{ content: "end" }]
    await runLoop(log, answers, { prompt: "go" }).catch(() => undefined)
    log.revive()
    expect(log.state().phase).toBe("running")
    expect((await runLoop(log, answers)).outcome).toBe("completed")
    expect(log.types()).toContain("session:interrupted")
  })
})

describe("approval in the loop", () => {
  const rules = [{ tool: "echo", path: "secret/**", decision: "deny" as const }]
  const placed = { ...echo, targets: async (args: unknown) => [(args as { path: string }).path] }

  test("denies by rule and tells the model, without starting the tool", async () => {
    const log = createMemoryLog()
    const toolCalls = [call("echo", { path: "secret/a", text: "x" }), call("echo", { path: "b", text: "y" })]
    await runLoop(log, [{ toolCalls }, {}], { prompt: "go", tools: [placed], approval: { mode: "auto", rules } })
    expect(results(log).map(({ content }) => content)).toEqual([
      "Not allowed: the rules of this session deny echo.",
      "y",
    ])
    expect(log.types().filter((type) => type === "tool:started")).toHaveLength(1)
  })

  test("asks when everything that led to the question is in the log", async () => {
    const log = createMemoryLog()
    const asked: unknown[] = []
    const ask = async (request: { name: string; targets: readonly string[] }) => {
      asked.push([request.name, request.targets, log.types().at(-1)])
      return request.targets[0] === "a" ? { isAllowed: true } : { isAllowed: false, reason: "not today" }
    }
    const toolCalls = [call("echo", { path: "a", text: "x" }), call("echo", { path: "b", text: "y" })]
    await runLoop(log, [{ toolCalls }, {}], { prompt: "go", tools: [placed, look], approval: { mode: "ask", ask } })
    expect(asked).toEqual([
      ["echo", ["a"], "message:added"],
      ["echo", ["b"], "message:added"],
    ])
    expect(results(log).map(({ content }) => content)).toEqual(["x", "Not allowed: not today."])
  })

  test("refuses what would have to be asked when nobody is there, and lets the harmless pass", async () => {
    const log = createMemoryLog()
    const toolCalls = [call("echo", { path: "a", text: "x" }), call("look", { text: "y" })]
    await runLoop(log, [{ toolCalls }, {}], { prompt: "go", tools: [placed, look], approval: { mode: "ask" } })
    expect(results(log).map(({ content }) => content)).toEqual([
      "Not allowed: it needs approval and nobody is there to give it.",
      "y",
    ])
  })

  test("a question that fails ends the run; one that is cancelled cancels it", async () => {
    const log = createMemoryLog()
    const ask = async () => {
      throw new Error("no terminal")
    }
    const answers = [{ toolCalls: [call("echo", { path: "a", text: "x" })] }, {}]
    const end = await runLoop(log, answers, { prompt: "go", tools: [placed], approval: { mode: "ask", ask } })
    expect(end).toMatchObject({ outcome: "failed", error: { message: "no terminal" } })
    const controller = new AbortController()
    const wait = async (_request: unknown, signal: AbortSignal) => {
      setTimeout(() => controller.abort(), 1)
      return await abortable(signal)
    }
    const again = await runLoop(log, answers, {
      tools: [placed],
      approval: { mode: "ask", ask: wait },
      signal: controller.signal,
    })
    expect(again.outcome).toBe("cancelled")
    expect(results(log)).toHaveLength(1)
  })

  test("a place that can't be resolved is a result, not a question", async () => {
    const log = createMemoryLog()
    const outside = {
      ...echo,
      targets: async () => {
        throw new KeepupError("INVALID_INPUT", "outside", { hint: "stay in" })
      },
    }
    await runLoop(log, [{ toolCalls: [call("echo", {})] }, {}], { prompt: "go", tools: [outside] })
    expect(results(log)).toMatchObject([{ content: "INVALID_INPUT: outside\nstay in", isError: true }])
  })
})

test("the loop can be called with nothing but what it needs", async () => {
  const log = createMemoryLog()
  const model: Model = { name: "m", answer: async () => ({ content: "hi", toolCalls: [] }) }
  const end = await runAgentLoop({ model, tools: [], history: log.state(), emit: log.emit, clock, ids, prompt: "go" })
  expect(end.answer).toBe("hi")
})
