import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("starts a session named after the folder, or as told", async () => {
  expect((await machine.ask("session new")).session).toMatchObject({ name: "workspace", agentType: "manual" })
  const { session } = await machine.ask(["session", "new", "Try", "--task", "x", "--agent", "someone"])
  expect(session).toMatchObject({ name: "Try", taskDescription: "x", agentType: "someone", status: "active" })
  expect((await machine.run(["session", "new", "Again"])).out).toMatch(/^Session [0-9a-f]{8} "Again" started in /)
})

it("refuses a name nobody can see, and a folder whose files are never kept", async () => {
  expect((await machine.ask(["session", "new", " "], 2)).error.message).toBe("A session needs a name.")
  const home = `${machine.root}/home`
  expect((await machine.ask(["session", "new", "x", "--cwd", home], 2)).error.message).toContain(home)
  expect((await machine.ask("session list --all")).sessions).toEqual([])
})
