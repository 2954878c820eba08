import { checkpointTriggers, eventTable } from "@ku0/agent-runtime-core"
import { describe, expect, it } from "vitest"
import { createCheckpointPolicy, defaultCheckpointEvents } from "./checkpoint-policy.js"

describe("when a checkpoint is taken", () => {
  it("is asked for by the six events of the contract, and by nothing else keepup knows", () => {
    const policy = createCheckpointPolicy()
    const asking = Object.keys(eventTable).filter((type) => policy.triggerOf(type, {}) !== undefined)
    expect(asking.toSorted()).toEqual(defaultCheckpointEvents.map((name) => name.replace(".", ":")).toSorted())
    expect(asking.map((type) => policy.triggerOf(type, {}))).toEqual(asking.map((type) => type.replace(":", ".")))
  })

  it("takes dot and colon as the same", () => {
    for (const name of ["run.ended", "run:ended"]) {
      const policy = createCheckpointPolicy([name])
      expect(policy.triggerOf("run:ended", {})).toBe("run.ended")
      expect(policy.triggerOf("turn:ended", {})).toBeUndefined()
    }
  })

  it("counts a tool's result only if the tool may have changed something", () => {
    const policy = createCheckpointPolicy(["tool.ended"])
    expect(policy.triggerOf("tool:ended", { hasEffects: false })).toBeUndefined()
    for (const data of [{ hasEffects: true }, {}, null, "odd"]) {
      expect(policy.triggerOf("tool:ended", data)).toBe("tool.ended")
    }
  })

  it("gives every event a trigger of the closed list, events of other agents the end of a phase", () => {
    const policy = createCheckpointPolicy(["deploy.finished", "session.started", "error:occurred"])
    expect(policy.triggerOf("deploy:finished", {})).toBe("phase.ended")
    expect(policy.triggerOf("error:occurred", {})).toBe("phase.ended")
    expect(policy.triggerOf("session:started", {})).toBe("session.started")
    for (const type of ["deploy:finished", "session:started"]) {
      expect(checkpointTriggers).toContain(policy.triggerOf(type, {}))
    }
  })

  it("asks for none if told so, and refuses what is no event name", () => {
    expect(createCheckpointPolicy([]).triggerOf("run:ended", {})).toBeUndefined()
    for (const name of ["", "run", "run ended", "*", "run.*", "Run.Ended"]) {
      expect(() => createCheckpointPolicy([name])).toThrow(/names no event/)
    }
  })
})
