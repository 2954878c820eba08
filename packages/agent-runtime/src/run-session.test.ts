import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Checkpoint, type Entry, event } from "@ku0/agent-runtime-core"
import { createScriptedModel, type ScriptedAnswer } from "@ku0/agent-runtime-execution"
import { restoreCheckpoint } from "@ku0/agent-runtime-persistence"
import { afterEach, beforeEach, expect, it } from "vitest"
import { type Config, resolveConfig } from "./config.js"
import { openRuntime, type Runtime } from "./open-runtime.js"
import { requestPause } from "./pause-session.js"
import { runSession } from "./run-session.js"

let root: string
let runtime: Runtime

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "keepup-run-")))
  mkdirSync(join(root, "workspace"))
  runtime = await open()
})
afterEach(async () => {
  await runtime.close()
  rmSync(root, { recursive: true })
})

const open = (config?: Config) =>
  openRuntime({
    ...(config && { config }),
    stateDirectory: join(root, "state"),
    workspacePath: join(root, "workspace"),
    environment: { PATH: process.env["PATH"] },
  })
const read = (path: string) => readFileSync(join(root, "workspace", path), "utf8")
const model = (...answers: ScriptedAnswer[]) => createScriptedModel({ answers })

it("runs a prompt to its end, with every step in the log and a checkpoint of the files", async () => {
  const events: string[] = []
  const { session, run } = await runSession(runtime, {
    model: model(
      { toolCalls: [{ name: "write_file", arguments: { path: "a.txt", content: "hello" } }] },
      { content: "Done." },
    ),
    prompt: "Write a greeting",
    endSession: true,
    onEvent: ({ type }) => {
      events.push(type)
    },
  })
  expect(run).toMatchObject({ outcome: "completed", answer: "Done." })
  expect(session).toMatchObject({ status: "completed", name: "Write a greeting", messageCount: 4 })
  expect(read("a.txt")).toBe("hello")
  expect(events.filter((type) => type === "tool:started" || type === "tool:ended")).toHaveLength(2)
  const checkpoints = await runtime.store.checkpoints.list(session.id)
  expect(checkpoints.map(({ trigger }) => trigger)).toContain("run.ended")
  const files = await (await runtime.snapshots(runtime.workspacePath)).listFiles(
    checkpoints[0]?.snapshot?.commit as string,
  )
  expect(files.map(({ path }) => path)).toEqual(["a.txt"])
  expect(await runtime.store.leases.find(`session:${session.id}`)).toBeUndefined()
  expect(await runtime.store.leases.find(`workspace:${runtime.workspacePath}`)).toBeUndefined()
})

it("can be taken back to what someone changed by hand before the run, however long that took", async () => {
  const turns = Array.from({ length: 14 }, (_, i) => ({
    toolCalls: [{ name: "write_file", arguments: { path: "b.txt", content: `${i}` } }],
  }))
  const { session } = await runSession(runtime, { model: model({ content: "Nothing to do." }), prompt: "look" })
  const { checkpointCount } = session
  await runSession(runtime, {
    sessionId: session.id,
    model: model({ content: "Still nothing." }),
    prompt: "look again",
  })
  const before = await runtime.store.checkpoints.list(session.id)
  expect(before.filter(({ trigger }) => trigger === "session.started")).toHaveLength(1)
  expect(checkpointCount).toBeGreaterThan(0)
  writeFileSync(join(root, "workspace/a.txt"), "the work of an hour")
  const command = { name: "run_command", arguments: { command: "rm a.txt" } }
  await runSession(runtime, {
    sessionId: session.id,
    model: model({ toolCalls: [command] }, ...turns, { content: "Done." }),
    prompt: "go",
  })
  const kept = (await runtime.store.checkpoints.list(session.id)).find(
    ({ note }) => note === "The files before the run",
  )
  await restoreCheckpoint(runtime, { checkpoint: kept as Checkpoint, mode: "files" })
  expect(read("a.txt")).toBe("the work of an hour")
})

