import { describe, expect, test } from "vitest"
import { describeValue } from "./describe-value.js"

describe("describeValue", () => {
  test("shows plain values as JSON", () => {
    expect(describeValue("a\nb")).toBe('"a\\nb"')
    expect(describeValue({ a: 1 })).toBe('{"a":1}')
    expect(describeValue(undefined)).toBe("undefined")
    expect(describeValue(Symbol("s"))).toBe("Symbol(s)")
  })

  test("shows what JSON cannot hold without throwing", () => {
    const circle: { self?: unknown } = Object.create(null)
    circle.self = circle
    expect(describeValue(12n)).toBe("12")
    expect(describeValue(circle)).toBe("an object")
    expect(
      describeValue({
        toJSON() {
          throw new Error("no")
        },
      }),
    ).toBe("an object")
  })

  test("cuts long values", () => {
    expect(describeValue("x".repeat(1_000))).toHaveLength(80)
  })
})
