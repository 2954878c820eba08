import { expect, test } from "vitest"
import { showEvent } from "./show-event.js"

test("shows events of outside agents, whatever they carry", () => {
  for (const data of [
    null,
    7,
    [],
    {},
    { usage: null },
    { usage: { inputTokens: "1", cost: "2" }, path: 7, task: [] },
  ]) {
    for (const type of ["turn:ended", "context:file-stale", "agent:spawned", "phase:ended", "someone:else"]) {
      for (const action of showEvent({ type, data }, 0)) {
        if (action.type !== "usage-added") expect(["item-added", "stream-cut-off"]).toContain(action.type)
        else expect(action).toEqual({ type: "usage-added", inputTokens: 0, outputTokens: 0 })
      }
    }
  }
  expect(showEvent({ type: "agent:spawned", data: { agentType: 7 } }, 0)).toMatchObject([
    { item: { text: "Agent spawned: 7" } },
  ])
})
