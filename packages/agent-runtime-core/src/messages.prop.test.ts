import fc from "fast-check"
import { expect, test } from "vitest"
import { addMessage, type Message, visibleMessages } from "./messages.js"

/** Few call ids, so that they collide, are answered twice, too early, or never. */
const callId = fc.constantFrom("c1", "c2", "c3", "c4")
const index = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: -1, max: 25 }) },
  { weight: 1, arbitrary: fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2.5) },
)
const range = fc.record({ from: index, to: index })
const content = fc.constantFrom("", "text")

const said: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ role: fc.constant("user" as const), content }),
  fc.record({ role: fc.constant("system" as const), content }),
  fc.record({ role: fc.constant("assistant" as const), content }),
  fc.record({
    role: fc.constant("assistant" as const),
    content,
    toolCalls: fc.array(
      callId.map((id) => ({ id, name: "read", arguments: {} })),
      { maxLength: 3 },
    ),
  }),
  fc.record({ role: fc.constant("tool" as const), callId, name: fc.constant("read"), content }),
)
const hider: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ role: fc.constant("summary" as const), content, summaryId: fc.constant(""), hides: range }),
  fc.record({ role: fc.constant("truncation" as const), content, truncationId: fc.constant(""), hides: range }),
)

/** A session as it was said: every summary and truncation has an id of its own. */
const saidList = fc
  .array(fc.oneof({ weight: 4, arbitrary: said }, { weight: 1, arbitrary: hider }), { maxLength: 30 })
  .map((messages) =>
    messages.map((message, position): Message => {
      if (message.role === "summary") return { ...message, summaryId: `S${position}` }
      return message.role === "truncation" ? { ...message, truncationId: `T${position}` } : message
    }),
  )

const foreignTag = fc.constantFrom("S0", "S3", "T1", "gone")

/** Any list at all: tags that no fold made, ids used twice. */
const anyList = fc.array(
  fc
    .tuple(
      fc.oneof(said, hider),
      fc.record({ summaryParent: foreignTag, truncationParent: foreignTag }, { requiredKeys: [] }),
      fc.constantFrom("S0", "S3", "T1"),
    )
    .map(([message, tags, id]): Message => {
      if (message.role === "summary") return { ...message, ...tags, summaryId: id }
      return message.role === "truncation" ? { ...message, ...tags, truncationId: id } : { ...message, ...tags }
    }),
  { maxLength: 30 },
)

function fold(messages: readonly Message[]): Message[] {
  return messages.reduce<Message[]>(addMessage, [])
}

function withoutTags(messages: readonly Message[]): unknown[] {
  return messages.map(({ summaryParent: _s, truncationParent: _t, ...message }) => message)
}

/** Law 11: every call has exactly one result, after it and before the next call of that id; every result has its call. */
function expectPaired(messages: readonly Message[]): void {
  const open = new Set<string>()
  for (const message of messages) {
    if (message.role === "assistant") {
      for (const call of message.toolCalls ?? []) {
        expect(open.has(call.id)).toBe(false)
        open.add(call.id)
      }
    } else if (message.role === "tool") expect(open.delete(message.callId)).toBe(true)
  }
  expect([...open]).toEqual([])
}

test("after a cut at any place, every visible call has its result and every result its call", () => {
  fc.assert(
    fc.property(saidList, (messages) => {
      const folded = fold(messages)
      for (let cut = 0; cut <= folded.length; cut++) expectPaired(visibleMessages(folded.slice(0, cut)))
    }),
  )
})

test("cutting the tagged list shows the same as never having said the rest", () => {
  fc.assert(
    fc.property(saidList, (messages) => {
      const folded = fold(messages)
      for (let cut = 0; cut <= messages.length; cut++) {
        const wasCut = visibleMessages(folded.slice(0, cut))
        expect(withoutTags(wasCut)).toEqual(withoutTags(visibleMessages(fold(messages.slice(0, cut)))))
      }
    }),
  )
})

test("going on after a cut is the same as having said it that way", () => {
  fc.assert(
    fc.property(saidList, saidList, fc.nat(30), (messages, more, cut) => {
      const goOn = more.map((message): Message => {
        if (message.role === "summary") return { ...message, summaryId: `later ${message.summaryId}` }
        return message.role === "truncation" ? { ...message, truncationId: `later ${message.truncationId}` } : message
      })
      const afterCut = goOn.reduce<Message[]>(addMessage, fold(messages).slice(0, cut))
      const straight = fold([...messages.slice(0, cut), ...goOn])
      expect(withoutTags(visibleMessages(afterCut))).toEqual(withoutTags(visibleMessages(straight)))
    }),
  )
})

test("a message is hidden only while a summary or truncation after it has it in its range", () => {
  fc.assert(
    fc.property(saidList, (messages) => {
      const unpaired = messages.map(
        (message): Message => (message.role === "tool" ? { role: "user", content: message.content } : message),
      )
      const numbered = unpaired.map((message, position): Message => {
        if (message.role === "assistant") return { role: "assistant", content: String(position) }
        return { ...message, content: String(position) }
      })
      const visible = new Set(visibleMessages(fold(numbered)).map((message) => message.content))
      numbered.forEach((message, position) => {
        const isCovered = numbered.some((other, at) => {
          if (other.role !== "summary" && other.role !== "truncation") return false
          return at > position && other.hides.from <= position + 1 && position + 1 <= other.hides.to
        })
        expect(visible.has(message.content)).toBe(!isCovered)
      })
    }),
  )
})

test("what is said keeps its order, and nothing is shown twice", () => {
  fc.assert(
    fc.property(saidList, (messages) => {
      const numbered = messages.map((message, position): Message => ({ ...message, content: String(position) }))
      const visible = visibleMessages(fold(numbered))
      const places = visible
        .filter((message) => message.role !== "summary" && message.role !== "truncation")
        .map((message) => Number(message.content))
      expect(places).toEqual([...places].sort((a, b) => a - b))
      expect(new Set(visible.map((message) => message.content)).size).toBe(visible.length)
    }),
  )
})

test("over any list with any tags it never throws, is paired, and changes nothing it was given", () => {
  fc.assert(
    fc.property(anyList, (messages) => {
      const copy = structuredClone(messages)
      expectPaired(visibleMessages(messages))
      expectPaired(visibleMessages(fold(messages)))
      expect(messages).toEqual(copy)
    }),
    { numRuns: 300 },
  )
})

test("twice is the same as once over a folded list", () => {
  fc.assert(
    fc.property(saidList, (messages) => {
      const once = visibleMessages(fold(messages))
      expect(visibleMessages(once)).toEqual(once)
    }),
    { numRuns: 300 },
  )
})
