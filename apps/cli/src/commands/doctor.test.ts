import { join } from "node:path"
import { openStore } from "@ku0/agent-runtime"
import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("finds everything sound", async () => {
  machine.write("a.txt", "one\n")
  await machine.run("checkpoint create")
  expect(await machine.ask("doctor")).toMatchObject({ ok: true, healthy: true, findings: [] })
  expect((await machine.run("doctor")).out).toContain("Everything is sound: all that was kept can be brought back.\n")
})

it("ends with CORRUPT when something is wrong, and mends what it can", async () => {
  await machine.run("checkpoint create")
  const store = await openStore(`sqlite:${join(machine.state, "keepup.db")}`)
  await store.context.driver.run("UPDATE sessions SET checkpoint_count = 7")
  await store.close()
  const found = await machine.run("doctor --json")
  expect(found.code).toBe(6)
  expect(JSON.parse(found.out)).toMatchObject({
    ok: true,
    healthy: false,
    findings: [{ code: "counter-wrong", canRepair: true }],
  })
  const mended = await machine.ask("doctor --repair")
  expect(mended.healthy).toBe(true)
  expect(mended.repaired.done.length).toBeGreaterThan(0)
  expect((await machine.ask("session show")).session.checkpointCount).toBe(1)
})

it("shows a few of many findings of the same kind, and all of them as JSON", async () => {
  for (let i = 0; i < 9; i++) await machine.run("checkpoint create")
  const store = await openStore(`sqlite:${join(machine.state, "keepup.db")}`)
  await store.context.driver.run("UPDATE session_checkpoints SET note = 'changed on the disk'")
  await store.close()
  const { findings } = JSON.parse((await machine.run("doctor --json")).out)
  expect(findings.length).toBe(9)
  const { out } = await machine.run("doctor")
  expect(out.match(/^error /gm)).toHaveLength(5)
  expect(out).toContain("… and 4 more like this\n9 findings, 9 errors.")
})
