/** What takes long says how much is done, on a terminal; here every look at the clock is two seconds later. */
import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../src/testing/run-keepup.js"

let machine: TestMachine

beforeEach(async () => {
  machine = createTestMachine()
  for (let i = 0; i < 5; i++) machine.write(`f${i}.txt`, `${i}\n`)
  await machine.run("checkpoint create --name first")
  for (let i = 0; i < 5; i++) machine.write(`f${i}.txt`, "changed\n")
  let time = Date.now()
  Object.defineProperty(machine, "now", {
    get: () => {
      time += 2_000
      return time
    },
  })
})
afterEach(() => machine.remove())

const shown = async (command: string) => (await machine.run(command, { columns: 120 })).err

it("says it for files that are read and written", async () => {
  expect(await shown("checkpoint restore 1 --yes")).toMatch(/Writing files: \d of 5 \(\d+ %\), \d+ s/)
  machine.write("new.txt", "new\n")
  expect(await shown("checkpoint create")).toMatch(/Reading files: \d of \d \(\d+ %\), \d+ s/)
})

it("says it for gc, doctor, export and import", async () => {
  expect(await shown("gc")).toMatch(/Sweeping snapshots of workspaces: 0 of 1 \(0 %\)/)
  expect(await shown("doctor")).toMatch(/Checking the parts of the store, now snapshots: \d of \d \(\d+ %\)/)
  expect(await shown("session export latest ../out.keepup")).toMatch(/Exporting records: \d+, \d+ s/)
  expect(await shown("session import ../out.keepup")).toMatch(/Taking it in: \d+ s/)
})

it("leaves a clean line behind, and says nothing into a pipe, when quiet, or with JSON", async () => {
  const erased = "\r\u001b[K"
  expect((await shown("doctor")).endsWith(erased)).toBe(true)
  for (const command of ["doctor --quiet", "doctor --json"]) expect(await shown(command)).toBe("")
  expect((await machine.run("doctor")).err).toBe("")
})
