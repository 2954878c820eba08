/** The closed list of triggers. */
import { expect, test } from "vitest"
import { checkpointTriggers, isDurableEvent, isKnownEvent, normalizeEventName } from "./index.js"

test("the triggers are those of the contract", () => {
  expect([...checkpointTriggers]).toEqual([
    ...["run.ended", "turn.ended", "phase.ended", "negotiation.resolved", "tool.ended", "task.completed"],
    ...["agent.spawned", "interval", "manual", "before-restore", "session.started", "exit"],
  ])
})

test("every trigger with a dot is a durable event of the table", () => {
  for (const trigger of checkpointTriggers.filter((name) => name.includes("."))) {
    const name = normalizeEventName(trigger) ?? ""
    expect(isKnownEvent(name) && isDurableEvent(name)).toBe(true)
  }
})
