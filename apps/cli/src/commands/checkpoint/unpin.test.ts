import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("unpins all that are named, or none", async () => {
  await machine.run("checkpoint create --name one")
  await machine.run("checkpoint create")
  await machine.run("checkpoint pin 1 2")
  expect((await machine.ask("checkpoint unpin one 9", 3)).error.code).toBe("NOT_FOUND")
  const pinned = async () =>
    (await machine.ask("checkpoint list")).checkpoints.map((one: { pinned: boolean }) => one.pinned)
  expect(await pinned()).toEqual([true, true])
  const { out } = await machine.run("checkpoint unpin one latest")
  expect(out).toBe('Checkpoint #1 "one" is no longer pinned.\nCheckpoint #2 manual is no longer pinned.\n')
  expect(await pinned()).toEqual([false, false])
})
