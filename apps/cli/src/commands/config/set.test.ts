import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("changes a setting of the user or of the workspace, and takes it back", async () => {
  await machine.run("config set checkpoint.retention 20")
  await machine.run("config set --project checkpoint.interval 5m")
  expect(JSON.parse(machine.read(".keepup/config.json"))).toEqual({ "checkpoint.interval": 300_000 })
  expect(await machine.ask("config get checkpoint.retention")).toEqual({
    ok: true,
    key: "checkpoint.retention",
    value: 20,
    source: "user",
  })
  await machine.run("config set checkpoint.retention --unset")
  expect((await machine.ask("config get checkpoint.retention")).source).toBe("default")
})

it("refuses what is no value, and says what would be", async () => {
  expect((await machine.ask("config set approval maybe", 2)).error.message).toContain("ask, auto, deny")
  expect((await machine.ask("config set approval", 2)).error.message).toBe("Give a value, or --unset.")
  expect((await machine.ask("config set nothing 1", 2)).error.code).toBe("INVALID_INPUT")
})
