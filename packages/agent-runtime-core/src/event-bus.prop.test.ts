import fc from "fast-check"
import { expect, test } from "vitest"
import { createEventBus } from "./event-bus.js"
import type { SessionId } from "./ids.js"

const type = fc.constantFrom("a:one", "a:two", "b:one", "message:delta")
const pattern = fc.constantFrom("*", "a:*", "b.*", "a:one", "message.delta")

function matches(wanted: string, heard: string): boolean {
  const [subject, fact] = wanted.replace(".", ":").split(":")
  return subject === "*" || (heard.startsWith(`${subject}:`) && (fact === "*" || heard.endsWith(`:${fact}`)))
}

test("whatever the pace, every listener hears what it asked for, once and in the order of the log", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(type, { maxLength: 12 }),
      fc.array(fc.record({ pattern, isSlow: fc.boolean(), fails: fc.boolean() }), { maxLength: 4 }),
      async (scheduler, types, listeners) => {
        const log: number[] = []
        let failed = 0
        const bus = createEventBus({
          record: async (events) => {
            await scheduler.schedule(Promise.resolve(), "record")
            return events.map(({ type, data }) => {
              log.push(data as number)
              const seq = log.length
              const sessionId = "s" as SessionId
              return { sessionId, seq, type, version: 1, data, createdAt: 0, messageIndex: 0, parent: null }
            })
          },
          onListenerError: () => {
            failed++
          },
        })
        const heard = listeners.map((): number[] => [])
        listeners.forEach((listener, index) => {
          bus.on(listener.pattern, async (event) => {
            const isDurable = event.type !== "message:delta"
            expect(log.includes(event.data as number)).toBe(isDurable)
            heard[index]?.push(event.data as number)
            if (listener.isSlow) await scheduler.schedule(Promise.resolve(), "hear")
            if (listener.fails) throw new Error("broken")
          })
        })
        const emits = types.map((one, number) => bus.emit(one as string, number))
        await scheduler.waitFor(Promise.all(emits).then(() => bus.flush()))
        const numbers = types.map((one, number) => ({ one, number }))
        expect(log).toEqual(numbers.filter(({ one }) => one !== "message:delta").map(({ number }) => number))
        const expected = listeners.map((listener) =>
          numbers.filter(({ one }) => matches(listener.pattern, one)).map(({ number }) => number),
        )
        expect(heard).toEqual(expected)
        const expectedFailures = expected.filter((_, index) => listeners[index]?.fails).flat().length
        expect(failed).toBe(expectedFailures)
      },
    ),
  )
})
