import { rmSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("goes on with a script where it was, also from a checkpoint", async () => {
  const script = machine.script("s.jsonl", [
    { content: "first", toolCalls: [{ name: "write_file", arguments: { path: "a.txt", content: "1" } }] },
    { content: "second", toolCalls: [{ name: "write_file", arguments: { path: "b.txt", content: "2" } }] },
    { content: "third" },
  ])
  const stopped = await machine.run(["run", "work", "--script", script, "--approval", "auto", "--max-steps", "1"])
  expect(stopped.out).toBe("first\n")
  expect(stopped.err).toContain("Stopped at the step limit")
  const { out } = await machine.run("resume --approval auto")
  expect(out).toBe("second\nthird\n")
  rmSync(join(machine.workspace, "b.txt"))
  const again = await machine.run("resume latest --from 2 --approval auto")
  expect(again.out).toBe("second\nthird\n")
  expect(machine.read("b.txt")).toBe("2")
})

it("has nothing to go on with in an empty session", async () => {
  await machine.run("session new")
  expect((await machine.ask("resume", 2)).error.message).toBe("This session has no conversation to go on with.")
})
