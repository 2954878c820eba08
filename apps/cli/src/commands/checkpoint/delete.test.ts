import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

beforeEach(async () => {
  await machine.run("checkpoint create --name one")
  await machine.run("checkpoint create")
})

it("asks, then takes them away; numbers are not used again", async () => {
  expect((await machine.run("checkpoint delete 1 2", { answers: ["no"] })).code).toBe(130)
  expect((await machine.ask("checkpoint delete 1", 2)).error.hint).toContain("--yes")
  expect((await machine.ask("checkpoint delete 1 --dry-run")).applied).toBe(false)
  const { out } = await machine.run("checkpoint delete 1 2 --yes")
  expect(out).toBe('Deleted 2 checkpoints: #1 "one", #2 manual.\n')
  expect((await machine.ask("checkpoint create")).checkpoint.number).toBe(3)
})

it("leaves a pinned one alone", async () => {
  await machine.run("checkpoint pin 1")
  expect((await machine.ask("checkpoint delete 1 --yes", 5)).error).toEqual({
    code: "CONFLICT",
    message: 'Checkpoint #1 "one" is pinned.',
    hint: "Unpin it first: keepup checkpoint unpin 1",
  })
})
