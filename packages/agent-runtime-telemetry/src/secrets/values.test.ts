import { describe, expect, it } from "vitest"
import { isItsName, isPlaceholder, isSecretBare, isSecretText, looksMade } from "./values.js"

const context = { isEnvironment: false, isTight: false, isWholeLine: false, name: "password" }

describe("isPlaceholder", () => {
  it.each([
    "$TOKEN",
    `prefix-${"$"}{X}`,
    "<password>",
    "***",
    "xxxx",
    "...",
    "your-key-here",
    "{{ key }}",
    "{token}",
    "%s",
    "op://vault/x",
  ])("takes %s for no value", (value) => {
    expect(isPlaceholder(value)).toBe(true)
  })

  it.each(["hunter2", "a$b", "xylophone9"])("takes %s for a value", (value) => {
    expect(isPlaceholder(value)).toBe(false)
  })
})

describe("isSecretText", () => {
  it.each(["hunter2", "correct horse battery staple", "1234", "p"])("takes %s for a password", (value) => {
    expect(isSecretText("password", value)).toBe(true)
  })

  it.each([
    "",
    "  ",
    "[REDACTED]",
    "string",
    "null",
    "Enter your password",
    "The password is missing.",
    "/run/secrets/db",
  ])("takes '%s' for no password", (value) => {
    expect(isSecretText("password", value)).toBe(false)
  })

  it.each(["42", "1.5", "^1.2.3", "./token.txt", "~/.config/token", "https://host.example/token"])(
    "takes %s for no token",
    (value) => {
      expect(isSecretText("token", value)).toBe(false)
    },
  )

  it("wants what may be a key to look made", () => {
    expect(isSecretText("maybe", "users")).toBe(false)
    expect(isSecretText("maybe", "a1b2c3d4e5g6h7i8")).toBe(true)
  })
})

describe("isSecretBare", () => {
  it("takes everything in an environment file", () => {
    expect(isSecretBare("password", "swordfish", { ...context, isEnvironment: true })).toBe(true)
  })

  it("takes what has more than letters, wherever it stands", () => {
    expect(isSecretBare("password", "hunter2", context)).toBe(true)
  })

  it("takes plain letters only where no code or prose can stand", () => {
    expect(isSecretBare("password", "swordfish", context)).toBe(false)
    expect(isSecretBare("password", "swordfish", { ...context, isTight: true })).toBe(true)
    expect(isSecretBare("password", "swordfish", { ...context, isWholeLine: true })).toBe(true)
    expect(isSecretBare("password", "Password", { ...context, isWholeLine: true })).toBe(false)
    expect(isSecretBare("password", "SecretRef", { ...context, isWholeLine: true })).toBe(false)
  })

  it.each(["getToken(1", "config.password", "process.env.X!", "userPassword", "the", "abc", "!isSet2", "list[0"])(
    "takes %s for code or words",
    (value) => {
      expect(isSecretBare("password", value, { ...context, isTight: true })).toBe(false)
    },
  )
})

it("knows a label from a value", () => {
  expect(isItsName("API-Key", "apiKey")).toBe(true)
  expect(isItsName("Password1", "password")).toBe(false)
})

it("takes no hash for something made as a key", () => {
  expect(looksMade("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b")).toBe(false)
  expect(looksMade("short1")).toBe(false)
})
