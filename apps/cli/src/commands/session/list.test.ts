import { afterEach, beforeEach, expect, it } from "vitest"
import { createTestMachine, type TestMachine } from "../../testing/run-keepup.js"

let machine: TestMachine

beforeEach(() => {
  machine = createTestMachine()
})
afterEach(() => machine.remove())

it("is newest first, with exactly the keys of a session", async () => {
  await machine.run(["session", "new", "First", "--task", "do it"])
  machine.now += 3_600_000
  await machine.run(["session", "new", "Second"])
  const answer = await machine.ask("session list")
  expect(Object.keys(answer)).toEqual(["ok", "sessions"])
  expect(answer.sessions.map(({ name }: { name: string }) => name)).toEqual(["Second", "First"])
  expect(answer.sessions[1]).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    name: "First",
    status: "active",
    agentType: "manual",
    taskDescription: "do it",
    workspacePath: machine.workspace,
    createdAt: machine.now - 3_600_000,
    updatedAt: machine.now - 3_600_000,
    messageCount: 0,
    checkpointCount: 0,
    parentSessionId: null,
    forkedFromCheckpointId: null,
    metadata: {},
  })
  const { out } = await machine.run("session list")
  expect(out.replace(/[0-9a-f]{8}/g, "ID######")).toBe(`ID        NAME    STATUS  MSGS  CHKP  CHANGED
ID######  Second  active     0     0  just now
ID######  First   active     0     0  1 h ago
2 sessions
`)
})

it("draws branches as a tree", async () => {
  await machine.run(["session", "new", "Parser"])
  await machine.run("checkpoint create")
  await machine.run("rewind 1 --yes")
  await machine.run(["session", "new", "Other"])
  const { out } = await machine.run("session list --tree")
  expect(out.replace(/[0-9a-f]{8}/g, "ID")).toBe(`ID  Parser  (active, 0 messages, 1 checkpoint, just now)
\`-- from #1  ID  Parser (rewind from #1)  (active, 0 messages, 1 checkpoint, just now)
ID  Other  (active, 0 messages, 0 checkpoints, just now)
`)
})

it("shows other workspaces only when asked, and filters by status", async () => {
  await machine.run("session new")
  machine.write("else/a", "")
  const other = async (flags: string) => (await machine.ask(`session list --cwd else ${flags}`)).sessions
  expect(await other("")).toEqual([])
  expect(await other("--all")).toHaveLength(1)
  expect(await other("--all --status paused")).toEqual([])
  expect((await machine.ask("session list --status odd", 2)).error.code).toBe("INVALID_INPUT")
  expect((await machine.run("session list --cwd else")).out).toContain("No sessions in")
  expect((await machine.ask("session list --cwd nowhere", 2)).error.message).toContain("There is no folder")
})

it("does not obey what is in a name", async () => {
  await machine.run(["session", "new", "a\u001b[2Jb\nc"])
  expect((await machine.run("session list")).out).toContain("a\\u001b[2Jb c")
})
