/** An agent and the one it spawned: a pause and a cancel reach both, and both go on. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { event, type Message, type Session, type SessionId, visibleMessages } from "@ku0/agent-runtime-core"
import { createScriptedModel, type ScriptedAnswer } from "@ku0/agent-runtime-execution"
import { afterEach, beforeEach, expect, it } from "vitest"
import { openRuntime, type Runtime } from "./open-runtime.js"
import { requestPause } from "./pause-session.js"
import { type RunSessionOptions, runSession } from "./run-session.js"

let root: string
let runtime: Runtime

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "keepup-children-")))
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
  })
const place = (path: string) => join(root, "workspace", path)
const model = (...answers: ScriptedAnswer[]) => createScriptedModel({ answers })
const command = (text: string) => ({ name: "run_command", arguments: { command: text } })
const spawn = { name: "spawn_agent", arguments: { task: "help out" } }
const holdUp = command("echo begun >> ran; until [ -e go ]; do sleep 0.01; done; echo ended >> ran")

const childrenOf = async (parent: SessionId): Promise<Session[]> =>
  (await runtime.store.sessions.list()).filter(({ metadata }) => metadata["spawnedBy"] === parent)

async function messagesOf(sessionId: SessionId): Promise<readonly Message[]> {
  return (await runtime.store.log.fold(await runtime.store.log.head(sessionId))).messages
}

async function typesOf(sessionId: SessionId): Promise<string[]> {
  return (await runtime.store.log.read(sessionId)).map(({ type }) => type)
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 5))
}

const hasBegun = () => existsSync(place("ran")) && readFileSync(place("ran"), "utf8").endsWith("\n")

/** A parent whose child runs a command that waits for the file `go`. */
async function startBoth(options: Partial<RunSessionOptions> = {}) {
  const asked = { toolCalls: [spawn, command("echo parent >> ran")] }
  const run = runSession(runtime, {
    model: model(asked, { toolCalls: [holdUp, command("echo child >> ran")] }),
    prompt: "delegate",
    ...options,
  })
  await Promise.race([until(hasBegun), run])
  const parent = (await runtime.store.sessions.list()).find(({ metadata }) => metadata["spawnedBy"] === undefined)
  return { run, parentId: parent?.id as SessionId }
}

/** What is true of both once they stand still. */
async function expectStopped(parentId: SessionId): Promise<Session> {
  const [child, ...others] = await childrenOf(parentId)
  expect(others).toEqual([])
  expect(child?.status).toBe("paused")
  expect(await runtime.store.checkpoints.list(child?.id as SessionId)).not.toEqual([])
  for (const id of [parentId, child?.id as SessionId]) {
    const fold = await runtime.store.log.fold(await runtime.store.log.head(id))
    expect(fold).toMatchObject({ openToolCalls: [], inDoubtToolCalls: [] })
    expect(await runtime.store.leases.find(`session:${id}`)).toBeUndefined()
  }
  expect(await runtime.store.leases.find(`workspace:${runtime.workspacePath}`)).toBeUndefined()
  return child as Session
}

/** Goes on with the parent: the child ends what it was at, and both come to their end. */
async function expectGoesOn(parentId: SessionId, child: Session): Promise<void> {
  await runtime.close()
  runtime = await open()
  const scripted = model({ content: "child is done" }, { content: "parent is done" })
  const { run } = await runSession(runtime, { sessionId: parentId, model: scripted })
  expect(run).toMatchObject({ outcome: "completed", answer: "parent is done" })
  expect((await childrenOf(parentId)).map(({ id, status }) => [id, status])).toEqual([[child.id, "completed"]])
  const results = visibleMessages(await messagesOf(parentId)).filter(({ role }) => role === "tool")
  expect(results[0]?.content).toContain("child is done")
  const types = await typesOf(parentId)
  expect(types.filter((type) => type === "agent:spawned")).toHaveLength(1)
  expect(types).not.toContain("tool:in-doubt")
  expect((await typesOf(child.id)).filter((type) => type === "session:resumed")).toHaveLength(1)
}

