import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("goes back in a new session and leaves the original as it is", async () => {
  machine.write("a.txt", "one\n")
  await machine.run(["session", "new", "Parser"])
  await machine.run("checkpoint create")
  machine.write("a.txt", "two\n")
  const { code, out } = await machine.run("rewind 1 --yes")
  expect(code).toBe(0)
  expect(out.replace(/[0-9a-f]{8}/g, "ID")).toBe(
    'Rewound to checkpoint #1. Original session preserved.\nThe new session is ID "Parser (rewind from #1)".\nGo on with: keepup resume ID\nTake the files back with: keepup checkpoint undo\n',
  )
  expect(machine.read("a.txt")).toBe("one\n")
  const { sessions } = await machine.ask("session list")
  expect(sessions.map(({ name }: { name: string }) => name)).toEqual(["Parser (rewind from #1)", "Parser"])
  expect(sessions[0].parentSessionId).toBe(sessions[1].id)
})

it("can leave the files alone", async () => {
  machine.write("a.txt", "one\n")
  await machine.run("checkpoint create")
  machine.write("a.txt", "two\n")
  await machine.run("rewind 1 --conversation --yes")
  expect(machine.read("a.txt")).toBe("two\n")
})
