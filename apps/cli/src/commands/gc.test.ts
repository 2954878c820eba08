import { randomBytes } from "node:crypto"
import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("frees what nothing needs, and says what it would free", async () => {
  machine.write("a.txt", "one\n")
  await machine.run("checkpoint create")
  expect(await machine.ask("gc --dry-run")).toEqual({
    ok: true,
    values: 0,
    bytes: 0,
    artifacts: 0,
    workspaces: [machine.workspace],
    left: [],
    applied: false,
  })
  const { code, out } = await machine.run("gc")
  expect(code).toBe(0)
  expect(out).toMatch(
    /^Freed 0 values \(0 B\) in the database and 0 artifacts \(0 B\)\.\nSnapshots of 1 workspace swept: 0 dropped, [1-9][\d.]* K?B on disk before, [1-9][\d.]* K?B now\.\n$/,
  )
})

it("says what a prune dropped, and what was freed only when it was, as it is on the disk", async () => {
  await machine.run("checkpoint create")
  const script = machine.script("s.jsonl", [
    ...[1, 2, 3, 4].map((n) => ({
      toolCalls: [
        { name: "write_file", arguments: { path: "a.txt", content: randomBytes(50_000).toString("hex") + n } },
      ],
    })),
    { content: "Done." },
  ])
  await machine.run(["run", "-S", "latest", "work", "--script", script, "--approval", "auto"])
  const pruned = await machine.run("checkpoint prune --keep 0 --yes")
  expect(pruned.out).toMatch(/\nRemoved \d checkpoints\. What only they kept is freed by: keepup gc\n$/)
  machine.now += 2 * 3_600_000
  const { snapshots } = await machine.ask("gc")
  expect(snapshots.dropped).toBeGreaterThan(1)
  expect(snapshots.bytesBefore - snapshots.bytesAfter).toBeGreaterThan(50_000)
  const again = await machine.ask("gc")
  expect(again.snapshots).toEqual({ dropped: 0, bytesBefore: snapshots.bytesAfter, bytesAfter: snapshots.bytesAfter })
})
