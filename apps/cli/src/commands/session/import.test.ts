import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("takes an exported session in, with its checkpoints and their files", async () => {
  machine.write("a.txt", "one\n")
  const script = machine.script("s.jsonl", [{ content: "Done." }])
  await machine.run(["run", "work", "--script", script])
  await machine.run("session export latest ../out.keepup")
  machine.write("else/b.txt", "b")
  const { session } = await machine.ask("session import ../out.keepup --cwd else")
  expect(session).toMatchObject({ name: "work", status: "completed", messageCount: 2 })
  expect(session.workspacePath).toBe(`${machine.workspace}/else`)
  const { files } = await machine.ask(`checkpoint show latest --files -S ${session.id}`)
  expect(files).toEqual([{ path: "a.txt", mode: "100644" }])
})

it("takes in what was exported as JSON, whatever is said and stored in it, and proves it too", async () => {
  machine.write("a.txt", `,\n]\n[\n\u2028,\n${"x,\n".repeat(100_000)}`)
  machine.write("b.bin", randomBytes(300_000).toString("latin1"))
  const script = machine.script("s.jsonl", [{ content: "Done,\n]\n" }])
  await machine.run(["run", "work", "--script", script])
  await machine.run("session export latest ../out.json --format json")
  const file = join(machine.root, "out.json")
  const whole = readFileSync(file, "utf8")
  const records = JSON.parse(whole)
  expect(records[0].format).toBe("keepup-session")
  expect(records.at(-1).record).toBe("end")
  const { session } = await machine.ask("session import ../out.json")
  expect(session).toMatchObject({ name: "work", messageCount: 2 })
  const { files } = await machine.ask(`checkpoint show latest --files -S ${session.id}`)
  expect(files).toHaveLength(2)
  writeFileSync(file, whole.replace("Done,", "Gone,"))
  const { error } = await machine.ask("session import ../out.json", 6)
  expect(error).toMatchObject({ code: "CORRUPT" })
  expect(error.message).toContain(file)
  expect(readdirSync(join(machine.state, "import"))).toEqual([])
})

it("is not the session one goes on with", async () => {
  const script = machine.script("s.jsonl", [{ content: "Done." }])
  const { session } = JSON.parse(
    (await machine.run(["run", "work", "--script", script, "--json"])).out.trim().split("\n").at(-1) as string,
  )
  await machine.run("session export latest ../out.keepup")
  await machine.run("session import ../out.keepup")
  expect((await machine.ask("session show")).session.id).toBe(session.id)
})

it("refuses what is no export, and what is not there", async () => {
  machine.write("odd.keepup", "odd")
  expect(await machine.ask("session import odd.keepup").catch((error: Error) => error.message)).toMatch(
    /ended with [26]/,
  )
  expect((await machine.ask("session import nothing.keepup", 3)).error.code).toBe("NOT_FOUND")
  expect((await machine.ask("session list")).sessions).toEqual([])
})

it("does not wait for what a pipe may bring", async () => {
  execFileSync("mkfifo", [join(machine.workspace, "pipe")])
  expect((await machine.ask("session import pipe", 2)).error.message).toMatch(/not a file/)
})

it("says that a folder is no export", async () => {
  expect((await machine.ask("session import .", 2)).error.message).toMatch(/can't be read: EISDIR/)
})
