import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("gives another name, and not an empty one", async () => {
  await machine.run(["session", "new", "Old"])
  const { out } = await machine.run(["session", "rename", "latest", "New"])
  expect(out).toMatch(/^Session [0-9a-f]{8} is now "New"; it was "Old"\.\n$/)
  expect((await machine.ask("session show New")).session.name).toBe("New")
  expect((await machine.ask(["session", "rename", "New", " "], 2)).error.message).toBe("A session needs a name.")
})
