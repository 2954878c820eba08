/** A folder that was renamed does not lose what was kept of it. */
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine
const at = (path: string) => join(machine.workspace, path)

beforeEach(async () => {
  machine = createTestMachine()
  machine.write("old/a.txt", "one\n")
  await machine.run("checkpoint create --cwd old")
  machine.write("old/a.txt", "two\n")
  await machine.run("checkpoint create --cwd old")
})
afterEach(() => machine.remove())

it.each(["nothing", "a link"])("is told how to bring its sessions along, with %s in its old place", async (what) => {
  renameSync(at("old"), at("new"))
  if (what === "a link") symlinkSync("new", at("old"))
  const [{ id }] = (await machine.ask("session list --all")).sessions
  const { error } = await machine.ask("checkpoint list --cwd new", 3)
  expect(error.hint).toContain(`moved here from ${at("old")}`)
  expect(error.hint).toContain(`keepup session export ${id.slice(-8)} ../moved.keepup`)
  const { out } = await machine.run("session list --cwd new")
  expect(out.replaceAll(/\s+/g, " ")).toContain("keepup session import ../moved.keepup")
  expect((await machine.ask("session list --cwd new")).sessions).toEqual([])

  await machine.run(`session export ${id} moved.keepup --cwd new`)
  await machine.run("session import moved.keepup --cwd new")
  expect((await machine.ask("checkpoint list --cwd new")).checkpoints).toHaveLength(2)
  await machine.run("checkpoint restore 1 --yes --cwd new")
  expect(readFileSync(at("new/a.txt"), "utf8")).toBe("one\n")
  await machine.run("checkpoint undo --yes --cwd new")
  expect(readFileSync(at("new/a.txt"), "utf8")).toBe("two\n")
})

it("has checkpoints to look at while it is gone, but takes none and restores none", async () => {
  rmSync(at("old"), { recursive: true })
  const [{ id }] = (await machine.ask("session list --all")).sessions
  const inIt = (command: string, exit = 0) => machine.ask(`${command} -S ${id}`, exit)
  const { files } = await inIt("checkpoint diff 1 2")
  expect(files.map(({ path }: { path: string }) => path)).toEqual(["a.txt"])
  expect((await inIt("checkpoint restore 1 --yes", 3)).error.message).toContain("There is no workspace at")
  expect((await machine.ask("checkpoint create", 0)).checkpoint.snapshot).not.toBeNull() // of the folder above
  expect((await inIt("checkpoint diff 1", 3)).error.message).toContain("There is no workspace at")
  const { findings } = await machine.ask("doctor", 0)
  expect(findings.map(({ code }: { code: string }) => code)).toEqual(["workspace-missing"])
  mkdirSync(at("old"))
  await inIt("checkpoint restore 1 --yes")
  expect(readFileSync(at("old/a.txt"), "utf8")).toBe("one\n")
})
