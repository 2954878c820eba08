import fc from "fast-check"
import { expect, test } from "vitest"
import { eventTable } from "./events.js"
import { nextPhase, phaseEvents, statusOfPhase } from "./phase.js"
import type { SessionPhase, SessionStatus } from "./session.js"

/** What people may see happen to a session, thought through without the machine. */
const allowedChanges: Record<SessionStatus, readonly SessionStatus[]> = {
  active: ["paused", "interrupted", "completed", "failed", "stopped"],
  paused: ["active", "completed", "failed", "stopped"],
  interrupted: ["active", "paused", "completed", "failed", "stopped"],
  completed: ["active"],
  failed: ["active"],
  stopped: ["active"],
}

const event = fc.record({
  type: fc.oneof(fc.constantFrom(...phaseEvents), fc.constantFrom(...Object.keys(eventTable)), fc.string()),
  data: fc.oneof(
    fc.record({ outcome: fc.constantFrom("completed", "failed", "stopped", "odd") }),
    fc.constantFrom(undefined, null),
  ),
})

test("over any events the status changes only as it may, and at most one run or restore goes on", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 100 }), (events) => {
      let phase: SessionPhase = "idle"
      let runs = 0
      let restores = 0
      for (const { type, data } of events) {
        const next = nextPhase(phase, type, data)
        if (next === undefined) continue
        const [before, after] = [statusOfPhase(phase), statusOfPhase(next)]
        if (before !== after) expect(allowedChanges[before]).toContain(after)
        if (type === "run:started") runs++
        if (type === "session:restore-started") restores++
        if (next !== "running") runs = 0
        if (next !== "restoring") restores = 0
        expect(runs + restores).toBeLessThanOrEqual(1)
        expect(next === "running").toBe(runs === 1)
        expect(next === "restoring").toBe(restores === 1)
        phase = next
      }
    }),
    { numRuns: 500 },
  )
})

test("from wherever a session stands it can be brought to run again", () => {
  const wayBack: Partial<Record<SessionPhase, string>> = { running: "run:ended", restoring: "session:restore-failed" }
  fc.assert(
    fc.property(fc.array(event, { maxLength: 50 }), (events) => {
      let phase: SessionPhase | undefined = events.reduce<SessionPhase>(
        (at, { type, data }) => nextPhase(at, type, data) ?? at,
        "idle",
      )
      phase = nextPhase(phase, wayBack[phase] ?? "session:resumed")
      expect(phase).toBe("idle")
      expect(nextPhase(phase as SessionPhase, "run:started")).toBe("running")
    }),
  )
})
