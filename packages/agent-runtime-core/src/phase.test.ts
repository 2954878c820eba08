import { describe, expect, test } from "vitest"
import { isKnownEvent } from "./events.js"
import { nextPhase, phaseEvents, statusOfPhase } from "./phase.js"
import { type SessionPhase, sessionStatuses } from "./session.js"

const phases: SessionPhase[] = [
  "idle",
  "running",
  "restoring",
  "paused",
  "interrupted",
  "completed",
  "failed",
  "stopped",
]

/** Event → the phases it may happen in → where it leads. Everything else is refused. */
const specification: Record<string, Partial<Record<SessionPhase, SessionPhase>>> = {
  "session:resumed": {
    idle: "idle",
    paused: "idle",
    interrupted: "idle",
    completed: "idle",
    failed: "idle",
    stopped: "idle",
  },
  "session:paused": { idle: "paused", running: "paused" },
  "session:interrupted": { idle: "interrupted", running: "interrupted", restoring: "interrupted" },
  "session:recovered": { interrupted: "paused" },
  "session:ended": {
    idle: "completed",
    running: "completed",
    restoring: "completed",
    paused: "completed",
    interrupted: "completed",
  },
  "session:restore-started": {
    idle: "restoring",
    paused: "restoring",
    interrupted: "restoring",
    completed: "restoring",
    failed: "restoring",
    stopped: "restoring",
  },
  "session:restore-failed": { restoring: "idle" },
  "checkpoint:restored": { restoring: "idle", idle: "idle" },
  "run:started": { idle: "running" },
  "run:ended": { running: "idle" },
}

describe("nextPhase", () => {
  test.each(Object.entries(specification))("%s leads where it should and is refused elsewhere", (event, allowed) => {
    const data = { outcome: "completed" }
    const actual = phases.map((phase) => [phase, nextPhase(phase, event, data)])
    expect(actual).toEqual(phases.map((phase) => [phase, allowed[phase]]))
  })

  test("lists all events that may change a phase, and each is an event of the table", () => {
    expect([...phaseEvents].sort()).toEqual(Object.keys(specification).sort())
    for (const event of phaseEvents) expect(isKnownEvent(event)).toBe(true)
  })

  test("ends as the outcome says, and as completed when it says nothing known", () => {
    expect(nextPhase("idle", "session:ended", { outcome: "failed" })).toBe("failed")
    expect(nextPhase("running", "session:ended", { outcome: "stopped" })).toBe("stopped")
    for (const data of [undefined, null, {}, { outcome: "running" }, "failed"]) {
      expect(nextPhase("idle", "session:ended", data)).toBe("completed")
    }
  })

  test.each(["completed", "failed", "stopped"] as const)("lets a %s session be resumed and run again", (phase) => {
    const resumed = nextPhase(phase, "session:resumed")
    expect(resumed).toBe("idle")
    expect(nextPhase(resumed as SessionPhase, "run:started")).toBe("running")
  })

  test("refuses a restore while a run is going on", () => {
    expect(nextPhase("running", "session:restore-started")).toBeUndefined()
  })

  test.each(["message:added", "weather:changed", "session:started", "constructor", "__proto__", "toString", ""])(
    "is not moved by %j",
    (event) => {
      for (const phase of phases) expect(nextPhase(phase, event, {})).toBe(phase)
    },
  )
})

describe("statusOfPhase", () => {
  test("calls idle, running and restoring active, and the rest by their own name", () => {
    expect(phases.map(statusOfPhase)).toEqual([
      "active",
      "active",
      "active",
      "paused",
      "interrupted",
      "completed",
      "failed",
      "stopped",
    ])
  })

  test("knows all statuses of the contract and no other", () => {
    expect(new Set(phases.map(statusOfPhase))).toEqual(new Set(sessionStatuses))
    expect([...sessionStatuses]).toEqual(["active", "paused", "completed", "failed", "stopped", "interrupted"])
  })
})
