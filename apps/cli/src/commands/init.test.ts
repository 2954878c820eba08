import { existsSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("says where things lie, and keeps the database in the workspace when asked", async () => {
  mkdirSync(join(machine.workspace, ".git"))
  machine.write(".gitignore", "dist")
  expect(await machine.ask("init")).toEqual({
    ok: true,
    workspacePath: machine.workspace,
    stateDirectory: machine.state,
    db: `sqlite:${machine.state}/keepup.db`,
    storage: "user",
  })
  expect((await machine.ask("init --project")).db).toBe(`sqlite:${machine.workspace}/.agents/sessions.db`)
  await machine.run("init --project")
  expect(machine.read(".gitignore")).toBe("dist\n.agents/sessions.db\n.agents/sessions.db-*\n")
  await machine.run("checkpoint create")
  expect(existsSync(join(machine.workspace, ".agents/sessions.db"))).toBe(true)
  expect((await machine.run("session list", { folder: ".agents" })).out).toContain("1 session")
})

it("refuses the home directory", async () => {
  const { code, err } = await machine.run(`init --cwd ${machine.root}/home`)
  expect(code).not.toBe(0)
  expect(err).toContain("home")
})
