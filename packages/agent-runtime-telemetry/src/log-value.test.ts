import { KeepupError } from "@ku0/agent-runtime-core"
import { describe, expect, it } from "vitest"
import { toLogValue } from "./log-value.js"

describe("toLogValue", () => {
  it("keeps what JSON can say", () => {
    const value = { text: "a", number: 1.5, yes: true, nothing: null, list: [1, { deep: "b" }] }
    expect(toLogValue(value)).toEqual(value)
  })

  it("says in short what JSON cannot", () => {
    expect(
      toLogValue({
        gone: undefined,
        big: 10n,
        infinite: Number.POSITIVE_INFINITY,
        call: () => "source code",
        mark: Symbol("x"),
        bytes: new Uint8Array(3),
        date: new Date(0),
        noDate: new Date(Number.NaN),
        map: new Map([[1, "one"]]),
        set: new Set(["a"]),
        list: [undefined],
      }),
    ).toEqual({
      big: "10",
      infinite: "Infinity",
      call: "[function]",
      mark: "Symbol(x)",
      bytes: "[3 bytes]",
      date: "1970-01-01T00:00:00.000Z",
      noDate: "[invalid date]",
      map: { "1": "one" },
      set: ["a"],
      list: ["undefined"],
    })
  })

  it("keeps code, message and cause of an error, and no stack", () => {
    const system = Object.assign(new TypeError("no space"), { code: "ENOSPC" })
    expect(toLogValue(new KeepupError("UNAVAILABLE", "Cannot write.", { cause: system }))).toEqual({
      name: "KeepupError",
      code: "UNAVAILABLE",
      message: "Cannot write.",
      cause: { name: "TypeError", code: "ENOSPC", message: "no space" },
    })
    expect(toLogValue(new Error("plain"))).toEqual({ name: "Error", message: "plain" })
  })

  it("survives cycles, throwing getters and huge values", () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    expect(JSON.stringify(toLogValue(cycle))).toContain("[nested]")
    const trap = {
      get boom(): never {
        throw new RangeError("no")
      },
    }
    expect(toLogValue({ trap })).toEqual({ trap: "[unreadable: RangeError]" })
    const thrower = {
      get boom(): never {
        throw "text"
      },
    }
    expect(toLogValue(thrower)).toBe("[unreadable: string]")
    expect(toLogValue("x".repeat(10_000))).toBe(`${"x".repeat(8192)}[1808 more]`)
    expect(toLogValue(Array.from({ length: 102 }, () => 0))).toHaveLength(101)
  })
})
