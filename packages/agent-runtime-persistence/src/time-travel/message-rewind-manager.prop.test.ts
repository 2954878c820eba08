import { addMessage, type Message, visibleMessages } from "@ku0/agent-runtime-core"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { MessageRewindManager } from "./message-rewind-manager.js"

const manager = new MessageRewindManager()

/** What happens next in a history: someone speaks, a tool is called or answers, something is summed up or left out. */
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("user" as const, "assistant" as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("call" as const), count: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("result" as const), of: fc.nat(5) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom("summary" as const, "truncation" as const),
      from: fc.nat(40),
      length: fc.nat(20),
    }),
  },
)

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** A history as the runtime writes it: hiders come after what they hide, and tags are set as they come. */
const histories = fc.array(step, { maxLength: 40 }).map((steps) => makeHistory(steps, true))
/** Histories of other programs, where a call may be answered twice. */
const oddHistories = fc.array(step, { maxLength: 40 }).map((steps) => makeHistory(steps, false))

function makeHistory(steps: readonly Step[], isOrderly: boolean): Message[] {
  let list: Message[] = []
  let calls = 0
  const answered = new Set<string>()
  for (const [index, one] of steps.entries()) list = addMessage(list, toMessage(one, index))
  return list

  function toMessage(one: Step, index: number): Message {
    if (one.kind === "call") {
      const toolCalls = Array.from({ length: one.count }, () => ({ id: `c${calls++}`, name: "t", arguments: {} }))
      return { role: "assistant", content: index % 2 === 0 ? "" : `m${index}`, toolCalls }
    }
    if (one.kind === "result") {
      const callId = `c${calls - 1 - one.of}`
      if (isOrderly && answered.has(callId)) return { role: "user", content: `m${index}` }
      answered.add(callId)
      return { role: "tool", callId, name: "t", content: `m${index}` }
    }
    if (!("length" in one)) return { role: one.kind, content: `m${index}` }
    const from = 1 + (one.from % Math.max(1, list.length))
    const hides = { from, to: Math.min(list.length, from + one.length) }
    if (one.kind === "summary") return { role: "summary", content: `m${index}`, summaryId: `h${index}`, hides }
    return { role: "truncation", content: `m${index}`, truncationId: `h${index}`, hides }
  }
}

const oddCuts = fc.record({
  list: oddHistories,
  index: fc.integer({ min: -3, max: 45 }),
  includeTarget: fc.boolean(),
})
const cuts = fc.record({ list: histories, index: fc.integer({ min: -3, max: 45 }), includeTarget: fc.boolean() })

describe("rewinding any history", () => {
  it("leaves every tool call with its result and every result with its call, seen and unseen", () => {
    fc.assert(
      fc.property(oddCuts, ({ list, index, includeTarget }) => {
        const { messages } = manager.rewindToIndex(list, index, { includeTarget })
        expectPaired(messages)
        expectPaired(visibleMessages(messages))
      }),
      { numRuns: 500 },
    )
  })

  it("counts exactly what is gone, and changes nothing it was given", () => {
    fc.assert(
      fc.property(oddCuts, ({ list, index, includeTarget }) => {
        const before = JSON.stringify(list)
        const result = manager.rewindToIndex(list, index, { includeTarget })
        expect(JSON.stringify(list)).toBe(before)
        expect(result.removedCount).toBe(list.length - result.messages.length)
        for (const [role, removed] of [
          ["summary", result.removedSummaries],
          ["truncation", result.removedTruncationMarkers],
        ] as const) {
          expect(removed).toBe(count(list, role) - count(result.messages, role))
        }
      }),
      { numRuns: 300 },
    )
  })

  it("is the history as it was at that time, but for calls that were waiting", () => {
    fc.assert(
      fc.property(cuts, ({ list, index }) => {
        const end = Math.max(0, Math.min(list.length, index))
        const then = list.slice(0, end).map(withoutTags).reduce<Message[]>(addMessage, [])
        const { messages } = manager.rewindToIndex(list, index)
        // a summary of nothing but calls that were waiting has lost the place it stood in
        const inAnyOrder = (some: readonly Message[]) => visibleMessages(some).map(textOf).toSorted()
        expect(inAnyOrder(messages)).toEqual(inAnyOrder(then))
      }),
      { numRuns: 500 },
    )
  })

  it("hides nothing without something in the list that hides it", () => {
    fc.assert(
      fc.property(oddCuts, ({ list, index, includeTarget }) => {
        const { messages } = manager.rewindToIndex(list, index, { includeTarget })
        const summaries = messages.flatMap((one) => (one.role === "summary" ? [one.summaryId] : []))
        const truncations = messages.flatMap((one) => (one.role === "truncation" ? [one.truncationId] : []))
        for (const { summaryParent, truncationParent } of messages) {
          if (summaryParent !== undefined) expect(summaries).toContain(summaryParent)
          if (truncationParent !== undefined) expect(truncations).toContain(truncationParent)
        }
      }),
      { numRuns: 300 },
    )
  })

  it("gives the same when it is done twice, and takes a list of visible messages as well", () => {
    fc.assert(
      fc.property(cuts, ({ list, index, includeTarget }) => {
        const once = manager.rewindToIndex(list, index, { includeTarget }).messages
        expect(manager.rewindToIndex(once, once.length).messages).toEqual(once)
        const visible = visibleMessages(list)
        const cut = manager.rewindToIndex(visible, index, { includeTarget })
        expectPaired(cut.messages)
        const end = Math.max(0, Math.min(visible.length, index + (includeTarget ? 1 : 0)))
        expect(count(cut.messages, "summary")).toBe(count(visible.slice(0, end), "summary"))
      }),
      { numRuns: 300 },
    )
  })
})

function expectPaired(messages: readonly Message[]): void {
  const open = new Set<string>()
  for (const message of messages) {
    if (message.role === "assistant") for (const { id } of message.toolCalls ?? []) open.add(id)
    if (message.role === "tool") expect(open.delete(message.callId), `result of ${message.callId}`).toBe(true)
  }
  expect([...open]).toEqual([])
}

function count(messages: readonly Message[], role: Message["role"]): number {
  return messages.filter((message) => message.role === role).length
}

function withoutTags({ summaryParent: _, truncationParent: __, ...rest }: Message): Message {
  return rest as Message
}

function textOf(message: Message): string {
  return `${message.role} ${message.content}`
}
