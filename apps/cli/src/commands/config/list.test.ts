import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("shows every setting and who set it", async () => {
  machine.write(".keepup/config.json", '{"checkpoint":{"retention":5}}')
  const { settings, files } = await machine.ask("config list")
  expect(settings.find(({ key }: { key: string }) => key === "checkpoint.retention")).toEqual({
    key: "checkpoint.retention",
    value: 5,
    source: "workspace",
  })
  expect(files).toEqual({
    workspace: `${machine.workspace}/.keepup/config.json`,
    user: `${machine.root}/home/.config/keepup/config.json`,
  })
  expect((await machine.run("config list")).out).toMatch(/^SETTING +VALUE +FROM +MEANS\n/)
})

it("names the file that can't be read", async () => {
  machine.write(".keepup/config.json", "{")
  expect((await machine.ask("config list", 2)).error).toMatchObject({
    message: expect.stringContaining(".keepup/config.json can't be read"),
    hint: "Mend it or move it away.",
  })
})

it("shows a whole value and what it means where the table does not fit", async () => {
  const { out } = await machine.run("config list --no-color", { columns: 60 })
  expect(out).toContain("checkpoint.retention = 10 (default)\n    automatic checkpoints")
  expect(out).toContain("agent.spawned\n    (default)")
  expect(out).not.toContain("…")
  const settings = out.slice(0, out.indexOf("workspace:"))
  expect(Math.max(...settings.split("\n").map((line) => line.length))).toBeLessThanOrEqual(60)
})
