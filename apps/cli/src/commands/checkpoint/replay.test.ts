import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

beforeEach(async () => {
  const script = machine.script("s.jsonl", [
    { content: "I write.", toolCalls: [{ name: "write_file", arguments: { path: "b.txt", content: "b" } }] },
    { content: "Done." },
  ])
  await machine.run(["run", "write b", "--script", script, "--approval", "auto"])
})

it("shows what happened after a checkpoint, and executes nothing", async () => {
  machine.write("b.txt", "changed")
  const { out, err } = await machine.run("checkpoint replay 2")
  expect(out.replace(/\d\d:\d\d:\d\d/g, "TIME")).toBe(
    [
      "TIME  turn:started  turn=2",
      "TIME  assistant Done.",
      "TIME  turn:ended  turn=2 outcome=completed",
      "TIME  checkpoint:created  number=3 trigger=turn.ended",
      "TIME  run:ended  outcome=completed",
      "TIME  checkpoint:created  number=4 trigger=run.ended",
      "TIME  session:ended  outcome=completed",
      "",
    ].join("\n"),
  )
  expect(err).toBe("7 entries replayed; nothing was executed.\n")
  expect(machine.read("b.txt")).toBe("changed")
})

it("is JSON lines with --json, up to a checkpoint", async () => {
  const { out } = await machine.run("checkpoint replay 2 --to 3 --json")
  const lines = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  expect(lines.map(({ type }) => type)).toEqual(["turn:started", "message:added", "turn:ended", "checkpoint:created"])
  expect(Object.keys(lines[0])).toEqual(["sessionId", "seq", "type", "createdAt", "messageIndex", "data"])
})

it("verifies that the steps lead to the recorded state", async () => {
  expect(await machine.ask("checkpoint replay 2 --mode verify")).toEqual({
    ok: true,
    verified: true,
    entries: 7,
    messages: 1,
    toolCalls: 1,
    checkpoints: 2,
  })
  expect((await machine.ask("checkpoint replay 2 --speed fast", 2)).error.code).toBe("INVALID_INPUT")
})
