import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

beforeEach(async () => {
  machine.write("a.txt", "one\n")
  const script = machine.script("s.jsonl", [{ content: "Done." }])
  await machine.run(["run", "work", "--script", script])
})

it("writes one file that import takes in", async () => {
  const answer = await machine.ask("session export latest ../out.keepup")
  expect(answer).toMatchObject({ ok: true, path: join(machine.root, "out.keepup"), redactions: 0, leftOut: [] })
  expect((await machine.ask("session export latest ../out.keepup", 5)).error.code).toBe("CONFLICT")
  expect((await machine.run("session export latest ../out.keepup --force")).code).toBe(0)
})

it("writes a text to read, to a file or to standard output", async () => {
  const { out } = await machine.run("session export latest - --format md")
  expect(out).toMatch(/^# work\n/)
  expect(out).toContain("Done.")
  await machine.run("session export latest ../out.md --format md")
  expect(readFileSync(join(machine.root, "out.md"), "utf8")).toBe(out)
})

it("refuses a folder, one that is not there, and leaves what is in the way", async () => {
  for (const format of ["keepup", "json", "md"]) {
    const words = `--format ${format}`
    expect((await machine.ask(`session export latest .. ${words} --force`, 2)).error.message).toMatch(/is a folder/)
    expect((await machine.ask(`session export latest ../none/out ${words}`, 3)).error.message).toMatch(/no folder/)
  }
  expect(readdirSync(machine.root).filter((name) => name.includes("tmp") || name === "none")).toEqual([])
})

it("says why a file can't be written", async () => {
  await machine.run("session new")
  machine.write("file", "x")
  for (const format of ["keepup", "md", "json"]) {
    const to = (path: string, code: number) =>
      machine.ask(["session", "export", "latest", path, "--format", format], code)
    expect((await to("file/inside", 2)).error.code, format).toBe("INVALID_INPUT")
    expect((await to("/proc/inside", 3)).error.message, format).toBe(
      "Can't write /proc/inside: it is not there (ENOENT).",
    )
  }
})
