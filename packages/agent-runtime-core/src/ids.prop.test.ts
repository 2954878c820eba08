import fc from "fast-check"
import { expect, test } from "vitest"
import { createIdSource } from "./ids.js"

const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const jump = fc.oneof(
  fc.constant(0),
  fc.integer({ min: -3_600_000, max: 3_600_000 }),
  fc.integer({ min: 0, max: 2 }),
  fc.double({ min: -10, max: 10, noNaN: true }),
)

test("ids of one source strictly increase whatever the clock does", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 2 ** 42 }),
      fc.array(jump, { maxLength: 200 }),
      fc.infiniteStream(fc.nat(255)),
      (start, jumps, random) => {
        let now = start
        const ids = createIdSource({ now: () => now }, (bytes) => {
          for (let i = 0; i < bytes.length; i++) bytes[i] = random.next().value as number
        })
        let last = ""
        for (const step of jumps) {
          now += step
          const id = ids.next()
          expect(id).toMatch(shape)
          expect(id > last).toBe(true)
          last = id
        }
      },
    ),
  )
})
