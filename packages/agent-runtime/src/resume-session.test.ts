/** What a session that goes on finds: its place, its files, its todo list, and the calls nobody knows the end of. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Checkpoint, event, type Message, type SessionId, visibleMessages } from "@ku0/agent-runtime-core"
import { createScriptedModel, type InDoubtChooser, type ScriptedAnswer } from "@ku0/agent-runtime-execution"
import { restoreCheckpoint } from "@ku0/agent-runtime-persistence"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openRuntime, type Runtime } from "./open-runtime.js"
import { requestPause } from "./pause-session.js"
import { runSession } from "./run-session.js"

let root: string
let runtime: Runtime
let now = Date.now()

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "keepup-resume-")))
  mkdirSync(join(root, "workspace"))
  runtime = await open()
})
afterEach(async () => {
  await runtime.close()
  rmSync(root, { recursive: true })
})

const open = () =>
  openRuntime({
    stateDirectory: join(root, "state"),
    workspacePath: join(root, "workspace"),
    environment: { PATH: process.env["PATH"] },
    clock: { now: () => now },
  })
const place = (path: string) => join(root, "workspace", path)
const read = (path: string) => readFileSync(place(path), "utf8")
const model = (...answers: ScriptedAnswer[]) => createScriptedModel({ answers })
const write = (path: string, content: string) => ({ toolCalls: [{ name: "write_file", arguments: { path, content } }] })

async function messagesOf(sessionId: SessionId): Promise<readonly Message[]> {
  return (await runtime.store.log.fold(await runtime.store.log.head(sessionId))).messages
}

async function lastResult(sessionId: SessionId): Promise<string | undefined> {
  return (await messagesOf(sessionId)).findLast(({ role }) => role === "tool")?.content
}

async function checkpointOf(sessionId: SessionId, name: string): Promise<Checkpoint> {
  return (await runtime.manager.take({ sessionId, trigger: "manual", name })) as Checkpoint
}

it("waits for the tool that runs when it is asked to pause, and goes on another day with its todo list", async () => {
  const todo = { name: "todo_list", arguments: { items: [{ title: "second", status: "open" }] } }
  const slow = { name: "run_command", arguments: { command: "until [ -e go ]; do sleep 0.01; done; echo ran >> ran" } }
  const never = { name: "run_command", arguments: { command: "echo later >> ran" } }
  const first = await runSession(runtime, {
    model: model({ toolCalls: [todo, slow, never] }),
    prompt: "work",
    onEvent: async ({ type, data }) => {
      if (type !== "tool:started" || (data as { name: string }).name !== "run_command" || existsSync(place("go")))
        return
      const [session] = await runtime.store.sessions.list()
      await requestPause(runtime, session?.id as SessionId)
      writeFileSync(place("go"), "")
    },
  })
  expect(first).toMatchObject({ run: { outcome: "paused" }, session: { status: "paused" } })
  expect(read("ran")).toBe("ran\n")
  await runtime.close()
  now += 3 * 86_400_000
  runtime = await open()
  const { run } = await runSession(runtime, { sessionId: first.session.id, model: model({ content: "end" }) })
  expect(run).toMatchObject({ outcome: "completed", answer: "end" })
  expect(read("ran")).toBe("ran\nlater\n")
  const state = await runtime.store.state.get(await runtime.store.log.head(first.session.id))
  expect(state["todo"]).toEqual([{ title: "second", status: "open" }])
})

it("goes back to a checkpoint before it goes on: files, conversation and what it knows of files", async () => {
  const { session } = await runSession(runtime, { model: model(write("a.txt", "one"), { content: "ok" }), prompt: "1" })
  const from = await checkpointOf(session.id, "good")
  const sessionId = session.id
  await runSession(runtime, { sessionId, model: model(write("a.txt", "two"), { content: "bad" }), prompt: "2" })
  expect(read("a.txt")).toBe("two")
  const scripted = model(write("a.txt", "three"), { content: "better" })
  const { run } = await runSession(runtime, { sessionId, model: scripted, prompt: "again", from })
  expect(run).toMatchObject({ outcome: "completed", answer: "better" })
  expect(scripted.requests[0]?.messages.map(({ content }) => content)).not.toContain("bad")
  expect(read("a.txt")).toBe("three")
})

describe("a restore makes what the agent knows stale", () => {
  it.each(["files", "conversation"] as const)(
    "of %s alone: the edit is refused until the file is read",
    async (mode) => {
      const first = await runSession(runtime, { model: model(write("a.txt", "one"), { content: "ok" }), prompt: "1" })
      const sessionId = first.session.id
      const checkpoint = await checkpointOf(sessionId, "one")
      await runSession(runtime, { sessionId, model: model(write("a.txt", "two"), { content: "ok" }), prompt: "2" })
      await restoreCheckpoint(runtime, { checkpoint, sessionId, mode })
      const before = read("a.txt")
      await runSession(runtime, { sessionId, model: model(write("a.txt", "three"), { content: "ok" }), prompt: "3" })
      expect(await lastResult(sessionId)).toContain("Stale file context detected. Reload before editing:\n- a.txt")
      expect(read("a.txt")).toBe(before)
      const reload = { toolCalls: [{ name: "read_file", arguments: { path: "a.txt" } }] }
      await runSession(runtime, {
        sessionId,
        model: model(reload, write("a.txt", "three"), { content: "ok" }),
        prompt: "4",
      })
      expect(read("a.txt")).toBe("three")
    },
  )
})

describe("a call that was in flight when the process died", () => {
  const command = "echo effect >> effects"
  const asked = { toolCalls: [{ name: "run_command", arguments: { command } }] }

  /** As the log of a process looks that died right after the command began, or right before its end. */
  async function die(): Promise<SessionId> {
    const { session } = await runSession(runtime, { model: model(asked, { content: "end" }), prompt: "go" })
    const entries = await runtime.store.log.read(session.id)
    const { seq } = entries.find(({ type }) => type === "tool:started") as { seq: number }
    const died = event("session:interrupted", { reason: "as if it had died" })
    await runtime.store.log.append(session.id, [{ ...died, parent: { sessionId: session.id, seq } }])
    return session.id
  }

  it("is shown to whoever chooses, and can be marked as done: it is not run again and counts as done", async () => {
    const sessionId = await die()
    const shown: string[] = []
    const inDoubt: InDoubtChooser = ({ name, known }) => {
      shown.push(`${name}: ${known.summary}`)
      return "done"
    }
    const { run } = await runSession(runtime, { sessionId, model: model({ content: "went on" }), inDoubt })
    expect(run).toMatchObject({ outcome: "completed", answer: "went on" })
    expect(shown).toEqual([expect.stringContaining("run_command: The command does not run any more")])
    expect(await lastResult(sessionId)).toContain("The user says it is done.")
    expect((await messagesOf(sessionId)).findLast(({ role }) => role === "tool")).not.toHaveProperty("isError")
    expect(read("effects")).toBe("effect\n")
  })

  it.each([
    ["skip", "completed", 1],
    ["retry", "completed", 2],
    ["fail", "failed", 1],
    ["stop", "in-doubt", 1],
  ] as const)("by the policy %s ends as %s", async (inDoubt, outcome, effects) => {
    const sessionId = await die()
    const { run } = await runSession(runtime, { sessionId, model: model({ content: "went on" }), inDoubt })
    expect(run.outcome).toBe(outcome)
    expect(read("effects")).toBe("effect\n".repeat(effects))
  })
})

it("brings back what a summary hid when it goes back before it", async () => {
  const long = { toolCalls: [{ name: "run_command", arguments: { command: "seq 1 300" } }] }
  const sessionId = (await runSession(runtime, { model: model(long, long, { content: "ok" }), prompt: "go" })).session
    .id
  const checkpoint = await checkpointOf(sessionId, "before")
  const before = visibleMessages(await messagesOf(sessionId))
  const summary = model({ content: "the summary" }, { content: "done" })
  await runSession(runtime, { sessionId, model: summary, prompt: "more", windowTokens: 600 })
  const after = visibleMessages(await messagesOf(sessionId))
  expect(after.some(({ role }) => role === "summary")).toBe(true)
  expect(after.length).toBeLessThan(before.length + 2)
  await restoreCheckpoint(runtime, { checkpoint, sessionId, mode: "conversation" })
  expect(visibleMessages(await messagesOf(sessionId))).toEqual(before)
})
