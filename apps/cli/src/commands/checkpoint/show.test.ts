import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("shows what a checkpoint is, what it holds and what it does not", async () => {
  machine.write("a.txt", "one\n")
  machine.write(".keepup/config.json", '{"capture.maxFileSize": 10}')
  machine.write("big.bin", "x".repeat(11))
  await machine.run(["checkpoint", "create", "--name", "first", "--note", "because"])
  const { out } = await machine.run("checkpoint show first")
  expect(out).toMatch(/^Checkpoint #1 "first"\n {2}Id /)
  expect(out).toContain("Note     because")
  expect(out).toContain("Not in it, and never touched by a restore:\n")
  expect(out).toContain("  big.bin (too-large)")
  const answer = await machine.ask("checkpoint show 1")
  expect(Object.keys(answer)).toEqual(["ok", "checkpoint"])
})

it("lists files, messages and state when asked", async () => {
  machine.write("a.txt", "one\n")
  const script = machine.script("s.jsonl", [
    { toolCalls: [{ name: "write_file", arguments: { path: "b.txt", content: "b" } }] },
    { content: "written" },
  ])
  await machine.run(["run", "write b", "--script", script, "--approval", "auto"])
  const { out } = await machine.run("checkpoint show 2 --files --messages --state")
  expect(out).toContain("Files\n  a.txt\n  b.txt")
  expect(out).toMatch(
    /Messages\n +1 {2}user +write b\n +2 {2}assistant +-> write_file\n[\s\S]*checkpoint #2 ----\n +4 {2}assistant +written/,
  )
  expect(out).toContain('State\n{\n  "fileContext"')
  const answer = await machine.ask("checkpoint show latest --files")
  expect(answer.files).toEqual([
    { path: "a.txt", mode: "100644" },
    { path: "b.txt", mode: "100644" },
  ])
})

it("lists the near ones when there is no such checkpoint", async () => {
  await machine.run("checkpoint create --name before-refactor")
  const { err, code } = await machine.run("checkpoint show befor-refactor")
  expect(code).toBe(3)
  expect(err).toContain(
    'has no checkpoint "befor-refactor". [NOT_FOUND]\nNear it is:\n  #1  "before-refactor"  just now',
  )
  expect((await machine.run("checkpoint show")).err).toContain("Write the number without #")
})
