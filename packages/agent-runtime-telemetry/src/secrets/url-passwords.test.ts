import { describe, expect, it } from "vitest"
import { redactUrlPasswords } from "./url-passwords.js"

const redact = (text: string) => redactUrlPasswords(text, () => "#")

describe("redactUrlPasswords", () => {
  it.each([
    ["postgres://app:hunter2@db:5432/main?ssl=1", "postgres://app:#@db:5432/main?ssl=1"],
    ["mongodb+srv://app:p%40ss@cluster.example/x", "mongodb+srv://app:#@cluster.example/x"],
    ["redis://:hunter2@cache:6379/0", "redis://:#@cache:6379/0"],
    ["amqp://a:p@ss:word@mq", "amqp://a:#@mq"],
    [String.raw`{"url":"mysql:\/\/app:hunter2@db\/main"}`, String.raw`{"url":"mysql:\/\/app:#@db\/main"}`],
    ["see https://a:b@x.example and https://c:d@y.example", "see https://a:#@x.example and https://c:#@y.example"],
  ])("takes the password of %s", (text, expected) => {
    expect(redact(text)).toBe(expected)
  })

  it.each([
    "http://localhost:3000/@scope/package",
    "https://someone@host.example/",
    "mailto:someone@host.example",
    "postgres://app:[REDACTED]@db",
    "postgres://app:$PASSWORD@db",
    "git@host.example:owner/repo.git and http://host:80",
  ])("leaves %s", (text) => {
    expect(redact(text)).toBe(text)
  })
})
