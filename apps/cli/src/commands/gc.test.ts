import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("frees what nothing needs, and says what it would free", async () => {
  machine.write("a.txt", "one\n")
  await machine.run("checkpoint create")
  expect(await machine.ask("gc --dry-run")).toEqual({
    ok: true,
    values: 0,
    bytes: 0,
    artifacts: 0,
    workspaces: [machine.workspace],
    left: [],
    applied: false,
  })
  const { code, out } = await machine.run("gc")
  expect(code).toBe(0)
  expect(out).toBe("Freed 0 values (0 B) in the database and 0 artifacts.\nSnapshots of 1 workspace swept.\n")
})
