import { stripVTControlCharacters } from "node:util"
import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("draws the timeline and the table under it", async () => {
  machine.write("a.txt", "one\n")
  await machine.run("checkpoint create --name first")
  machine.write("a.txt", "two\n")
  await machine.run("checkpoint create")
  const { out } = await machine.run("checkpoint list")
  expect(out.replace(/[0-9a-f]{8}/g, "ID")).toBe(`workspace  ID, active

[0] --> [0]
 |       |
manual manual

# | Msg | Event  | Time     | Files   | Name  | Id
1 |   0 | manual | just now | all     | first | ID
2 |   0 | manual | just now | 1 +1 -1 |       | ID

Use keepup rewind <#> to restore to a checkpoint.
`)
})

it("fits a terminal, in colour", async () => {
  await machine.run(["checkpoint", "create", "--name", "a name that is much too long for a narrow terminal"])
  const { out } = await machine.run("checkpoint list", { columns: 50 })
  expect(out).toContain("\u001b[1m")
  const lines = stripVTControlCharacters(out).split("\n")
  expect(Math.max(...lines.slice(2, -3).map((line) => line.length))).toBeLessThanOrEqual(50)
  expect((await machine.run("checkpoint list", { columns: 50, environment: { NO_COLOR: "1" } })).out).not.toContain(
    "\u001b",
  )
  expect((await machine.run("checkpoint list --no-color", { columns: 50 })).out).not.toContain("\u001b")
})

it("is oldest first, and can be limited and narrowed to a trigger", async () => {
  for (let i = 0; i < 4; i++) await machine.run("checkpoint create")
  const answer = await machine.ask("checkpoint list")
  expect(Object.keys(answer)).toEqual(["ok", "session", "checkpoints"])
  const numbers = async (flags: string) =>
    (await machine.ask(`checkpoint list ${flags}`)).checkpoints.map(({ number }: { number: number }) => number)
  expect(await numbers("")).toEqual([1, 2, 3, 4])
  expect(await numbers("--limit 2")).toEqual([3, 4])
  expect(await numbers("--limit 2 --all")).toEqual([1, 2, 3, 4])
  expect(await numbers("--trigger manual --limit 3")).toEqual([2, 3, 4])
  expect(await numbers("--trigger run.ended")).toEqual([])
  expect(await numbers("--trigger run:ended")).toEqual([])
  expect((await machine.ask("checkpoint list --trigger run.end", 2)).error.hint).toMatch(/^Did you mean run\.ended\?/)
  expect((await machine.ask("checkpoint list --trigger never", 2)).error.code).toBe("INVALID_INPUT")
})

it("says what to do where there is nothing", async () => {
  expect((await machine.ask("checkpoint list", 3)).error).toMatchObject({
    code: "NOT_FOUND",
    hint: expect.stringContaining("keepup checkpoint create"),
  })
  await machine.run("session new")
  expect((await machine.run("checkpoint list")).out).toContain("No checkpoints yet.")
})

it("finds the session of the folder above", async () => {
  machine.write("deep/er/a.txt", "x")
  await machine.run("checkpoint create")
  expect((await machine.run("checkpoint list", { folder: "deep/er" })).out).toContain("1 |   0 | manual")
})

it("does not say that there are none when none of them is wanted", async () => {
  await machine.run("checkpoint create")
  expect((await machine.run("checkpoint list --trigger exit")).out).toContain("None of 1 checkpoint is shown: --all")
})
