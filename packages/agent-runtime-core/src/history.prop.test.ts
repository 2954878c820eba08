import fc from "fast-check"
import { expect, test } from "vitest"
import { createHistoryFold, foldHistory, messagesForModel } from "./history.js"
import type { SessionId } from "./ids.js"
import { visibleMessages } from "./messages.js"
import { phaseEvents } from "./phase.js"
import type { Entry } from "./session.js"

const callId = fc.constantFrom("c1", "c2", "c3")
const key = fc.constantFrom("plan", "task", "__proto__", "constructor", "")
const range = fc.record({ from: fc.integer({ min: 0, max: 20 }), to: fc.integer({ min: 0, max: 20 }) })
const content = fc.string({ maxLength: 5 })

/** An object as JSON makes it: a key called __proto__ is a key like any other. */
const hashes = fc
  .array(fc.tuple(key, fc.constantFrom("h1", "h2", "h3")), { maxLength: 3 })
  .map((pairs) => JSON.parse(`{${pairs.map(([name, hash]) => `${JSON.stringify(name)}:"${hash}"`).join(",")}}`))

const message = fc.oneof(
  fc.record({ role: fc.constantFrom("user", "system"), content }),
  fc.record({
    role: fc.constant("assistant"),
    content,
    toolCalls: fc.array(fc.record({ id: callId, name: fc.constant("read"), arguments: fc.constant(null) }), {
      maxLength: 2,
    }),
  }),
  fc.record({ role: fc.constant("tool"), callId, name: fc.constant("read"), content }),
  fc.record({ role: fc.constant("summary"), content, summaryId: fc.uuid(), hides: range }),
  fc.record({ role: fc.constant("truncation"), content, truncationId: fc.uuid(), hides: range }),
)

const fact: fc.Arbitrary<[string, unknown]> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant("message:added"), fc.record({ message })) },
  fc.tuple(
    fc.constant("state:changed"),
    fc.record({ full: fc.boolean(), set: hashes, removed: fc.array(key, { maxLength: 2 }) }),
  ),
  fc.tuple(
    fc.constantFrom("tool:started", "tool:ended", "tool:in-doubt"),
    fc.record({ callId, name: fc.constant("read"), arguments: fc.constant({}) }),
  ),
  fc.tuple(fc.constantFrom(...phaseEvents, "weather:changed"), fc.constant({})),
)

const history: fc.Arbitrary<Entry[]> = fc.array(fc.tuple(fact, fc.nat(9)), { maxLength: 40 }).map((facts) =>
  facts.map(([[type, data], chance], index) => ({
    sessionId: "s" as SessionId,
    seq: index + 1,
    type,
    version: 1,
    data,
    createdAt: 0,
    messageIndex: 0,
    parent: chance === 0 ? { sessionId: "p" as SessionId, seq: 1 } : null,
  })),
)

function freeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(freeze)
  }
  return value
}

test("folding the same log gives the same state, also from a copy that went through JSON", () => {
  fc.assert(
    fc.property(history, (entries) => {
      const state = foldHistory(entries)
      expect(foldHistory(entries)).toStrictEqual(state)
      expect(JSON.stringify(foldHistory(JSON.parse(JSON.stringify(entries))))).toBe(JSON.stringify(state))
    }),
  )
})

test("folding in pages gives the same as folding at once, and looking in between changes nothing", () => {
  fc.assert(
    fc.property(history, fc.infiniteStream(fc.boolean()), (entries, looks) => {
      const fold = createHistoryFold()
      for (const entry of entries) {
        fold.add(entry)
        if (looks.next().value) fold.state()
      }
      expect(fold.state()).toStrictEqual(foldHistory(entries))
    }),
  )
})

test("every prefix of a history folds to what the fold said at that entry", () => {
  fc.assert(
    fc.property(history, (entries) => {
      const fold = createHistoryFold()
      const states = entries.map((entry) => {
        fold.add(entry)
        return fold.state()
      })
      states.forEach((state, index) => {
        expect(state).toStrictEqual(foldHistory(entries.slice(0, index + 1)))
      })
    }),
  )
})

test("folding does not touch the entries", () => {
  fc.assert(
    fc.property(history, (entries) => {
      const before = JSON.stringify(entries)
      const state = foldHistory(freeze(entries))
      messagesForModel(freeze(state))
      expect(JSON.stringify(entries)).toBe(before)
    }),
  )
})

test("cutting the messages of a history shows the same as cutting the history", () => {
  fc.assert(
    fc.property(history, (entries) => {
      const all = foldHistory(entries).messages
      const untagged = (messages: readonly object[]) =>
        messages.map((one) => ({ ...one, summaryParent: undefined, truncationParent: undefined }))
      for (let cut = 0; cut <= entries.length; cut++) {
        const state = foldHistory(entries.slice(0, cut))
        const shown = visibleMessages(all.slice(0, state.messages.length))
        expect(untagged(shown)).toEqual(untagged(messagesForModel(state)))
      }
    }),
  )
})

test("a call is open or in doubt, never both, and only if it was started or doubted last", () => {
  fc.assert(
    fc.property(history, (entries) => {
      const last = new Map<string, string>()
      for (const { type, data } of entries) {
        if (type.startsWith("tool:")) last.set((data as { callId: string }).callId, type)
      }
      const state = foldHistory(entries)
      const idsWith = (type: string) => [...last].filter(([, one]) => one === type).map(([id]) => id)
      expect(state.openToolCalls.map((call) => call.id).sort()).toEqual(idsWith("tool:started").sort())
      expect(state.inDoubtToolCalls.map((call) => call.id).sort()).toEqual(idsWith("tool:in-doubt").sort())
    }),
  )
})
