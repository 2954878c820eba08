/** Law 8 for an agent and the one it spawned, killed together: one call, one child, and what is known of it is shown. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Session, SessionId } from "@ku0/agent-runtime-core"
import { createScriptedModel, type ScriptedAnswer } from "@ku0/agent-runtime-execution"
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest"
import { type InDoubtCall, openRuntime, type Runtime, requestPause, runSession } from "../src/index.js"
import { bundleProgram } from "./crash/start-batch.js"

let bundle = ""
let root = ""
let runtime: Runtime | undefined

beforeAll(async () => {
  bundle = await bundleProgram("run-family")
})
afterAll(() => rmSync(bundle, { force: true }))
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "keepup-family-")))
  mkdirSync(join(root, "workspace"))
})
afterEach(async () => {
  await runtime?.close()
  rmSync(root, { recursive: true, maxRetries: 10 })
})

const place = (path: string) => join(root, "workspace", path)
const model = (...answers: ScriptedAnswer[]) => createScriptedModel({ answers })
const childrenOf = async (parent: SessionId): Promise<Session[]> =>
  (await (runtime as Runtime).store.sessions.list()).filter(({ metadata }) => metadata["spawnedBy"] === parent)

/** Starts both in a process of their own, and waits until the time has come. */
async function start(command: string, isTime: (said: string) => boolean) {
  const family = spawn(process.execPath, ["--no-warnings", bundle, root, command], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { PATH: process.env["PATH"] },
  })
  let said = ""
  family.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text
  })
  const ended = once(family, "close")
  while (!isTime(said) && family.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 5))
  return { family, ended, said: () => said }
}

/** Kills both when the time has come, and opens what is left. */
async function kill(command: string, isTime: (said: string) => boolean): Promise<{ parent: Session; child: Session }> {
  const { family, ended } = await start(command, isTime)
  family.kill("SIGKILL")
  await ended
  return await openFamily()
}

async function openFamily(): Promise<{ parent: Session; child: Session }> {
  runtime = await openRuntime({
    stateDirectory: join(root, "state"),
    workspacePath: join(root, "workspace"),
    environment: { PATH: process.env["PATH"] },
  })
  const [child, parent] = await runtime.store.sessions.list()
  return { child: child as Session, parent: parent as Session }
}

test("the call in doubt shows the child and where it stands, and a retry goes on with it", async () => {
  const { parent, child } = await kill("echo effect >> effects", (said) => said.includes("waits"))
  expect(parent.status).toBe("paused")
  const asked = await runSession(runtime as Runtime, { sessionId: parent.id, model: model() })
  expect(asked.run.outcome).toBe("in-doubt")
  const [call] = asked.run.inDoubt as readonly InDoubtCall[]
  expect(call).toMatchObject({ name: "spawn_agent", known: { isApplied: false } })
  expect(call?.known.summary).toBe(
    `The other agent's session ${child.id} is paused, at message 3. A retry goes on with it; no second one is started.`,
  )
  const scripted = model({ content: "child is done" }, { content: "parent is done" })
  const { run } = await runSession(runtime as Runtime, { sessionId: parent.id, model: scripted, inDoubt: "retry" })
  expect(run).toMatchObject({ outcome: "completed", answer: "parent is done" })
  expect(scripted.requests[0]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"])
  expect(scripted.requests[1]?.messages.at(-1)?.content).toContain("child is done")
  expect((await childrenOf(parent.id)).map(({ id, status }) => [id, status])).toEqual([[child.id, "completed"]])
  expect(readFileSync(place("effects"), "utf8")).toBe("effect\n")
})

test("with a call of the child in doubt too, both are shown, and to stop at the second leaves both as they are", async () => {
  const command = "echo effect >> effects; while [ -e effects ]; do sleep 0.05; done"
  const { parent, child } = await kill(command, () => existsSync(place("effects")))
  const shown: string[] = []
  const choose = (choice: "stop" | "done") => (call: InDoubtCall) => {
    shown.push(call.name)
    return call.name === "spawn_agent" ? "retry" : choice
  }
  const stopped = await runSession(runtime as Runtime, {
    sessionId: parent.id,
    model: model(),
    inDoubt: choose("stop"),
  })
  expect(stopped).toMatchObject({ run: { outcome: "paused" }, session: { status: "paused" } })
  expect(shown).toEqual(["spawn_agent", "run_command"])
  const scripted = model({ content: "child is done" }, { content: "parent is done" })
  const { run } = await runSession(runtime as Runtime, {
    sessionId: parent.id,
    model: scripted,
    inDoubt: choose("done"),
  })
  expect(run).toMatchObject({ outcome: "completed", answer: "parent is done" })
  expect(shown).toEqual(["spawn_agent", "run_command", "run_command"])
  expect((await childrenOf(parent.id)).map(({ id, status }) => [id, status])).toEqual([[child.id, "completed"]])
  expect(readFileSync(place("effects"), "utf8")).toBe("effect\n")
})

test("a pause from this process reaches the child in the other one, and both go on here", async () => {
  const command = "touch begun; until [ -e go ]; do sleep 0.02; done; echo effect >> effects"
  const { ended, said } = await start(command, () => existsSync(place("begun")))
  const { parent, child } = await openFamily()
  expect([parent.status, child.status]).toEqual(["active", "active"])
  await requestPause(runtime as Runtime, parent.id)
  writeFileSync(place("go"), "")
  await ended
  expect(said()).toBe("paused\n")
  const scripted = model({ content: "child is done" }, { content: "parent is done" })
  const { run } = await runSession(runtime as Runtime, { sessionId: parent.id, model: scripted })
  expect(run).toMatchObject({ outcome: "completed", answer: "parent is done" })
  expect((await childrenOf(parent.id)).map(({ id, status }) => [id, status])).toEqual([[child.id, "completed"]])
  expect(readFileSync(place("effects"), "utf8")).toBe("effect\n")
})

test("skipped, the child is not gone on with, and the model is told where it stands", async () => {
  const { parent, child } = await kill("echo effect >> effects", (said) => said.includes("waits"))
  const scripted = model({ content: "without it" })
  const { run } = await runSession(runtime as Runtime, { sessionId: parent.id, model: scripted, inDoubt: "skip" })
  expect(run).toMatchObject({ outcome: "completed", answer: "without it" })
  expect(scripted.requests[0]?.messages.at(-1)?.content).toContain(`session ${child.id} is paused`)
  expect((await childrenOf(parent.id)).map(({ id, status }) => [id, status])).toEqual([[child.id, "paused"]])
})
