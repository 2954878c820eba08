import { chmodSync, existsSync, mkdirSync } from "node:fs"
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

it("refuses the home directory, and leaves nothing in it", async () => {
  const home = join(machine.root, "home")
  const { error } = await machine.ask(["init", "--project", "--cwd", home], 2)
  expect(error.message).toContain(`${home} can't be a workspace: `)
  expect(existsSync(join(home, ".keepup"))).toBe(false)
})

it("does not take the home directory for the workspace of what lies in it, whatever settings it has", async () => {
  const folder = join(machine.root, "home/code/app")
  mkdirSync(folder, { recursive: true })
  await machine.run(["config", "set", "--project", "approval", "auto", "--cwd", join(machine.root, "home")])
  expect(existsSync(join(machine.root, "home/.keepup/config.json"))).toBe(true)
  const { code, out } = await machine.run("init", { folder: "../home/code/app" })
  expect(code).toBe(0)
  expect(out).toContain(`Ready: ${folder}\n`)
})

it("says that nothing new can be kept where the state directory can't be written", async () => {
  const isRoot = process.getuid?.() === 0 // permissions do not hold root back
  await machine.run("init")
  chmodSync(machine.state, 0o500)
  const { code, err } = await machine.run("init")
  chmodSync(machine.state, 0o700)
  expect(code).toBe(isRoot ? 0 : 8)
  expect(err).toContain(isRoot ? "" : `Can't write to ${machine.state}: permission is denied (EACCES).`)
})
