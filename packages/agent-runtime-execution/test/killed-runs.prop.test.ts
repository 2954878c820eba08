/** Law 8 over random programs: killed at any emit, any number of times, every completed effect is there exactly once. */
import { type EventData, pairToolCalls, type Tool, visibleMessages } from "@ku0/agent-runtime-core"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { ScriptedAnswer } from "../src/index.js"
import { call, runLoop, tool } from "./make-loop.js"
import { createMemoryLog, Died, type MemoryLog } from "./memory-log.js"

const callArbitrary = fc.record({
  name: fc.constantFrom("append", "append", "look", "break", "missing"),
  value: fc.integer({ min: 0, max: 2 }),
})
const programArbitrary = fc.array(fc.array(callArbitrary, { minLength: 1, maxLength: 4 }), {
  minLength: 1,
  maxLength: 5,
})
const deathArbitrary = fc.record({
  at: fc.integer({ min: 0, max: 14 }),
  when: fc.constantFrom("before" as const, "after" as const),
})
const policyArbitrary = fc.constantFrom("skip" as const, "retry" as const, "done" as const)

function toAnswers(program: readonly (readonly { name: string; value: number }[])[]): ScriptedAnswer[] {
  const turns = program.map((calls) => ({ toolCalls: calls.map(({ name, value }) => call(name, { value })) }))
  return [...turns, { content: "done" }]
}

/** Effects by call id, in the order they happened; as a file would, they survive the process. */
function createTools(effects: string[]): Tool[] {
  return [
    tool("append", (_args, { callId }) => {
      effects.push(callId)
      return { content: "appended" }
    }),
    tool("break", (_args, { callId }) => {
      effects.push(callId)
      throw new Error("broken")
    }),
    tool("look", () => ({ content: `${effects.length}` }), { hasEffects: false }),
  ]
}

const dataOf = (log: MemoryLog, type: string) =>
  log.entries.filter((entry) => entry.type === type).map(({ data }) => data as EventData<"tool:ended">)

describe("a killed run", () => {
  test("has every completed effect exactly once, and repeats nothing it was not told to", async () => {
    await fc.assert(
      fc.asyncProperty(
        programArbitrary,
        fc.array(deathArbitrary, { maxLength: 4 }),
        policyArbitrary,
        async (program, deaths, policy) => {
          const log = createMemoryLog()
          const effects: string[] = []
          const answers = toAnswers(program)
          const start = (prompt: string | undefined) =>
            runLoop(log, answers, {
              ...(prompt === undefined ? {} : { prompt }),
              tools: createTools(effects),
              inDoubt: () => policy,
            })
          for (const { at, when } of deaths) {
            log.dieAt(at, when)
            const isNew = log.state().messages.length === 0
            await start(isNew ? "go" : undefined).catch((error) => {
              if (!(error instanceof Died)) throw error
            })
            log.revive()
          }
          const end = await start(log.state().messages.length === 0 ? "go" : undefined)
          expect(end.outcome).toBe("completed")
          checkEffects(log, effects)
          checkLog(log, program)
        },
      ),
      { numRuns: 300 },
    )
  })

  test("stops and asks by default, and runs nothing meanwhile", async () => {
    await fc.assert(
      fc.asyncProperty(programArbitrary, deathArbitrary, async (program, { at, when }) => {
        const log = createMemoryLog()
        const effects: string[] = []
        const tools = createTools(effects)
        log.dieAt(at, when)
        await runLoop(log, toAnswers(program), { prompt: "go", tools }).catch(() => undefined)
        log.revive()
        const { openToolCalls, messages } = log.state()
        if (messages.length === 0 || !openToolCalls.some(({ name }) => name !== "look")) return
        const before = [...effects]
        const end = await runLoop(log, toAnswers(program), { tools })
        expect(end.outcome).toBe("in-doubt")
        expect(end.inDoubt?.map(({ callId }) => callId)).toEqual(openToolCalls.map(({ id }) => id))
        expect(effects).toEqual(before)
        expect(log.state().inDoubtToolCalls.map(({ id }) => id)).toEqual(openToolCalls.map(({ id }) => id))
        expect((await runLoop(log, toAnswers(program), { tools })).outcome).toBe("in-doubt")
      }),
      { numRuns: 150 },
    )
  })
})

function checkEffects(log: MemoryLog, effects: readonly string[]): void {
  const started = dataOf(log, "tool:started").map(({ callId }) => callId)
  for (const { callId, name, choice } of dataOf(log, "tool:ended")) {
    if (name === "missing" || name === "look") continue
    const times = effects.filter((one) => one === callId).length
    const starts = started.filter((one) => one === callId).length
    expect(times).toBeLessThanOrEqual(starts)
    if (choice === undefined && starts === 1) expect(times).toBe(1)
    else expect(times).toBeGreaterThanOrEqual(choice === undefined ? 1 : 0)
  }
}

/** Every pair is closed, results keep the order of their calls, and what a model may see is all of it. */
function checkLog(log: MemoryLog, program: readonly (readonly { name: string }[])[]): void {
  const { messages, openToolCalls, inDoubtToolCalls, phase } = log.state()
  expect({ openToolCalls, inDoubtToolCalls, phase }).toEqual({ openToolCalls: [], inDoubtToolCalls: [], phase: "idle" })
  const calls = messages.flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []))
  expect(calls.map(({ name }) => name)).toEqual(program.flat().map(({ name }) => name))
  expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length)
  expect(messages.flatMap((message) => (message.role === "tool" ? [message.callId] : []))).toEqual(
    calls.map(({ id }) => id),
  )
  expect(visibleMessages(messages)).toEqual(messages)
  expect(pairToolCalls(messages)).toEqual(messages)
}
