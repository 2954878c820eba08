import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("lists the commands in groups, with an example under each", async () => {
  const { code, out } = await machine.run("help")
  expect(code).toBe(0)
  expect(out).toContain(
    "Look and go back\n  checkpoint list     the timeline of a session: every place you can go back to\n",
  )
  expect(out).toContain("                      $ keepup checkpoint list\n")
  expect(out).toContain("  130  CANCELLED        a signal, or the user said no")
  expect(out).not.toContain("__complete")
  expect((await machine.run("")).out).toBe(out)
  expect((await machine.run("--help")).out).toBe(out)
})

it("explains one command, by any way of asking", async () => {
  const { out } = await machine.run("help checkpoint restore")
  expect(out).toMatch(/^Usage {2}keepup checkpoint restore REF \[options\]\n/)
  expect(out).toContain("--branch [NAME]")
  expect(out).toContain("    4  SESSION_RUNNING  a task is running")
  expect((await machine.run("checkpoint restore --help")).out).toBe(out)
  expect((await machine.run("checkpoint restore 3 -h")).out).toBe(out)
  expect((await machine.run("help checkpoint")).out).toBe((await machine.run("checkpoint --help")).out)
})

it("knows what was meant", async () => {
  expect((await machine.ask("help checkpoint restor", 2)).error.hint).toBe(
    "Did you mean `keepup help checkpoint restore`?",
  )
})

it("fits 80 columns", async () => {
  for (const command of ["help", "help run", "help checkpoint diff"]) {
    const { out } = await machine.run(command, { columns: 80, environment: { NO_COLOR: "1" } })
    const long = out.split("\n").filter((line) => line.length > 80 && !line.includes("$ "))
    expect(long, command).toEqual([])
  }
})

it("fits 80 columns, with an example and the exit codes of each command", async () => {
  const { commands } = await import("../commands.js")
  for (const words of [
    "",
    "checkpoint",
    "session",
    "config",
    ...commands.flatMap((one) => (one.isHidden ? [] : one.name)),
  ]) {
    const { out, code } = await machine.run(`help ${words}`, { columns: 80, environment: { NO_COLOR: "1" } })
    expect(code).toBe(0)
    for (const line of out.split("\n")) {
      // an example that is longer stands on a line of its own, to be copied
      if (!line.startsWith("  $ ")) expect({ words, line, isShort: line.length <= 80 }).toMatchObject({ isShort: true })
    }
    expect(out).toMatch(/\$ .*keepup /)
    if (commands.some(({ name }) => name === words)) expect(out).toContain("Exit codes\n    0  done\n")
  }
})

it("is a JSON document where one is asked for, by command or by option", async () => {
  const { help } = await machine.ask("help checkpoint list")
  expect(help).toContain("Usage  keepup checkpoint list")
  expect(await machine.ask("checkpoint list --help")).toEqual({ ok: true, help })
})