it("a pause that another process asks for stops the child at its next safe point, and both go on", async () => {
  const { run, parentId } = await startBoth()
  const other = await open()
  await requestPause(other, parentId)
  await other.close()
  writeFileSync(place("go"), "")
  expect(await run).toMatchObject({ run: { outcome: "paused" }, session: { id: parentId, status: "paused" } })
  expect(readFileSync(place("ran"), "utf8")).toBe("begun\nended\n")
  const child = await expectStopped(parentId)
  expect((await runtime.store.log.read(parentId)).findLast(({ type }) => type === "tool:ended")?.data).toMatchObject({
    name: "spawn_agent",
    outcome: "paused",
  })
  await expectGoesOn(parentId, child)
  expect(readFileSync(place("ran"), "utf8")).toBe("begun\nended\nchild\nparent\n")
})

it("a pause of the child alone pauses its parent too", async () => {
  const { run, parentId } = await startBoth()
  const [child] = await childrenOf(parentId)
  await requestPause(runtime, child?.id as SessionId)
  writeFileSync(place("go"), "")
  expect(await run).toMatchObject({ run: { outcome: "paused" }, session: { status: "paused" } })
  await expectGoesOn(parentId, await expectStopped(parentId))
})

it("a pause reaches the child of a child", async () => {
  const deep = { toolCalls: [{ name: "spawn_agent", arguments: { task: "help the helper" } }] }
  const run = runSession(runtime, { model: model({ toolCalls: [spawn] }, deep, { toolCalls: [holdUp] }), prompt: "go" })
  await Promise.race([until(hasBegun), run])
  const parentId = (await runtime.store.sessions.list()).at(-1)?.id as SessionId
  await requestPause(runtime, parentId)
  writeFileSync(place("go"), "")
  expect((await run).run.outcome).toBe("paused")
  expect((await runtime.store.sessions.list()).map(({ status }) => status)).toEqual(["paused", "paused", "paused"])
  const scripted = model({ content: "deepest" }, { content: "middle" }, { content: "top" })
  const again = await runSession(runtime, { sessionId: parentId, model: scripted })
  expect(again.run).toMatchObject({ outcome: "completed", answer: "top" })
  expect(await runtime.store.sessions.list()).toHaveLength(3)
})

it("a cancel stops the child and its command, and both go on", async () => {
  const stop = new AbortController()
  const { run, parentId } = await startBoth({ signal: stop.signal })
  stop.abort()
  expect((await run).run.outcome).toBe("cancelled")
  expect(readFileSync(place("ran"), "utf8")).toBe("begun\n")
  const child = await expectStopped(parentId)
  await expectGoesOn(parentId, child)
  expect(readFileSync(place("ran"), "utf8")).toBe("begun\nparent\n")
})

it("a new prompt after a pause closes the call, and the child stays as it is", async () => {
  const { run, parentId } = await startBoth()
  await requestPause(runtime, parentId)
  writeFileSync(place("go"), "")
  await run
  const child = await expectStopped(parentId)
  const scripted = model({ content: "something else" })
  const again = await runSession(runtime, { sessionId: parentId, model: scripted, prompt: "no, something else" })
  expect(again.run).toMatchObject({ outcome: "completed", answer: "something else" })
  const results = scripted.requests[0]?.messages.filter(({ role }) => role === "tool")
  expect(results?.map(({ content }) => content)).toEqual(
    Array(2).fill("Not finished: the user asked for something else."),
  )
  expect((await runtime.store.sessions.get(child.id)).status).toBe("paused")
})

