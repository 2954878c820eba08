import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("removes automatic ones beyond what is kept, never those made by hand", async () => {
  await machine.run("checkpoint create")
  const script = machine.script("s.jsonl", [
    ...[1, 2, 3].map((n) => ({
      toolCalls: [{ name: "write_file", arguments: { path: `${n}.txt`, content: `${n}` } }],
    })),
    { content: "Done." },
  ])
  await machine.run(["run", "-S", "latest", "work", "--script", script, "--approval", "auto"])
  const all = (await machine.ask("checkpoint list")).checkpoints.length
  const plan = await machine.ask("checkpoint prune --keep 1 --dry-run")
  expect(plan.applied).toBe(false)
  expect(plan.removed.length).toBeGreaterThan(1)
  expect((await machine.ask("checkpoint prune --keep 1", 2)).error.hint).toContain("--yes")
  const { removed, ...claims } = await machine.ask("checkpoint prune --keep 1 --yes")
  expect(claims, "no bytes: nothing is freed before gc").toEqual({ ok: true })
  const left = (await machine.ask("checkpoint list")).checkpoints
  expect(left.length).toBe(all - removed.length)
  expect(left[0]).toMatchObject({ number: 1, trigger: "manual" })
  expect((await machine.run("checkpoint prune --keep 1 --yes")).out).toBe("Nothing to remove.\n")
})

it("removes automatic ones by age and by size too", async () => {
  const script = machine.script("s.jsonl", [
    ...[1, 2, 3].map((n) => ({
      toolCalls: [{ name: "write_file", arguments: { path: `${n}.txt`, content: `${n}`.repeat(2_000) } }],
    })),
    { content: "Done." },
  ])
  await machine.run(["run", "work", "--script", script, "--approval", "auto"])
  const numbers = async (options: string) =>
    (await machine.ask(`checkpoint prune --dry-run ${options}`)).removed.map(({ number }: { number: number }) => number)
  expect(await numbers("")).toEqual([])
  expect(await numbers("--older-than 7d --max-size 1GB")).toEqual([])
  expect(await numbers("--max-size 6KB")).toEqual([2])
  machine.now += 86_400_000
  expect(await numbers("--older-than 2d")).toEqual([])
  expect((await numbers("--older-than 12h")).length).toBeGreaterThan(2)
  expect((await machine.ask("checkpoint prune --older-than soon", 2)).error.hint).toContain("30d")
  expect((await machine.ask("checkpoint prune --max-size big", 2)).error.hint).toContain("500MB")
})
