import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { sortedJson, stableCallId } from "./stable-call-id.js"

/** The same value with the keys of its objects in the opposite order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, part]) => [key, reversed(part)]),
  )
}

describe("stableCallId", () => {
  test("does not mind the order of keys, however deep", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (args) => {
        expect(stableCallId("t", reversed(args), 1, 0)).toBe(stableCallId("t", args, 1, 0))
        expect(JSON.parse(sortedJson(args))).toEqual(JSON.parse(JSON.stringify(args)))
      }),
    )
  })

  test("differs by name, arguments, turn and place", () => {
    const all = [
      stableCallId("a", { x: 1 }, 1, 0),
      stableCallId("b", { x: 1 }, 1, 0),
      stableCallId("a", { x: 2 }, 1, 0),
      stableCallId("a", { x: "1" }, 1, 0),
      stableCallId("a", { x: 1 }, 2, 0),
      stableCallId("a", { x: 1 }, 1, 1),
      stableCallId("a", [["x", 1]], 1, 0),
      stableCallId("a", undefined, 1, 0),
    ]
    expect(new Set(all).size).toBe(all.length)
  })

  test("is the same in every process, and fits every model's interface", () => {
    expect(stableCallId("write_file", { path: "a", content: "b" }, 3, 1)).toBe(
      stableCallId("write_file", { content: "b", path: "a" }, 3, 1),
    )
    expect(stableCallId("write_file", { a: 1 }, 3, 1)).toMatchInlineSnapshot(
      `"tool_write_file_3_1_f0fed3efe9d9fb41c7b683c8"`,
    )
    const odd = stableCallId("näme with/everything".repeat(9), {}, 123_456, 99)
    expect(odd).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
  })

  test("takes what JSON can't say for nothing", () => {
    expect(sortedJson(undefined)).toBe("null")
    expect(sortedJson({ b: undefined, a: [undefined] })).toBe('{"a":[null]}')
  })
})
