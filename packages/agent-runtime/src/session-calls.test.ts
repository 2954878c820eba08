import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import {
  createSession,
  listCheckpoints,
  loadCheckpoint,
  openRuntime,
  type Runtime,
  resumeSession,
  saveCheckpoint,
} from "./index.js"

let root: string
let runtime: Runtime
beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "keepup-calls-")))
  mkdirSync(join(root, "workspace"))
  runtime = await open()
})
afterEach(async () => {
  await runtime.close()
  rmSync(root, { recursive: true, force: true })
})

const open = () =>
  openRuntime({
    workspacePath: join(root, "workspace"),
    stateDirectory: join(root, "state"),
    environment: { PATH: process.env["PATH"] },
  })
const write = (text: string) => writeFileSync(join(root, "workspace/a.txt"), text)
const read = () => readFileSync(join(root, "workspace/a.txt"), "utf8")

describe("a session in five calls", () => {
  it("is created with an id, a time, an agent, a task and a status (FR-1)", async () => {
    const before = Date.now()
    const session = await createSession(runtime, { agentType: "implementer", taskDescription: "parse" })
    expect(session).toMatchObject({ agentType: "implementer", taskDescription: "parse", status: "active" })
    expect(session.id).toMatch(/^[0-9a-f-]{36}$/)
    expect(session.createdAt).toBeGreaterThanOrEqual(before)
    expect(session.workspacePath).toBe(join(root, "workspace"))
  })

  it("keeps state, progress and git facts under a name and gives them back after a restart (FR-2)", async () => {
    execFileSync("git", ["init", "-q", "-b", "trunk"], { cwd: join(root, "workspace") })
    const { id } = await createSession(runtime)
    write("one")
    const saved = await saveCheckpoint(runtime, id, "before refactoring", {
      taskState: { step: 2 },
      progress: 0.4,
      openFiles: [{ path: "a.txt", line: 3, column: 7 }],
      extra: "kept",
    })
    expect(saved).toMatchObject({ number: 1, name: "before refactoring", trigger: "manual" })
    await runtime.close()
    runtime = await open()
    const loaded = await loadCheckpoint(runtime, id, "before refactoring")
    expect(loaded).toMatchObject({
      taskState: { step: 2 },
      progress: 0.4,
      openFiles: [{ path: "a.txt", line: 3, column: 7 }],
      gitBranch: "trunk",
      hasUncommitted: true,
      state: { extra: "kept" },
    })
    expect(await listCheckpoints(runtime, id)).toEqual([saved])
    await expect(saveCheckpoint(runtime, id, "before refactoring")).rejects.toMatchObject({ code: "CONFLICT" })
    await expect(loadCheckpoint(runtime, id, "never")).rejects.toMatchObject({ code: "NOT_FOUND" })
  })

  it("is resumed where it stands, or from a checkpoint with files, state and messages", async () => {
    const { id } = await createSession(runtime)
    const say = (content: string) =>
      runtime.store.log.append(id, [{ type: "message:added", data: { message: { role: "user", content } } }])
    write("one")
    await say("first")
    await saveCheckpoint(runtime, id, "one", { taskState: 1 })
    write("two")
    await say("second")
    await saveCheckpoint(runtime, id, "two", { taskState: 2 })
    await runtime.store.log.append(id, [{ type: "session:paused", data: {} }])

    const here = await resumeSession(runtime, id.slice(-8))
    expect(here).toMatchObject({ session: { status: "active" }, state: { taskState: 2 }, checkpoint: undefined })
    expect(here.messages.map(({ content }) => content)).toEqual(["first", "second"])

    const there = await resumeSession(runtime, id, "one")
    expect(there).toMatchObject({ session: { status: "active" }, state: { taskState: 1 }, checkpoint: { number: 1 } })
    expect([there.messages.map(({ content }) => content), read()]).toEqual([["first"], "one"])

    write("mine")
    await resumeSession(runtime, id, { checkpoint: "two", mode: "conversation" })
    expect(read()).toBe("mine")
  })

  it("is resumed after it died, and refused while it runs", async () => {
    const { id } = await createSession(runtime)
    await runtime.store.log.append(id, [
      { type: "run:started", data: { runId: "r" } },
      { type: "session:interrupted", data: { reason: "gone" } },
    ])
    expect((await resumeSession(runtime, id)).session.status).toBe("active")
    const lease = await runtime.store.leases.take(`session:${id}`, { purpose: "run" })
    await saveCheckpoint(runtime, id, "held", {}, { lease })
    await expect(resumeSession(runtime, id)).rejects.toMatchObject({ code: "SESSION_RUNNING" })
    await expect(resumeSession(runtime, id, "held")).rejects.toMatchObject({ code: "SESSION_RUNNING" })
    await lease.release()
  })
})
