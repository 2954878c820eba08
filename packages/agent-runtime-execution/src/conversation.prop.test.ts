import { type Message, visibleMessages } from "@ku0/agent-runtime-core"
import fc from "fast-check"
import { expect, test } from "vitest"
import { createConversation } from "./conversation.js"

const id = fc.integer({ min: 1, max: 4 }).map(String)
const messageArbitrary: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ role: fc.constant("user" as const), content: fc.constant("u") }),
  fc.record({
    role: fc.constant("assistant" as const),
    content: fc.constantFrom("", "a"),
    toolCalls: fc
      .uniqueArray(id, { maxLength: 3 })
      .map((ids) => ids.map((one) => ({ id: one, name: "t", arguments: {} }))),
  }),
  fc.record({ role: fc.constant("tool" as const), callId: id, name: fc.constant("t"), content: fc.constant("r") }),
  fc.record({
    role: fc.constant("truncation" as const),
    content: fc.constant("t"),
    truncationId: id,
    hides: fc.record({ from: fc.integer({ min: 1, max: 20 }), to: fc.integer({ min: 1, max: 20 }) }),
  }),
)

/** What a run adds: answers with calls of their own, and results of calls that have none yet. */
function nextMessage(drawn: Message, messages: readonly Message[], number: number): Message {
  if (drawn.role === "assistant") {
    return { ...drawn, toolCalls: (drawn.toolCalls ?? []).map((call) => ({ ...call, id: `${number}-${call.id}` })) }
  }
  if (drawn.role !== "tool") return drawn
  const calls = messages.flatMap((message) => (message.role === "assistant" ? (message.toolCalls ?? []) : []))
  const results = new Set(messages.flatMap((message) => (message.role === "tool" ? [message.callId] : [])))
  const open = calls.find((call) => !results.has(call.id))
  return open === undefined ? { role: "user", content: "u" } : { ...drawn, callId: open.id }
}

test("what a model may see is what the log says, however the conversation grew", () => {
  fc.assert(
    fc.property(
      fc.array(messageArbitrary, { maxLength: 10 }),
      fc.array(fc.tuple(messageArbitrary, fc.boolean()), { maxLength: 25 }),
      (start, steps) => {
        const conversation = createConversation({ messages: start })
        for (const [number, [drawn, isAsked]] of steps.entries()) {
          conversation.add(nextMessage(drawn, conversation.messages, number))
          if (isAsked) expect(conversation.forModel()).toEqual(visibleMessages(conversation.messages))
        }
        expect(conversation.forModel()).toEqual(visibleMessages(conversation.messages))
      },
    ),
    { numRuns: 500 },
  )
})
