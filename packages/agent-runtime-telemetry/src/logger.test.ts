import { isKeepupError } from "@ku0/agent-runtime-core"
import { describe, expect, it } from "vitest"
import { body } from "../test/fake-secrets.js"
import { type CreateLoggerOptions, createLogger, parseLogLevel, silentLogger } from "./logger.js"

function start(options: Partial<CreateLoggerOptions> = {}) {
  const lines: string[] = []
  const logger = createLogger({ write: (line) => lines.push(line), clock: { now: () => 1700 }, ...options })
  return { lines, logger }
}

describe("createLogger", () => {
  it("writes one JSON object per line: time, level, message, fields", () => {
    const { lines, logger } = start()
    logger.info("checkpoint taken", { checkpointId: "c1", sizeBytes: 10 })
    logger.error("line\nend")
    expect(lines).toEqual([
      '{"time":1700,"level":"info","message":"checkpoint taken","checkpointId":"c1","sizeBytes":10}',
      '{"time":1700,"level":"error","message":"line\\nend"}',
    ])
  })

  it("writes nothing below its level", () => {
    const all = start({ level: "debug" })
    const some = start({ level: "warn" })
    for (const { logger } of [all, some]) {
      for (const level of ["debug", "info", "warn", "error"] as const) logger[level](level)
    }
    expect(all.lines).toHaveLength(4)
    expect(some.lines.map((line) => JSON.parse(line).level)).toEqual(["warn", "error"])
  })

  it("adds the fields of its ancestors, the nearest last", () => {
    const { lines, logger } = start()
    logger.child({ sessionId: "s1", a: 1 }).child({ a: 2 }).warn("hello", { b: 3 })
    expect(JSON.parse(lines[0] ?? "")).toEqual({
      time: 1700,
      level: "warn",
      message: "hello",
      sessionId: "s1",
      a: 2,
      b: 3,
    })
  })

  it("lets no field pass as time, level or message", () => {
    const { lines, logger } = start()
    logger.info("real", { message: "false", level: "error", time: 0, ok: true })
    expect(JSON.parse(lines[0] ?? "")).toEqual({
      time: 1700,
      level: "info",
      message: "real",
      _message: "false",
      _level: "error",
      _time: 0,
      ok: true,
    })
  })

  it("takes secrets out of message, fields and errors", () => {
    const { lines, logger } = start()
    const token = ["gh", "p_", body(36)].join("")
    logger.child({ apiKey: "hunter2" }).error(`failed with ${token}`, {
      url: "postgres://app:hunter2@db/main",
      error: new Error(`bad ${token}`),
    })
    expect(lines.join()).not.toMatch(/hunter2|Fake0/)
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      message: "failed with [REDACTED]",
      url: "postgres://app:[REDACTED]@db/main",
      error: { message: "bad [REDACTED]" },
    })
  })

  it("takes another way to redact", () => {
    const { lines, logger } = start({ redact: () => ({ all: "gone" }) })
    logger.info("secret")
    expect(lines).toEqual(['{"all":"gone"}'])
  })

  it("refuses a level it does not know", () => {
    expect(() => start({ level: "loud" as "info" })).toThrow("Not a log level")
  })
})

it("parses the name of a level or says which there are", () => {
  expect(parseLogLevel("debug")).toBe("debug")
  for (const value of ["", 1, undefined]) {
    expect(() => parseLogLevel(value)).toThrow(
      expect.toSatisfy((error) => isKeepupError(error) && error.code === "INVALID_INPUT"),
    )
  }
})

it("has a logger that says nothing", () => {
  expect(silentLogger.child({ a: 1 })).toBe(silentLogger)
  expect(silentLogger.info("hello")).toBeUndefined()
})