it("can be taken back to before the agent's first change", async () => {
  writeFileSync(join(root, "workspace/a.txt"), "as it was")
  const write = { toolCalls: [{ name: "write_file", arguments: { path: "a.txt", content: "as the agent has it" } }] }
  const { session } = await runSession(runtime, {
    model: model(
      { toolCalls: [{ name: "read_file", arguments: { path: "a.txt" } }, ...write.toolCalls] },
      { content: "Done." },
    ),
    prompt: "go",
  })
  expect(read("a.txt")).toBe("as the agent has it")
  const first = (await runtime.store.checkpoints.list(session.id)).at(-1) as Checkpoint
  expect(first).toMatchObject({ number: 1, trigger: "session.started" })
  await restoreCheckpoint(runtime, { checkpoint: first, sessionId: session.id, mode: "files" })
  expect(read("a.txt")).toBe("as it was")
  await runSession(runtime, { sessionId: session.id, model: model({ content: "Hi." }), prompt: "again" })
  const triggers = (await runtime.store.checkpoints.list(session.id)).map(({ trigger }) => trigger)
  // the restored files are others than those of the newest checkpoint, the restore's own
  expect(triggers.filter((trigger) => trigger === "session.started")).toHaveLength(2)
})

it("goes on in the same session, remembers its files, and refuses a stale edit", async () => {
  const { session } = await runSession(runtime, {
    model: model(
      { toolCalls: [{ name: "write_file", arguments: { path: "a.txt", content: "one" } }] },
      { content: "ok" },
    ),
    prompt: "first",
  })
  await runtime.close()
  writeFileSync(join(root, "workspace/a.txt"), "edited by hand")
  runtime = await open()
  const again = await runSession(runtime, {
    sessionId: session.id,
    model: model(
      { toolCalls: [{ name: "write_file", arguments: { path: "a.txt", content: "two" } }] },
      { content: "saw it" },
    ),
    prompt: "second",
  })
  expect(again.run.outcome).toBe("completed")
  expect(read("a.txt")).toBe("edited by hand")
  const { messages } = await runtime.store.log.fold(await runtime.store.log.head(session.id))
  const result = messages.findLast(({ role }) => role === "tool")
  expect(result?.content).toContain("Stale file context detected. Reload before editing:\n- a.txt")
})

it("pauses at the next safe point when another process asks, and resumes", async () => {
  const first = await runSession(runtime, {
    model: model(
      { toolCalls: [{ name: "todo_list", arguments: { items: [{ title: "x", status: "open" }] } }] },
      { content: "never" },
    ),
    prompt: "work",
    onEvent: async ({ type }) => {
      const [session] = await runtime.store.sessions.list()
      if (type === "tool:ended") await requestPause(runtime, session?.id as never)
    },
  })
  expect(first.run.outcome).toBe("paused")
  expect(first.session.status).toBe("paused")
  expect(await runtime.store.state.get(await runtime.store.log.head(first.session.id))).toMatchObject({
    todo: expect.anything(),
  })
  const second = await runSession(runtime, { sessionId: first.session.id, model: model({ content: "went on" }) })
  expect(second.run).toMatchObject({ outcome: "completed", answer: "went on" })
})

it("refuses a second run of the same session or workspace", async () => {
  const held = await runtime.store.leases.take(`workspace:${runtime.workspacePath}`, { purpose: "run" })
  await expect(runSession(runtime, { model: model({ content: "x" }), prompt: "p" })).rejects.toMatchObject({
    code: "SESSION_RUNNING",
  })
  await held.release()
  await runSession(runtime, { model: model({ content: "x" }), prompt: "p" })
})

it("lets an agent spawn another one, as a session of its own", async () => {
  const { session, run } = await runSession(runtime, {
    model: model(
      { toolCalls: [{ name: "spawn_agent", arguments: { agentType: "helper", task: "help out" } }] },
      { content: "child says hi" },
      { content: "parent done" },
    ),
    prompt: "delegate",
  })
  expect(run).toMatchObject({ outcome: "completed", answer: "parent done" })
  const child = (await runtime.store.sessions.list()).find(({ metadata }) => metadata["spawnedBy"] === session.id)
  expect(child).toMatchObject({ agentType: "helper", status: "completed" })
  const triggers = (await runtime.store.checkpoints.list(session.id)).map(({ trigger }) => trigger)
  expect(triggers).toContain("agent.spawned")
})

