import { existsSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

const lines = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))

it("lets the agent work and says how it went", async () => {
  const script = machine.script("s.jsonl", [
    { content: "I write it.", toolCalls: [{ name: "write_file", arguments: { path: "a.txt", content: "hello" } }] },
    { content: "a.txt is there." },
  ])
  const { code, out, err } = await machine.run([
    "run",
    "Write",
    "a",
    "greeting",
    "--script",
    script,
    "--approval",
    "auto",
  ])
  expect(code).toBe(0)
  expect(out).toBe("I write it.\na.txt is there.\n")
  expect(err).toContain('-> write_file {"path":"a.txt","content":"hello"}\n')
  expect(err).toMatch(/Done: session [0-9a-f]{8} "Write a greeting", 2 steps\.\nNext: keepup checkpoint list -S /)
  expect(machine.read("a.txt")).toBe("hello")
  expect((await machine.run(["run", "x", "--script", script, "--approval", "auto", "--quiet"])).err).toBe("")
})

it("is JSON lines with --json; the last one has the answer", async () => {
  const script = machine.script("s.jsonl", [{ content: "Hello." }])
  const said = lines((await machine.run(["run", "greet", "--script", script, "--json"])).out)
  expect(said.at(-1)).toMatchObject({
    ok: true,
    session: { name: "greet", status: "completed", taskDescription: "greet" },
    run: { outcome: "completed", steps: 1, answer: "Hello." },
  })
  expect(said.map(({ type }) => type)).toContain("run:started")
})

it("asks before a call that changes something, and refuses it where nobody is", async () => {
  const answers = ["a.txt", "b.txt"].map((path) => ({
    toolCalls: [{ name: "write_file", arguments: { path, content: "x" } }],
  }))
  const script = machine.script("s.jsonl", [...answers, { content: "ok" }])
  const asked = await machine.run(["run", "write", "--script", script], { answers: ["y", "n"] })
  expect(asked.err).toContain('Allow write_file {"path":"a.txt","content":"x"}? [y]es, [n]o, [a]lways write_file: ')
  expect(existsSync(join(machine.workspace, "a.txt"))).toBe(true)
  expect(existsSync(join(machine.workspace, "b.txt"))).toBe(false)
  const nobody = await machine.run(["run", "write", "--script", script])
  expect(nobody.err).toContain("Nobody can be asked here")
})

it("needs a model, and says what a failing one said", async () => {
  expect((await machine.ask(["run", "x"], 2)).error).toMatchObject({ message: "Which model?" })
  expect((await machine.ask(["run", "x", "--model", "anthropic/some"], 9)).error).toMatchObject({
    code: "UNAUTHORIZED",
  })
  expect((await machine.ask(["run", "x", "--script", "nothing.jsonl"], 3)).error.code).toBe("NOT_FOUND")
  // what could not begin leaves no session behind
  expect((await machine.ask("session list")).sessions).toEqual([])
  const script = machine.script("s.jsonl", [])
  const { code, err } = await machine.run(["run", "x", "--script", script])
  expect(code).toBe(2)
  expect(err).toContain("The script has no answer 1")
  expect(err).toContain("Go on with: keepup resume")
})

it("goes on in a session that is named", async () => {
  const script = machine.script("s.jsonl", [{ content: "ok" }])
  await machine.run(["run", "one", "--script", script])
  await machine.run(["run", "-S", "latest", "two", "--script", script])
  expect((await machine.ask("session list")).sessions).toMatchObject([{ name: "one", messageCount: 4 }])
})

it("refuses an empty prompt, an empty name and a script that is a folder, and leaves no session", async () => {
  expect((await machine.ask(["run", " "], 2)).error.message).toBe("What is the agent to do?")
  expect((await machine.ask(["run", "x", "--name", ""], 2)).error.message).toBe("A session needs a name.")
  expect((await machine.ask(["run", "x", "--script", "."], 2)).error.message).toMatch(/is a folder/)
  expect((await machine.ask("session list")).sessions).toEqual([])
})
