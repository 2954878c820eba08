import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("takes the last restore back, and an undo can be undone", async () => {
  machine.write("a.txt", "one\n")
  await machine.run("checkpoint create")
  machine.write("a.txt", "two\n")
  await machine.run("checkpoint restore 1 --yes")
  expect(machine.read("a.txt")).toBe("one\n")
  const { code, out } = await machine.run("checkpoint undo")
  expect(code).toBe(0)
  expect(out).toBe(
    "The restore was taken back: 1 file written, 0 files deleted.\n" +
      "Everything is as it was before it. What was there until now is kept as #3.\n",
  )
  expect(machine.read("a.txt")).toBe("two\n")
})

it("says when there is nothing to take back", async () => {
  machine.write("a.txt", "one\n")
  await machine.run("checkpoint create")
  expect((await machine.ask("checkpoint undo", 3)).error.message).toBe("There is no restore to undo in this workspace.")
  expect((await machine.ask("checkpoint undo --restore nothing", 3)).error.code).toBe("NOT_FOUND")
})
