import { describe, expect, test } from "vitest"
import { isKeepupError } from "./errors.js"
import { createIdSource, parseId, shortId } from "./ids.js"

const hour = 3_600_000
const noon = Date.UTC(2026, 10, 15, 12)

function fill(value: number) {
  return (bytes: Uint8Array): void => {
    bytes.fill(value)
  }
}

function sourceAt(...times: number[]) {
  let call = 0
  return createIdSource({ now: () => times[Math.min(call++, times.length - 1)] as number }, fill(0xff))
}

describe("createIdSource", () => {
  test("makes UUIDs of version 7 and the RFC variant with the clock's time in front", () => {
    const id = sourceAt(noon).next()
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(Number.parseInt(id.slice(0, 13).replace("-", ""), 16)).toBe(noon)
  })

  test("is exact when clock and random bytes are handed in", () => {
    const ids = createIdSource({ now: () => 0x0123456789ab }, fill(0))
    expect([ids.next(), ids.next()]).toEqual([
      "01234567-89ab-7000-8000-000000000000",
      "01234567-89ab-7001-8000-000000000000",
    ])
  })

  test("goes on increasing when the clock is set back an hour", () => {
    const ids = sourceAt(noon, noon - hour, noon - hour + 1, noon + 1)
    const made = [ids.next(), ids.next(), ids.next(), ids.next()]
    expect(made).toEqual([...made].sort())
    expect(new Set(made).size).toBe(4)
  })

  test("borrows from the next millisecond when the counter is used up", () => {
    const ids = sourceAt(noon)
    const made = Array.from({ length: 10_000 }, () => ids.next())
    expect(made).toEqual([...made].sort())
    expect(new Set(made).size).toBe(10_000)
    expect(made.every((id) => parseId(id, "any") === id)).toBe(true)
  })

  test("starts the counter in its lower half, so that a busy millisecond has room", () => {
    expect(sourceAt(noon).next().slice(15, 18)).toBe("7ff")
  })

  test.each([
    ["before 1970", -hour],
    ["that is not a number", Number.NaN],
    ["beyond 48 bits", 2 ** 48],
    ["without end", Number.POSITIVE_INFINITY],
  ])("does not believe a clock %s", (_, time) => {
    const ids = sourceAt(time, time, noon, time, time)
    const made = Array.from({ length: 5 }, () => ids.next())
    expect(made).toEqual([...made].sort())
    for (const id of made) expect(parseId(id, "any")).toBe(id)
    expect(made[2]?.slice(0, 13)).toBe(
      noon
        .toString(16)
        .padStart(12, "0")
        .replace(/^(.{8})/, "$1-"),
    )
  })

  test("takes a clock with parts of a millisecond", () => {
    const ids = sourceAt(noon + 0.25, noon + 0.75)
    const made = [ids.next(), ids.next()]
    expect(made).toEqual([...made].sort())
    for (const id of made) expect(parseId(id, "any")).toBe(id)
  })
})

describe("parseId", () => {
  test("accepts a UUID in lower case", () => {
    expect(parseId("01234567-89ab-7000-8000-000000000000", "session")).toBe("01234567-89ab-7000-8000-000000000000")
  })

  test.each([
    ["upper case", "01234567-89AB-7000-8000-000000000000"],
    ["a short one", "01234567"],
    ["a line break after it", "01234567-89ab-7000-8000-000000000000\n"],
    ["nothing", undefined],
    ["a number", 7],
    ["a big number", 7n],
    ["a list with one in it", ["01234567-89ab-7000-8000-000000000000"]],
  ])("refuses %s and says what it was to be", (_, value) => {
    let thrown: unknown
    try {
      parseId(value, "session")
    } catch (error) {
      thrown = error
    }
    expect(isKeepupError(thrown)).toBe(true)
    expect(thrown).toMatchObject({ code: "INVALID_INPUT" })
    expect((thrown as Error).message).toMatch(/^Not a valid session id: .+\.$/)
  })
})

describe("shortId", () => {
  test("is the last eight characters", () => {
    expect(shortId("01234567-89ab-7000-8000-0000deadbeef")).toBe("deadbeef")
  })
})
