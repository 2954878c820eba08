import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

beforeEach(async () => {
  machine.write("a.txt", "one\n")
  machine.write("src/b.txt", "b\n")
  await machine.run("checkpoint create")
  machine.write("a.txt", "two\n")
  machine.write("src/c.txt", "c\n")
  await machine.run("checkpoint create")
})

it("is a patch git can read, against the workspace or another checkpoint", async () => {
  const { out } = await machine.run("checkpoint diff 1 2")
  expect(out).toContain("diff --git a/a.txt b/a.txt\n")
  expect(out).toContain("-one\n+two\n")
  machine.write("a.txt", "three\n")
  expect((await machine.run("checkpoint diff 2")).out).toContain("-two\n+three\n")
  const same = await machine.run("checkpoint diff 2 2")
  expect(same).toEqual({ code: 0, out: "", err: "No differences.\n" })
})

it("answers with the files", async () => {
  expect(await machine.ask("checkpoint diff 1 2")).toEqual({
    ok: true,
    files: [
      { path: "a.txt", status: "modified", insertions: 1, deletions: 1, binary: false },
      { path: "src/c.txt", status: "added", insertions: 1, deletions: 0, binary: false },
    ],
  })
})

it("can be short, and about some paths", async () => {
  expect((await machine.run("checkpoint diff 1 2 --name-only")).out).toBe("a.txt\nsrc/c.txt\n")
  expect((await machine.run("checkpoint diff 1 2 --name-only -- src")).out).toBe("src/c.txt\n")
  expect((await machine.run("checkpoint diff 1 2 -- ./src/")).out).not.toContain("a/a.txt")
  expect((await machine.run("checkpoint diff 1 2 --stat")).out).toBe(
    `M a.txt     2 +-\nA src/c.txt 1 +\n2 files changed, 2 lines added, 1 line removed\n`,
  )
})

it("has colours on a terminal", async () => {
  const { out } = await machine.run("checkpoint diff 1 2", { columns: 80 })
  expect(out).toContain("\u001b[31m-one\u001b[39m\n\u001b[32m+two\u001b[39m")
})

it("compares checkpoints of two sessions", async () => {
  const { session } = await machine.ask("rewind 1 --yes")
  machine.write("a.txt", "other\n")
  await machine.run("checkpoint create")
  const { sessions } = await machine.ask("session list")
  const first = sessions[1].id.slice(-8)
  expect((await machine.run(`checkpoint diff ${first}:2 ${session.id.slice(-8)}:latest --name-only`)).out).toBe(
    "a.txt\nsrc/c.txt\n",
  )
})
