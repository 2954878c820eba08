import { describe, expect, it } from "vitest"
import { body, noise } from "../test/fake-secrets.js"
import { type JsonValue, redactValue } from "./redact-value.js"

const token = ["gh", "p_", body(36)].join("")

describe("redactValue", () => {
  it("takes what stands under a telling name, at any depth", () => {
    expect(
      redactValue({
        user: "me",
        password: "open the door",
        pin: 7,
        nested: [{ apiKey: "short", headers: { authorization: "Bearer abc", cookie: "a=b" } }],
        passwords: ["one", "two", 3],
      }),
    ).toEqual({
      value: {
        user: "me",
        password: "[REDACTED]",
        pin: 7,
        nested: [{ apiKey: "[REDACTED]", headers: { authorization: "[REDACTED]", cookie: "[REDACTED]" } }],
        passwords: ["[REDACTED]", "[REDACTED]", "[REDACTED]"],
      },
      count: 7,
    })
  })

  it("takes secrets within texts and within names", () => {
    expect(redactValue([`use ${token}`, { [token]: 1, [`${token}x`]: 2 }])).toEqual({
      value: ["use [REDACTED]", { "[REDACTED]": 1, "[REDACTED] 2": 2 }],
      count: 3,
    })
  })

  it("takes a value by the name beside it", () => {
    const pair = (name: string): JsonValue => ({ name, value: "swordfish" })
    expect(
      redactValue([pair("DB_PASSWORD"), pair("EDITOR"), { key: "token", value: "abcdef1" }, { value: "x" }]),
    ).toEqual({
      value: [
        { name: "DB_PASSWORD", value: "[REDACTED]" },
        { name: "EDITOR", value: "swordfish" },
        { key: "token", value: "[REDACTED]" },
        { value: "x" },
      ],
      count: 2,
    })
  })

  it("leaves ids and hashes, but not a token that poses as an id", () => {
    const value = {
      id: noise(40),
      toolCallId: noise(30),
      hash: noise(64),
      usage: { tokens: 5, token: 7 },
      secret: null,
    }
    expect(redactValue(value)).toEqual({ value, count: 0 })
    expect(redactValue({ id: token }).value).toEqual({ id: "[REDACTED]" })
    expect(redactValue({ text: noise(40) }).value).toEqual({ text: "[REDACTED]" })
  })

  it("leaves a schema that describes a password", () => {
    const schema = { password: { type: "string", description: "The password of the user" }, required: ["password"] }
    expect(redactValue(schema).value).toBe(schema)
  })

  it("hands back parts without secrets as they are", () => {
    const clean = { a: [1, "b"] }
    const { value } = redactValue({ clean, token: "swordfish" })
    expect((value as { clean: JsonValue }).clean).toBe(clean)
  })

  it("keeps a field that is named __proto__ a field", () => {
    const value = JSON.parse('{"__proto__":{"token":"swordfish"}}') as JsonValue
    expect(JSON.stringify(redactValue(value).value)).toBe('{"__proto__":{"token":"[REDACTED]"}}')
  })

  it("replaces what is nested too deep to look at", () => {
    let value: JsonValue = token
    for (let depth = 0; depth < 5000; depth++) value = [value]
    const redacted = redactValue(value)
    expect(redacted.count).toBe(1)
    expect(JSON.stringify(redacted.value)).toContain("[REDACTED]")
    expect(JSON.stringify(redacted.value)).not.toContain(body(10))
  })
})
