import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("keeps the files and starts a session where there is none", async () => {
  machine.write("a.txt", "one\n")
  const { code, out, err } = await machine.run("checkpoint create --name first --note why")
  expect({ code, out }).toEqual({
    code: 0,
    out: 'Checkpoint #1 "first" created at message #0 of "workspace".\nFiles: 1 in all. Go back with: keepup checkpoint restore 1\n',
  })
  expect(err).toMatch(/^There was no session in .* yet: started [0-9a-f]{8}\.\n$/)
})

it("answers with exactly the checkpoint", async () => {
  machine.write("a.txt", "one\n")
  const answer = await machine.ask("checkpoint create --name first --note why")
  expect(Object.keys(answer)).toEqual(["ok", "checkpoint"])
  expect(answer.checkpoint).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    number: 1,
    name: "first",
    note: "why",
    trigger: "manual",
    sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    messageIndex: 0,
    createdAt: machine.now,
    pinned: false,
    sizeBytes: expect.any(Number),
    snapshot: {
      commit: expect.stringMatching(/^[0-9a-f]{40}$/),
      filesChanged: expect.any(Number),
      insertions: expect.any(Number),
      deletions: 0,
      skipped: [],
    },
    git: null,
    metadata: {
      shadowCheckpoint: {
        commit: answer.checkpoint.snapshot.commit,
        base: null,
        message: "manual: first",
        createdAt: expect.any(Number),
      },
    },
  })
})

it("keeps a state that is handed over, from a file or standard input", async () => {
  machine.write("state.json", '{"plan":["a","b"]}')
  await machine.run("checkpoint create --state state.json")
  await machine.run("checkpoint create --state -", { input: '{"step":2}' })
  expect((await machine.ask("checkpoint show 2 --state")).state).toEqual({ plan: ["a", "b"], step: 2 })
  expect((await machine.ask("checkpoint create --state nothing.json", 3)).error.code).toBe("NOT_FOUND")
  machine.write("list.json", "[1]")
  expect((await machine.ask("checkpoint create --state list.json", 2)).error.message).toContain("must be a JSON object")
})

it("refuses a name that is taken", async () => {
  await machine.run("checkpoint create --name one")
  expect((await machine.ask("checkpoint create --name one", 5)).error).toEqual({
    code: "CONFLICT",
    message: 'This session has a checkpoint named "one" already: #1.',
    hint: "Choose another name.",
  })
})

it("refuses a folder that is no workspace, and leaves no session there", async () => {
  const home = `${machine.root}/home`
  expect((await machine.ask(["checkpoint", "create", "--cwd", home], 2)).error).toEqual({
    code: "INVALID_INPUT",
    message: `${home} can't be a workspace: it holds more than one piece of work, or keepup's own files.`,
    hint: "Go to the folder of one project, or name it with --cwd.",
  })
  expect((await machine.ask("session list --all")).sessions).toEqual([])
})

it("ends with an error when the files could not be kept, and keeps the conversation", async () => {
  machine.write("a.txt", "one\n")
  await machine.run("session new")
  const { code, out, err } = await machine.run("checkpoint create", { environment: { PATH: machine.root } })
  expect(code).toBe(8)
  expect(out).toMatch(/\nIt holds the conversation alone: the files could not be kept\. .*git.*\n$/)
  expect(err).toContain("Checkpoint #1 is not complete: ")
  expect((await machine.ask("checkpoint show 1")).checkpoint.snapshot).toBeNull()
})

it("names the session in what it suggests, if one was named", async () => {
  await machine.run(["session", "new", "Mine"])
  await machine.run(["session", "new", "Other"])
  const { out } = await machine.run("checkpoint create -S Mine")
  expect(out).toMatch(/keepup checkpoint restore 1 -S [0-9a-f]{8}\n$/)
})
