import { join } from "node:path"
import { openStore } from "@ku0/agent-runtime"
import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("shows what keepup has to say about a session", async () => {
  const { session } = await machine.ask("session new")
  expect((await machine.run("session logs")).out).toBe(`Session ${session.id.slice(-8)} has no log lines.\n`)
  const store = await openStore(`sqlite:${join(machine.state, "keepup.db")}`, { clock: { now: () => machine.now } })
  await store.sessions.addLog(session.id, "warn", "one")
  await store.sessions.addLog(session.id, "error", "two")
  await store.close()
  const { logs } = await machine.ask("session logs")
  expect(logs).toEqual([
    { id: 1, level: "warn", message: "one", createdAt: machine.now },
    { id: 2, level: "error", message: "two", createdAt: machine.now },
  ])
  expect((await machine.run("session logs --limit 1")).out).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}error {2}two\n$/,
  )
})
