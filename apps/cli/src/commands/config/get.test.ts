import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("prints one value, as config set takes it", async () => {
  expect((await machine.run("config get checkpoint.retention")).out).toBe("10\n")
  expect((await machine.run("config get checkpoint.on")).out).toContain("run.ended,negotiation.resolved")
  const set = { environment: { KEEPUP_CHECKPOINT_RETENTION: "7" } }
  expect((await machine.run("config get checkpoint.retention", set)).out).toBe("7\n")
  expect((await machine.ask("config get nothing", 2)).error.hint).toContain("Settings are: storage")
})
