import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("shows a session with its checkpoints and its log", async () => {
  await machine.run(["session", "new", "Parser", "--task", "make it parse"])
  await machine.run("checkpoint create")
  const answer = await machine.ask("session show")
  expect(Object.keys(answer)).toEqual(["ok", "session", "checkpoints", "logs"])
  expect(answer.checkpoints).toHaveLength(1)
  expect(answer.logs).toEqual([])
  const { out } = await machine.run("session show Parser")
  expect(out).toMatch(/^Parser\n {2}Id {11}[0-9a-f-]{36}\n {2}Status {7}active\n/)
  expect(out).toContain("Task         make it parse")
  expect(out).toContain("# | Msg | Event  | Time")
})

it("finds it by a part of the id, a name, or latest, and names the near ones", async () => {
  const { session } = await machine.ask(["session", "new", "Parser"])
  for (const reference of [session.id, session.id.slice(-8), "Parser", "latest"]) {
    expect((await machine.ask(["session", "show", reference])).session.id).toBe(session.id)
  }
  expect((await machine.ask("session show Parsr", 3)).error).toEqual({
    code: "NOT_FOUND",
    message: 'There is no session "Parsr".',
    hint: 'Did you mean "Parser"?',
  })
  expect((await machine.ask("session show ffffffffffff", 3)).error.hint).toContain("keepup session list")
  await machine.run(["session", "new", "Parser"])
  expect((await machine.ask("session show Parser", 2)).error.message).toContain("More than one session")
})
