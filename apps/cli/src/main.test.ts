import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "./testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("says what happened, what to do next, and no stack unless asked", async () => {
  const plain = await machine.run("chekpoint list")
  expect(plain).toEqual({
    code: 2,
    out: "",
    err: "error: There is no command `keepup chekpoint`. [INVALID_INPUT]\nDid you mean `keepup checkpoint`?\n",
  })
  expect((await machine.run("chekpoint list --debug")).err).toMatch(/\n\s+at .*unknownCommand/)
  expect((await machine.run("chekpoint", { environment: { KEEPUP_DEBUG: "1" } })).err).toContain("    at ")
})

it("answers an error as JSON on standard output, with exactly three keys", async () => {
  const { code, out, err } = await machine.run("checkpoint lst --json")
  expect({ code, err }).toEqual({ code: 2, err: "" })
  expect(JSON.parse(out)).toEqual({
    ok: false,
    error: {
      code: "INVALID_INPUT",
      message: "There is no command `keepup checkpoint lst`.",
      hint: "Did you mean `keepup checkpoint list`?",
    },
  })
})

it("names the log for what may have to be looked up, and keeps the stack there", async () => {
  const path = join(machine.root, "odd.db")
  writeFileSync(path, "this is not a database, whatever its name says ".repeat(100))
  const { code, err } = await machine.run(`session list --db sqlite:${path}`)
  expect(code).not.toBe(0)
  const log = join(machine.state, "logs/keepup.log")
  expect(err).toContain(`More is in ${log}\n`)
  expect(err).not.toContain("    at ")
  const line = JSON.parse(readFileSync(log, "utf8").trim())
  expect(line).toMatchObject({ level: "error", command: "session list", stack: expect.stringContaining("    at ") })
})

it("knows its version, and asks which command", async () => {
  expect((await machine.run("--version")).out).toMatch(/^\d+\.\d+\.\d+/)
  expect(JSON.parse((await machine.run("--json --version")).out)).toMatchObject({ ok: true })
  expect((await machine.run("config")).err).toContain("Which config command?")
  expect((await machine.ask("--no-color", 2)).error).toMatchObject({
    message: "Which command?",
    hint: expect.stringContaining("`keepup help` explains them."),
  })
})

it("tells that a session was found dead, once", async () => {
  const script = machine.script("s.jsonl", [{ content: "x" }])
  await machine.run(["run", "work", "--script", script])
  const { session } = await machine.ask("session show")
  const { openStore } = await import("@ku0/agent-runtime")
  const store = await openStore(`sqlite:${join(machine.state, "keepup.db")}`)
  await store.log.append(session.id, [
    { type: "session:resumed", data: {} },
    { type: "run:started", data: { runId: "r" } },
  ])
  await store.close()
  expect((await machine.run("session list")).err).toMatch(
    /^Session "work" \([0-9a-f]{8}\) was interrupted: its process is gone\. Nothing is lost\. Go on with: keepup resume [0-9a-f]{8}\n$/,
  )
  expect((await machine.run("session list")).err).toBe("")
})

it("says that its folder can't be made, wherever that is", async () => {
  const { error } = await machine.ask("session list --state-dir /proc/keepup/here", 8)
  expect(error).toMatchObject({ code: "UNAVAILABLE", hint: expect.stringContaining("--state-dir") })
})

it("shows what a terminal would obey, in names of folders, files and commands, instead of handing it on", async () => {
  const bad = "\u001b]0;x\u0007\u001b[31m"
  const folder = `odd${bad}`
  machine.write(`${folder}/a${bad}.txt`, "one\n")
  const lines = [
    ["checkpoint", "list"],
    ["session", "new"],
    ["checkpoint", "create", "--name", `n${bad}`],
    ["init", "--project"],
    ["handoff", "--path", `h${bad}.md`],
    ["config", "set", "--project", "capture.include", `x${bad},y`],
    ["config", "list"],
    ["checkpoint", "restore", `no${bad}`],
    ["run", "hi", "--script", `no${bad}`],
    ["session", "import", `no${bad}`],
    ["checkpoint", "list", `--no${bad}`],
    ["session", "list", "--cwd", `no${bad}`],
    [`no${bad}`],
  ]
  for (const words of lines) {
    const { out, err } = await machine.run(words, { folder })
    expect(
      [...`${out}${err}`].filter((one) => one === "\u001b" || one === "\u0007"),
      words.join(" "),
    ).toEqual([])
  }
})
