import { expect, it } from "vitest"
import { dateTime, length, relativeTime } from "./time.js"

const now = new Date(2026, 2, 10, 12, 0, 0).getTime()

it.each([
  [0, "just now"],
  [9_999, "just now"],
  [59_000, "59 s ago"],
  [61_000, "1 min ago"],
  [59 * 60_000, "59 min ago"],
  [5 * 3_600_000, "5 h ago"],
  [30 * 3_600_000, "yesterday"],
  [3 * 86_400_000, "3 days ago"],
  [20 * 86_400_000, "2026-02-18"],
  [-5_000, "just now"],
  [-600_000, "2026-03-10 12:10:00"],
])("%i ms before now is %s", (age, text) => expect(relativeTime(now - age, now)).toBe(text))

it("writes times and lengths", () => {
  expect(dateTime(now)).toBe("2026-03-10 12:00:00")
  expect([12, 1_250, 25_000, 200_000, 7_500_000].map(length)).toEqual([
    "12 ms",
    "1.3 s",
    "25 s",
    "3 min 20 s",
    "2 h 5 min",
  ])
})
