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
    ["postgres://app:se/cret@db.example:5432/main", "postgres://app:#@db.example:5432/main"],
    ["postgres://app:a/b@c/d@db/main?x=1", "postgres://app:#@db/main?x=1"],
    ["redis://:p@ss/w@rd@cache:6379", "redis://:#@cache:6379"],
    ["mongodb://app:x/y@one.example:1,two.example:2/db", "mongodb://app:#@one.example:1,two.example:2/db"],
    ["a=https://u:p/q@h.example/x,b=https://v:w@i.example/", "a=https://u:#@h.example/x,b=https://v:#@i.example/"],
    [String.raw`{"url":"mysql:\/\/app:hun\/ter2@db\/main"}`, String.raw`{"url":"mysql:\/\/app:#@db\/main"}`],
  ])("takes the password of %s", (text, expected) => {
    expect(redact(text)).toBe(expected)
  })

  it.each([
    "http://localhost:3000/@scope/package",
    "http://localhost:3000/a/b@c.example",
    "https://registry.example:443/-/@scope/package@1.2.3",
    "https://someone@host.example/",
    "mailto:someone@host.example",
    "postgres://app:[REDACTED]@db",
    "postgres://app:$PASSWORD@db",
    "git@host.example:owner/repo.git and http://host:80",
  ])("leaves %s", (text) => {
    expect(redact(text)).toBe(text)
  })
})
