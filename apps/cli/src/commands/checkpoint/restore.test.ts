import { execFileSync } from "node:child_process"
import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import { openStore } from "@ku0/agent-runtime"
import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

const good = { "a.txt": "one\n", "gone.txt": "here\n" }

beforeEach(async () => {
  for (const [path, content] of Object.entries(good)) machine.write(path, content)
  await machine.run("checkpoint create --name good")
  machine.write("a.txt", "two\n")
  machine.write("new.txt", "new\n")
  rmSync(join(machine.workspace, "gone.txt"))
  await machine.run("checkpoint create")
})

it("shows the plan, asks, does it, and says how to take it back", async () => {
  machine.write("new.txt", "changed by hand\n")
  const { code, out, err } = await machine.run("checkpoint restore 1", { answers: ["y"] })
  expect(code).toBe(0)
  expect(err.replace(/\([0-9a-f]{8}\)/, "(ID)")).toBe(`Restore #1 "good", just now
of "workspace" (ID)
in ${machine.workspace}

  2 files written
    w a.txt
    w gone.txt
  1 file deleted
    d new.txt
  1 of these changed since the newest checkpoint, by you or another program
    ! new.txt

What was never captured, like ignored files, is left alone. Everything else is kept in a safety checkpoint first.

Restore? [y/N] `)
  expect(out).toBe(
    'Restored #1 "good": 2 files written, 1 file deleted. Before it is kept as #3.\nTake it back with: keepup checkpoint undo\n',
  )
  expect(machine.read("a.txt")).toBe("one\n")
  expect(machine.read("gone.txt")).toBe("here\n")
  expect(existsSync(join(machine.workspace, "new.txt"))).toBe(false)
})

it("does not do what nobody said yes to: a file that changes while it asks stops it", async () => {
  const late = () => {
    machine.write("late.txt", "written while the question stood there\n")
    return "y"
  }
  for (const how of ["", " --branch"]) {
    rmSync(join(machine.workspace, "late.txt"), { force: true })
    const { code, err } = await machine.run(`checkpoint restore 1${how}`, { answers: [late] })
    expect(code).toBe(5)
    expect(err).toContain("late.txt changed after the plan was shown.")
  }
  expect([machine.read("a.txt"), existsSync(join(machine.workspace, "late.txt"))]).toEqual(["two\n", true])
  expect((await machine.run("checkpoint restore 1", { answers: ["y"] })).code).toBe(0)
})

it("changes nothing when the answer is no, or nobody can answer", async () => {
  const no = await machine.run("checkpoint restore 1", { answers: ["n"] })
  expect(no.code).toBe(130)
  expect(no.err).toContain("cancelled: Nothing was changed.")
  const nobody = await machine.ask("checkpoint restore 1", 2)
  expect(nobody).toEqual({
    ok: false,
    error: {
      code: "INVALID_INPUT",
      message: "Nobody can be asked here: Restore?",
      hint: "Say yes beforehand with --yes, or look first with --dry-run.",
    },
  })
  expect(machine.read("a.txt")).toBe("two\n")
})

it("answers with the restore and the plan, exactly; a dry run says that it was one", async () => {
  const plan = { write: ["a.txt", "gone.txt"], delete: ["new.txt"], untouched: 0, notCaptured: [] }
  const id = expect.stringMatching(/^[0-9a-f-]{36}$/)
  const dry = await machine.ask("checkpoint restore 1 --dry-run")
  expect(dry).toEqual({
    ok: true,
    restore: { id: null, checkpointId: id, safetyCheckpointId: null, sessionId: id, mode: "both" },
    plan,
    applied: false,
  })
  expect(machine.read("a.txt")).toBe("two\n")
  expect(await machine.ask("checkpoint restore 1 --yes")).toEqual({
    ok: true,
    restore: { id, checkpointId: id, safetyCheckpointId: id, sessionId: id, mode: "both" },
    plan,
  })
})

it("restores some paths only", async () => {
  await machine.run("checkpoint restore 1 --path a.txt --yes")
  expect(machine.read("a.txt")).toBe("one\n")
  expect(machine.read("new.txt")).toBe("new\n")
  expect((await machine.ask("checkpoint restore 1 --path a.txt --conversation --yes", 2)).error.code).toBe(
    "INVALID_INPUT",
  )
})

it("restores as a new session by its name", async () => {
  const answer = await machine.ask(["checkpoint", "restore", "1", "--branch", "second attempt", "--yes"])
  expect(Object.keys(answer)).toEqual(["ok", "restore", "plan", "session"])
  expect(answer.session).toMatchObject({ name: "second attempt", id: answer.restore.sessionId })
  expect(answer.session.forkedFromCheckpointId).toBe(answer.restore.checkpointId)
  expect(machine.read("a.txt")).toBe("one\n")
})

it("is refused while a task is running, and says who holds it", async () => {
  const { sessions } = await machine.ask("session list")
  const store = await openStore(`sqlite:${join(machine.state, "keepup.db")}`)
  const lease = await store.leases.take(`session:${sessions[0].id}`, { purpose: "run" })
  const { error } = await machine.ask("checkpoint restore 1 --yes", 4)
  expect(error.message).toMatch(
    /^Cannot restore checkpoint while a task is running\. Held by run \(pid \d+ on .+\) since 2/,
  )
  await lease.release()
  await store.close()
})

it("takes paths from where one stands, and refuses those outside the workspace", async () => {
  machine.write("src/a.txt", "one\n")
  await machine.run("init --project")
  await machine.run("session new")
  await machine.run("checkpoint create --name inner")
  machine.write("src/a.txt", "two\n")
  machine.write("a.txt", "three\n")
  const { code } = await machine.run("checkpoint restore inner --path a.txt --yes", { folder: "src" })
  expect(code).toBe(0)
  expect([machine.read("src/a.txt"), machine.read("a.txt")]).toEqual(["one\n", "three\n"])
  for (const path of ["../outside.txt", "/etc/passwd"]) {
    const { error } = await machine.ask(`checkpoint restore inner --path ${path} --yes`, 2)
    expect(error.message).toBe(`${path} is not in the workspace ${machine.workspace}.`)
  }
})

it("names what it left alone where the checkpoint has a file", async () => {
  rmSync(join(machine.workspace, "a.txt"))
  execFileSync("mkfifo", [join(machine.workspace, "a.txt")])
  const { out } = await machine.run("checkpoint restore 1 --yes")
  expect(out).toContain("\nLeft alone, because it was never captured: a.txt (special).\n")
})
