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

it("takes any setting back, also one that nobody knows any more", async () => {
  machine.write(".keepup/config.json", '{"approval":"auto","oldKey":3,"checkpoint":{"older":1}}')
  const { error } = await machine.ask("session list", 2)
  expect(error.message).toBe(`In ${machine.workspace}/.keepup/config.json: There is no setting "oldKey".`)
  expect(error.hint).toContain("config set --unset KEY")
  for (const key of ["approval", "oldKey", "checkpoint.older"]) {
    expect((await machine.run(["config", "set", "--project", "--unset", key])).code, key).toBe(0)
  }
  expect(JSON.parse(machine.read(".keepup/config.json"))).toEqual({})
  expect((await machine.ask("config set --unset nothing", 2)).error.message).toBe('There is no setting "nothing".')
})

it("says which of the user's settings is wrong", async () => {
  machine.write("../home/.config/keepup/config.json", '{"approval":"maybe"}')
  const { error } = await machine.ask("session list", 2)
  expect(error.message).toMatch(/^In .*\/home\/\.config\/keepup\/config\.json: "maybe" is not a value for approval /)
})

it("says which variable is wrong", async () => {
  const { code, err } = await machine.run("session list", { environment: { KEEPUP_APPROVAL: "maybe" } })
  expect(code).toBe(2)
  expect(err).toMatch(/^error: In KEEPUP_APPROVAL: "maybe" is not a value for approval .*\nSet that variable /)
})

it("says that the folder of the settings can't be made, and comes back", async () => {
  const { code, err } = await machine.run("config set approval auto", {
    environment: { XDG_CONFIG_HOME: "/proc/no/such" },
  })
  expect(code).not.toBe(0)
  expect(err).toContain("/proc/no")
})
