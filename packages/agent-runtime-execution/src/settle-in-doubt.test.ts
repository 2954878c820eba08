import type { Tool } from "@ku0/agent-runtime-core"
import { describe, expect, test } from "vitest"
import { call, runLoop, tool } from "../test/make-loop.js"
import { createMemoryLog, type MemoryLog } from "../test/memory-log.js"
import type { InDoubtCall, InDoubtChoice } from "./settle-in-doubt.js"

const answers = [{ toolCalls: [call("write", { text: "a" }), call("write", { text: "b" })] }, { content: "end" }]

/** A log whose process died after the first effect, before its result was kept. */
async function crash(effects: string[], more: Partial<Tool> = {}): Promise<{ log: MemoryLog; write: Tool }> {
  const log = createMemoryLog()
  const write = tool(
    "write",
    ({ text }: { text: string }) => {
      effects.push(text)
      return { content: text }
    },
    more,
  )
  log.dieAt(3, "before")
  await runLoop(log, answers, { prompt: "go", tools: [write] }).catch(() => undefined)
  log.revive()
  expect(log.state().openToolCalls[0]).toMatchObject({ name: "write", arguments: { text: "a" } })
  return { log, write }
}

const results = (log: MemoryLog) => log.state().messages.flatMap((one) => (one.role === "tool" ? [one.content] : []))