it("the parent's checkpoint has the files as they were before the child began", async () => {
  writeFileSync(place("a.txt"), "before")
  const write = { name: "write_file", arguments: { path: "b.txt", content: "by the child" } }
  const answers = [{ toolCalls: [spawn] }, { toolCalls: [write] }, { content: "child" }, { content: "parent" }]
  const { session } = await runSession(runtime, { model: model(...answers), prompt: "delegate" })
  const checkpoints = await runtime.store.checkpoints.list(session.id)
  const spawned = checkpoints.find(({ trigger }) => trigger === "agent.spawned")
  const files = await (await runtime.snapshots(runtime.workspacePath)).listFiles(spawned?.snapshot?.commit as string)
  expect(files.map(({ path }) => path)).toEqual(["a.txt"])
  expect(existsSync(place("b.txt"))).toBe(true)
})

it("a file the child changed is stale for its parent", async () => {
  writeFileSync(place("a.txt"), "one")
  const edit = (oldText: string, newText: string) => ({
    toolCalls: [{ name: "edit_file", arguments: { edits: [{ path: "a.txt", oldText, newText }] } }],
  })
  const read = { name: "read_file", arguments: { path: "a.txt" } }
  const answers = [{ toolCalls: [read] }, { toolCalls: [spawn] }, { toolCalls: [read] }, edit("one", "two")]
  const scripted = model(...answers, { content: "child" }, edit("two", "three"), { content: "parent" })
  await runSession(runtime, { model: scripted, prompt: "delegate" })
  const result = scripted.requests.at(-1)?.messages.at(-1)?.content
  expect(result).toContain("CONFLICT: Stale file context detected. Reload before editing:\n- a.txt")
  expect(readFileSync(place("a.txt"), "utf8")).toBe("two")
})

it("a child may do no more than its parent", async () => {
  const write = { name: "write_file", arguments: { path: "secrets/key", content: "x" } }
  const rules = [{ tool: "*", path: "secrets/**", decision: "deny" as const }]
  const scripted = model({ toolCalls: [spawn] }, { toolCalls: [write] }, { content: "child" }, { content: "parent" })
  await runSession(runtime, { model: scripted, prompt: "delegate", approval: { mode: "auto", rules } })
  expect(scripted.requests[2]?.messages.at(-1)?.content).toBe("Not allowed: the rules of this session deny write_file.")
  expect(existsSync(place("secrets/key"))).toBe(false)
})

it("the same call after a rewind gets a child of its own", async () => {
  const answers = [{ toolCalls: [spawn] }, { content: "child" }, { content: "parent" }]
  const { session } = await runSession(runtime, { model: model(...answers), prompt: "delegate" })
  const prompt = (await runtime.store.log.read(session.id)).find(({ type }) => type === "message:added")
  const back = { sessionId: session.id, seq: prompt?.seq as number }
  await runtime.store.log.append(session.id, [{ ...event("session:resumed", {}), parent: back }])
  const [, , ...last] = answers
  const scripted = model({ toolCalls: [spawn] }, { content: "another child" }, ...last)
  await runSession(runtime, { sessionId: session.id, model: scripted })
  expect(scripted.requests.at(-1)?.messages.at(-1)?.content).toContain("another child")
  expect(await childrenOf(session.id)).toHaveLength(2)
})

it("a child whose parent died before it could say so is the child of the call", async () => {
  const { run, parentId } = await startBoth()
  await requestPause(runtime, parentId)
  writeFileSync(place("go"), "")
  await run
  const [child] = await childrenOf(parentId)
  const log = await runtime.store.log.read(parentId)
  const spawned = log.find(({ type }) => type === "agent:spawned")
  const { driver } = runtime.store.context
  await driver.run("UPDATE entries SET type = 'noise:made' WHERE session_id = ? AND seq = ?", [
    parentId,
    spawned?.seq as number,
  ])
  const again = await runSession(runtime, {
    sessionId: parentId,
    model: model({ content: "child is done" }, { content: "parent is done" }),
  })
  expect(again.run).toMatchObject({ outcome: "completed", answer: "parent is done" })
  expect((await childrenOf(parentId)).map(({ id }) => id)).toEqual([child?.id])
  expect(await typesOf(parentId)).toContain("agent:spawned")
})
