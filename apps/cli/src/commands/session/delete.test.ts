import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("asks, then takes the session away", async () => {
  await machine.run(["session", "new", "Old"])
  expect((await machine.ask("session delete Old", 2)).error.hint).toContain("--yes")
  expect((await machine.ask("session delete Old --dry-run")).applied).toBe(false)
  expect((await machine.run("session delete Old", { answers: [""] })).code).toBe(130)
  const { out } = await machine.run("session delete Old", { answers: ["yes"] })
  expect(out).toMatch(/^Deleted session [0-9a-f]{8} "Old" with 0 messages and 0 checkpoints\.\n$/)
  expect((await machine.ask("session list")).sessions).toEqual([])
})