describe("a call in doubt", () => {
  test("stops the resume by default and is shown with what is known", async () => {
    const effects: string[] = []
    const { log, write } = await crash(effects, {
      readFacts: async () => ({ count: effects.length }),
      inspect: async (_args, callId) => ({ summary: `Looked for ${callId.slice(0, 10)}.`, isApplied: true }),
    })
    const started = log.entries.find(({ type }) => type === "tool:started")?.data as { facts: Record<string, unknown> }
    expect(started.facts).toEqual({ count: 0 })
    const end = await runLoop(log, answers, { tools: [write], findStartFacts: async () => started.facts })
    expect(end.outcome).toBe("in-doubt")
    const known = {
      summary: "Looked for tool_write. What it works on changed since it began.",
      isApplied: true,
      isChanged: true,
    }
    expect(end.inDoubt).toMatchObject([{ name: "write", arguments: { text: "a" }, hasEffects: true, known }])
    expect(log.entries.at(-1)).toMatchObject({ type: "tool:in-doubt", data: { known } })
    expect(effects).toEqual(["a"])
  })

  test("says so when what it works on did not change", async () => {
    const { log, write } = await crash([], { readFacts: async () => ({}) })
    const end = await runLoop(log, answers, { tools: [write], findStartFacts: async () => ({}) })
    expect(end.inDoubt?.[0]?.known).toEqual({
      summary: "Whether it took effect is not known. What it works on did not change since it began.",
      isChanged: false,
    })
  })

  test.each([
    ["skip", "skipped", "completed", ["a", "b"], /Whether .* not known\. It was not repeated\.$/],
    ["done", "ok", "completed", ["a", "b"], /The user says it is done\.$/],
    ["fail", "error", "failed", ["a"], /counts as failed and was not repeated\.$/],
    ["retry", "ok", "completed", ["a", "a", "b"], /^a$/],
  ] as const)("by choice %s ends as %s, and the run as %s", async (choice, outcome, end, all, said) => {
    const effects: string[] = []
    const { log, write } = await crash(effects)
    const result = await runLoop(log, answers, { tools: [write], inDoubt: () => choice })
    expect(result.outcome).toBe(end)
    expect(effects).toEqual(all)
    expect(results(log)[0]).toMatch(said)
    expect(results(log)).toHaveLength(2)
    const ended = log.entries.find(({ type }) => type === "tool:ended")?.data
    expect(ended).toMatchObject({ outcome, ...(choice === "retry" ? {} : { choice }) })
    const starts = log.entries.filter(({ type }) => type === "tool:started").map(({ data }) => data)
    if (choice === "retry") expect(starts[1]).toMatchObject({ choice: "retry" })
    expect(log.state()).toMatchObject({ inDoubtToolCalls: [], openToolCalls: [] })
  })

  test.each(["skip", "retry", "fail"] as const)("is settled by policy %s when nobody is there", async (policy) => {
    const { log, write } = await crash([])
    await runLoop(log, answers, { tools: [write], inDoubt: policy })
    expect(log.state().inDoubtToolCalls).toEqual([])
  })

  test("after a failed one the next run goes on with what the model now knows", async () => {
    const { log, write } = await crash([])
    await runLoop(log, answers, { tools: [write], inDoubt: "fail" })
    expect((await runLoop(log, answers, { tools: [write] })).answer).toBe("end")
  })

  test("of a tool without effects is tried again, and the log says so", async () => {
    const { log } = await crash([], { hasEffects: false })
    const write = tool("write", () => ({ content: "again" }), { hasEffects: false })
    expect((await runLoop(log, answers, { tools: [write] })).outcome).toBe("completed")
    expect(log.types()).toContain("tool:in-doubt")
    expect(results(log)).toEqual(["again", "again"])
  })

  test("of a tool that is gone, or can't look, is still asked about", async () => {
    const { log } = await crash([])
    const gone = await runLoop(log, answers, { tools: [] })
    expect(gone.inDoubt).toMatchObject([
      { hasEffects: true, known: { summary: expect.stringContaining("not there any more") } },
    ])
    const blind = tool("write", () => ({ content: "" }), {
      inspect: async () => {
        throw new Error("no eyes")
      },
    })
    const end = await runLoop(log, answers, { tools: [blind] })
    expect(end.inDoubt?.[0]?.known.summary).toBe("It could not be found out whether it took effect.")
    expect(log.types().filter((type) => type === "tool:in-doubt")).toHaveLength(1)
  })

  test("is asked about by the name of what it is, before anything runs", async () => {
    const effects: string[] = []
    const { log, write } = await crash(effects)
    const asked: InDoubtCall[] = []
    const choose = async (one: InDoubtCall): Promise<InDoubtChoice> => {
      asked.push(one)
      return "stop"
    }
    expect((await runLoop(log, answers, { tools: [write], inDoubt: choose })).outcome).toBe("in-doubt")
    expect(asked).toMatchObject([{ name: "write" }])
    const refuse = () => {
      throw new Error("hung up")
    }
    await expect(runLoop(log, answers, { tools: [write], inDoubt: refuse })).rejects.toThrow("hung up")
    expect(effects).toEqual(["a"])
  })

  test("is not run again when the user wants something else, whatever was chosen", async () => {
    const effects: string[] = []
    const { log, write } = await crash(effects)
    await runLoop(log, answers, { prompt: "leave it", tools: [write], inDoubt: "retry" })
    expect(effects).toEqual(["a"])
    expect(results(log)).toEqual([
      expect.stringContaining("It was not repeated."),
      "Not finished: the user asked for something else.",
    ])
  })

  test("that no message asks for ends without a message", async () => {
    const log = createMemoryLog()
    await log.emit([{ type: "message:added", data: { message: { role: "user", content: "hi" } } }])
    await log.emit([{ type: "tool:started", data: { callId: "theirs", name: "Bash", arguments: {} } }])
    await runLoop(log, [{ content: "end" }], { inDoubt: "skip" })
    expect(log.state()).toMatchObject({ openToolCalls: [], inDoubtToolCalls: [] })
    expect(results(log)).toEqual([])
  })

  test("of an older answer gets its message too", async () => {
    const { log, write } = await crash([])
    await log.emit([{ type: "message:added", data: { message: { role: "assistant", content: "by someone else" } } }])
    await runLoop(log, answers, { tools: [write], inDoubt: "retry" })
    expect(results(log)).toEqual([expect.stringContaining("It was not repeated.")])
  })

  test("whose targets could not be looked at when it began is run all the same", async () => {
    const log = createMemoryLog()
    const readFacts = () => Promise.reject(new Error("no eyes"))
    const write = tool("write", () => ({ content: "ok" }), { readFacts })
    await runLoop(log, answers, { prompt: "go", tools: [write] })
    expect(results(log)).toEqual(["ok", "ok"])
  })

  test("is closed all the same when the run is cancelled before it is tried again", async () => {
    const effects: string[] = []
    const { log, write } = await crash(effects)
    const end = await runLoop(log, answers, { tools: [write], inDoubt: "retry", signal: AbortSignal.abort() })
    expect(end.outcome).toBe("cancelled")
    expect(results(log)).toHaveLength(2)
    expect(effects).toEqual(["a"])
  })
})
