import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("prints what whoever takes over needs", async () => {
  await machine.run(["session", "new", "Parser"])
  await machine.run("checkpoint create --name one")
  const { out } = await machine.run("handoff")
  expect(out).toMatch(/^## keepup checkpoints\n/)
  expect(out).toContain("| 1 | one |")
})

it("keeps it in a file when asked, and only there", async () => {
  await machine.run("checkpoint create")
  expect((await machine.ask("handoff --write", 2)).error.hint).toContain("handoff.path")
  expect(await machine.ask("handoff --path notes/HANDOFF.md")).toMatchObject({ status: "written", warning: null })
  expect(machine.read("notes/HANDOFF.md")).toContain("<!-- BEGIN: keepup checkpoints -->")
  expect((await machine.ask("handoff --path notes/HANDOFF.md")).status).toBe("unchanged")
  machine.write("ro.md", "READ-ONLY\n")
  const left = await machine.run("handoff --path ro.md")
  expect(left.err).toContain("READ-ONLY")
  expect(machine.read("ro.md")).toBe("READ-ONLY\n")
})
