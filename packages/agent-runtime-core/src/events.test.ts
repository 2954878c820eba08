import { describe, expect, test } from "vitest"
import { eventSchemas } from "./event-schemas.js"
import { eventTable, isDurableEvent, isKnownEvent, normalizeEventName, upgradeEntry } from "./events.js"
import type { SessionId } from "./ids.js"
import type { Entry } from "./session.js"

/** Section 7 of the contract. */
const contractDurable = [
  ...["started", "paused", "resumed", "ended", "interrupted", "recovered"].map((fact) => `session:${fact}`),
  ...["run:started", "run:ended", "turn:started", "turn:ended", "phase:ended", "negotiation:resolved"],
  ...["agent:spawned", "task:completed", "message:added", "tool:started", "tool:ended", "tool:in-doubt"],
  ...["created", "failed", "pruned", "restored"].map((fact) => `checkpoint:${fact}`),
  ...["history:rewind", "context:file-stale", "artifact:emitted", "artifact:quarantined"],
]
const contractFleeting = ["message:delta", "tool:progress"]

describe("eventTable", () => {
  test.each(contractDurable)("has %s, durable", (name) => {
    expect(isKnownEvent(name)).toBe(true)
    expect(isDurableEvent(name)).toBe(true)
  })

  test("has exactly the fleeting events of the contract", () => {
    const fleeting = Object.entries(eventTable).filter(([, facts]) => !facts.durable)
    expect(fleeting.map(([name]) => name)).toEqual(contractFleeting)
  })

  test("adds of its own only what restore and state need", () => {
    const known = new Set([...contractDurable, ...contractFleeting])
    expect(Object.keys(eventTable).filter((name) => !known.has(name))).toEqual([
      "session:restore-started",
      "session:restore-failed",
      "state:changed",
    ])
  })

  test("has one schema for each event and names each in its normal form", () => {
    expect(Object.keys(eventSchemas).sort()).toEqual(Object.keys(eventTable).sort())
    for (const name of Object.keys(eventTable)) expect(normalizeEventName(name)).toBe(name)
  })
})

describe("normalizeEventName", () => {
  test("takes a dot for a colon", () => {
    expect(normalizeEventName("run.ended")).toBe("run:ended")
    expect(normalizeEventName("context.file-stale")).toBe("context:file-stale")
    expect(normalizeEventName("run:ended")).toBe("run:ended")
  })

  test.each([
    "",
    "run",
    "run:",
    ":ended",
    "run:ended:now",
    "run.ended.now",
    "Run:ended",
    "run ended",
    "run:ended\n",
    "*",
  ])("does not take %j for a name", (name) => {
    expect(normalizeEventName(name)).toBeUndefined()
  })
})

describe("isDurableEvent", () => {
  test("keeps what is not known", () => {
    expect(isKnownEvent("weather:changed")).toBe(false)
    expect(isDurableEvent("weather:changed")).toBe(true)
  })

  test.each(["constructor", "__proto__", "toString"])("does not know %s", (name) => {
    expect(isKnownEvent(name)).toBe(false)
  })
})

describe("upgradeEntry", () => {
  const steps = {
    "run:ended": [
      (data: unknown) => ({ ...(data as object), second: true }),
      (data: unknown) => ({ ...(data as object), third: "second" in (data as object) }),
    ],
  }
  const entry = (version: number, type = "run:ended"): Entry =>
    Object.freeze({
      sessionId: "s" as SessionId,
      seq: 1,
      type,
      version,
      data: Object.freeze({ first: true }),
      createdAt: 0,
      messageIndex: 0,
      parent: null,
    })

  test("takes every step from the version of the entry to the newest, in order", () => {
    expect(upgradeEntry(entry(1), steps)).toEqual({
      ...entry(3),
      data: { first: true, second: true, third: true },
    })
    expect(upgradeEntry(entry(2), steps)).toEqual({ ...entry(3), data: { first: true, third: false } })
  })

  test("leaves an entry of today, of tomorrow or of an unknown event as it is", () => {
    for (const same of [entry(3), entry(9), entry(1, "weather:changed"), entry(1, "constructor")]) {
      expect(upgradeEntry(same, steps)).toBe(same)
    }
    expect(upgradeEntry(entry(1))).toEqual(entry(1))
  })

  test("takes an entry without a proper version for one of the first", () => {
    expect(upgradeEntry(entry(0), steps).data).toEqual({ first: true, second: true, third: true })
  })
})
