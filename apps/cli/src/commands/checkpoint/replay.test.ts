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

it("runs the tools again in a copy, lists what differs, and leaves the workspace alone", async () => {
  machine.write("b.txt", "changed since")
  const { replay } = await machine.ask("checkpoint replay 1 --mode verify --run tools")
  expect(replay).toEqual({
    isFaithful: true,
    calls: 1,
    differences: [],
    skipped: [],
    files: { added: [], changed: [], missing: [] },
    workspaceChanges: [],
  })
  const { out } = await machine.run("checkpoint replay 1 --mode verify --run tools")
  expect(out).toContain("1 call ran again in a copy: 0 results and 0 files differ.\n")
  expect(machine.read("b.txt")).toBe("changed since")
  expect((await machine.ask("checkpoint replay 1 --run tools", 2)).error.message).toBe("--run needs --mode verify.")
})

it("runs commands again only when told, and shows what they say now", async () => {
  const command = { name: "run_command", arguments: { command: "date +%N > now.txt; cat now.txt" } }
  const script = machine.script("c.jsonl", [{ toolCalls: [command] }, { content: "Done." }])
  await machine.run(["run", "what time is it", "--script", script, "--approval", "auto"])
  const skipped = await machine.run("checkpoint replay 1 --mode verify --run tools")
  expect(skipped.out).toContain("Not run: a call of run_command was not approved.\n")
  expect(skipped.out).toContain("  missing  now.txt\n")
  const { replay } = await machine.ask("checkpoint replay 1 --mode verify --run commands")
  const isWalled = replay.calls === 1
  expect(replay.differences.length + replay.skipped.length).toBe(1)
  expect(replay.files).toEqual({
    added: [],
    changed: isWalled ? ["now.txt"] : [],
    missing: isWalled ? [] : ["now.txt"],
  })
})
