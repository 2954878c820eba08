import { join } from "node:path"
import { openStore } from "@ku0/agent-runtime"
import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("asks who holds the session, and says when nobody does", async () => {
  const { session } = await machine.ask("session new")
  expect((await machine.ask("pause", 5)).error.message).toContain("no process works in it")
  const store = await openStore(`sqlite:${join(machine.state, "keepup.db")}`)
  const lease = await store.leases.take(`session:${session.id}`, { purpose: "run" })
  expect((await machine.run("pause")).out).toMatch(
    /^Session [0-9a-f]{8} "workspace" will pause at its next safe point\.\n$/,
  )
  await lease.release()
  await store.close()
})
