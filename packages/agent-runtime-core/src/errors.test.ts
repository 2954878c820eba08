import { describe, expect, test, vi } from "vitest"
import { errorCodes, errorToJson, isKeepupError, KeepupError, toKeepupError } from "./errors.js"

describe("errorCodes", () => {
  test("is the table of the contract: code, exit code, HTTP status", () => {
    expect(Object.entries(errorCodes).map(([code, { exit, http }]) => [code, exit, http])).toEqual([
      ["INTERNAL", 1, 500],
      ["INVALID_INPUT", 2, 400],
      ["NOT_FOUND", 3, 404],
      ["SESSION_RUNNING", 4, 409],
      ["CONFLICT", 5, 409],
      ["CORRUPT", 6, 500],
      ["STORE_TOO_NEW", 7, 500],
      ["UNAVAILABLE", 8, 503],
      ["UNAUTHORIZED", 9, 401],
      ["CANCELLED", 130, 499],
    ])
  })

  test("says that only what can change by itself may be tried again", () => {
    const retryable = Object.entries(errorCodes).filter(([, facts]) => facts.retryable)
    expect(retryable.map(([code]) => code)).toEqual(["SESSION_RUNNING", "CONFLICT", "UNAVAILABLE"])
  })
})

describe("KeepupError", () => {
  test("carries code, message, hint, details and cause", () => {
    const cause = new Error("disk")
    const error = new KeepupError("UNAVAILABLE", "No room.", { hint: "Free some.", details: { free: 0 }, cause })
    expect(error).toBeInstanceOf(Error)
    expect(error.name).toBe("KeepupError")
    expect(error).toMatchObject({ code: "UNAVAILABLE", message: "No room.", hint: "Free some.", details: { free: 0 } })
    expect(error.cause).toBe(cause)
  })

  test("has no cause key when there was no cause", () => {
    expect("cause" in new KeepupError("CONFLICT", "Changed.")).toBe(false)
  })
})

describe("isKeepupError", () => {
  test("recognises an error of another copy of this package", async () => {
    vi.resetModules()
    const other = await import("./errors.js")
    const error = new other.KeepupError("NOT_FOUND", "Gone.")
    expect(other.KeepupError).not.toBe(KeepupError)
    expect(error).not.toBeInstanceOf(KeepupError)
    expect(isKeepupError(error)).toBe(true)
    expect(toKeepupError(error)).toBe(error)
  })

  test.each([[new Error("x")], [{ code: "CONFLICT", message: "x" }], ["CONFLICT"], [null], [undefined], [() => 1]])(
    "does not take %o for one",
    (value) => {
      expect(isKeepupError(value)).toBe(false)
    },
  )
})

describe("toKeepupError", () => {
  test("keeps a KeepupError as it is", () => {
    const error = new KeepupError("CORRUPT", "Odd.")
    expect(toKeepupError(error)).toBe(error)
  })

  test("makes INTERNAL of an unforeseen error and keeps it as the cause", () => {
    const cause = new TypeError("x is not a function")
    const error = toKeepupError(cause)
    expect(error).toMatchObject({ code: "INTERNAL", message: "x is not a function" })
    expect(error.cause).toBe(cause)
    expect(error.hint).toContain("bug")
  })

  test("makes CANCELLED of an aborted signal", () => {
    const error = toKeepupError(AbortSignal.abort().reason)
    expect(error).toMatchObject({ code: "CANCELLED", hint: undefined })
    expect(toKeepupError(new DOMException("", "AbortError")).message).toBe("Cancelled.")
  })

  test("has a message for anything that can be thrown", () => {
    expect(toKeepupError("plain text").message).toBe("plain text")
    expect(toKeepupError(undefined).message).toBe("undefined")
    expect(toKeepupError(Object.create(null)).message).toBe("{}")
    expect(toKeepupError(new RangeError()).message).toBe("RangeError")
    expect(toKeepupError(1n).message).toBe("1")
  })
})

describe("errorToJson", () => {
  test("leaves out what is not there", () => {
    const json = errorToJson(new KeepupError("NOT_FOUND", "No such session."))
    expect(json).toStrictEqual({ code: "NOT_FOUND", message: "No such session." })
  })

  test("keeps hint and details, and never the cause", () => {
    const error = new KeepupError("CONFLICT", "Changed.", { hint: "Reload.", details: { seq: 3 }, cause: "secret" })
    expect(errorToJson(error)).toStrictEqual({
      code: "CONFLICT",
      message: "Changed.",
      hint: "Reload.",
      details: { seq: 3 },
    })
  })
})
