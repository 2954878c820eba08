import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("takes old ended sessions away, after a look and a question", async () => {
  const script = machine.script("s.jsonl", [{ content: "Done." }])
  await machine.run(["run", "work", "--script", script])
  await machine.run(["session", "new", "Open"])
  expect((await machine.run("session cleanup")).out).toBe("Nothing to clean up.\n")
  machine.now += 31 * 86_400_000
  const dry = await machine.ask("session cleanup --older-than 30d --dry-run")
  expect(dry).toMatchObject({ applied: false, interrupted: [], left: [] })
  expect(dry.removed.map(({ name }: { name: string }) => name)).toEqual(["work"])
  expect((await machine.ask("session cleanup --older-than 30d", 2)).error.code).toBe("INVALID_INPUT")
  expect((await machine.run("session cleanup --older-than 30d --yes")).out).toMatch(
    /^deleted {2}[0-9a-f]{8} {2}work {2}\(completed\)\n$/,
  )
  expect((await machine.ask("session list")).sessions.map(({ name }: { name: string }) => name)).toEqual(["Open"])
  expect((await machine.ask("session cleanup --older-than soon", 2)).error.hint).toBe("Write 30d, 12h, 90m or 45s.")
})