it("gives the answer of a child that came to its end before its parent died, and does not run it again", async () => {
  const delegate = { toolCalls: [{ name: "spawn_agent", arguments: { task: "help out" } }] }
  const { session } = await runSession(runtime, {
    model: model(delegate, { content: "child says hi" }, { content: "parent done" }),
    prompt: "delegate",
  })
  const { seq } = (await runtime.store.log.read(session.id)).find(({ type }) => type === "agent:spawned") as Entry
  const start = { sessionId: session.id, seq }
  const died = event("session:interrupted", { reason: "as if it had died while the child ran" })
  await runtime.store.log.append(session.id, [{ ...died, parent: start }])
  const again = model({ content: "parent went on" })
  const { run } = await runSession(runtime, { sessionId: session.id, model: again, inDoubt: "retry" })
  expect(run).toMatchObject({ outcome: "completed", answer: "parent went on" })
  expect(again.requests[0]?.messages.at(-1)?.content).toContain("child says hi")
  const children = (await runtime.store.sessions.list()).filter(({ metadata }) => metadata["spawnedBy"] !== undefined)
  expect(children).toHaveLength(1)
})

it("keeps each output of a call that comes again after a rewind", async () => {
  const script = [
    { toolCalls: [{ name: "run_command", arguments: { command: "yes $(cat word) | head -c 50000" } }] },
    { content: "done" },
  ]
  writeFileSync(join(root, "workspace/word"), "old")
  const first = await runSession(runtime, { model: model(...script), prompt: "shout" })
  const prompt = (await runtime.store.log.read(first.session.id)).find(({ type }) => type === "message:added") as Entry
  const back = { sessionId: prompt.sessionId, seq: prompt.seq }
  await runtime.store.log.append(first.session.id, [{ ...event("session:resumed", {}), parent: back }])
  writeFileSync(join(root, "workspace/word"), "new")
  await runSession(runtime, { sessionId: first.session.id, model: model(...script) })
  const artifacts = await runtime.store.artifacts.list({ sessionId: first.session.id })
  const texts = await Promise.all(
    artifacts.map(async ({ id }) => String.fromCharCode(...(await runtime.store.artifacts.read(id)).slice(0, 3))),
  )
  expect(texts).toEqual(["new", "old"])
})

it("lets go of the session and keeps the run's result when the last save fails", async () => {
  const warnings: string[] = []
  const checkpoints = runtime.store.checkpoints as { create: typeof runtime.store.checkpoints.create }
  const { create } = checkpoints
  checkpoints.create = async (options) => {
    if (options.trigger === "exit") throw new Error("the disk is full")
    return await create(options)
  }
  const { run } = await runSession(runtime, {
    model: model({ content: "hi" }),
    prompt: "greet",
    endSession: true,
    onEvent: ({ type }) => {
      if (type === "session:ended") writeFileSync(join(root, "workspace/late.txt"), "late")
    },
    onWarning: (message) => warnings.push(message),
  })
  expect(run.outcome).toBe("completed")
  expect(warnings.join()).toContain("the disk is full")
  expect(await runtime.store.leases.find(`workspace:${runtime.workspacePath}`)).toBeUndefined()
})

it("minds the rules of the settings for a tool and a path, and lets a caller have its own", async () => {
  await runtime.close()
  const config = resolveConfig({
    flags: { "approval.rules": ["deny * secrets/**", "deny write_file fixed.txt"] },
  }).config
  runtime = await open(config)
  writeFileSync(join(root, "workspace", "open.txt"), "needle")
  mkdirSync(join(root, "workspace", "secrets"))
  writeFileSync(join(root, "workspace", "secrets", "key"), "needle")
  const calls = [
    { name: "read_file", arguments: { path: "secrets/key" } },
    { name: "write_file", arguments: { path: "./sub/../fixed.txt", content: "x" } },
    { name: "search_files", arguments: { pattern: "needle" } },
    { name: "write_file", arguments: { path: "free.txt", content: "x" } },
  ]
  const { session } = await runSession(runtime, {
    model: model({ toolCalls: calls }, { content: "Done." }),
    prompt: "go",
  })
  const said = (await runtime.store.log.fold(await runtime.store.log.head(session.id))).messages
  expect(said.flatMap((message) => (message.role === "tool" ? [message.content] : []))).toEqual([
    expect.stringContaining("Not allowed"),
    expect.stringContaining("Not allowed"),
    "open.txt:1: needle",
    "Made free.txt (1 bytes).",
  ])
  const own = { mode: "auto" as const, rules: [] }
  const again = { model: model({ toolCalls: calls.slice(1, 2) }, { content: "Done." }), prompt: "go", approval: own }
  await runSession(runtime, again)
  expect(read("fixed.txt")).toBe("x")
})
