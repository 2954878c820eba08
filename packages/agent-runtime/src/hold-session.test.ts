import { EventEmitter } from "node:events"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Checkpoint, Session } from "@ku0/agent-runtime-core"
import {
  exportSession,
  importSession,
  readCheckpointFile,
  restoreCheckpoint,
  type SignalSource,
} from "@ku0/agent-runtime-persistence"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { resolveConfig } from "./config.js"
import { holdSession } from "./hold-session.js"
import { openRuntime, type Runtime } from "./open-runtime.js"

let root: string
let runtime: Runtime
let session: Session

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "keepup-hold-")))
  mkdirSync(join(root, "workspace"))
  const { config } = resolveConfig({ flags: { "checkpoint.interval": 20, "checkpoint.on": ["deploy.finished"] } })
  runtime = await openRuntime({
    config,
    stateDirectory: join(root, "state"),
    workspacePath: join(root, "workspace"),
    environment: { PATH: process.env["PATH"] },
  })
  session = await runtime.store.sessions.create({ workspacePath: runtime.workspacePath, name: "held" })
})
afterEach(async () => {
  await runtime.close()
  rmSync(root, { recursive: true })
})

const write = (path: string, content: string) => writeFileSync(join(root, "workspace", path), content)
const triggers = async () => (await runtime.store.checkpoints.list(session.id)).map(({ trigger }) => trigger)
const until = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 25_000, interval: 10 })

describe("a held session", () => {
  it("is saved by the interval and the events of the settings, and lets go of everything", async () => {
    const held = await holdSession(runtime, { sessionId: session.id, purpose: "run" })
    await until(async () => expect(await triggers()).toContain("interval"))
    await held.bus.emit("turn:ended", { runId: "r", turn: 1, outcome: "completed" })
    expect(await triggers()).not.toContain("turn.ended")
    await held.bus.emit("deploy:finished" as string, {})
    expect(await triggers()).toContain("phase.ended")
    write("late.txt", "written at the very end")
    await held.release()
    await held.release()
    const [last] = (await runtime.store.checkpoints.list(session.id)) as [Checkpoint]
    expect((await readCheckpointFile(runtime, last, "late.txt")).toString()).toBe("written at the very end")
    for (const resource of [`session:${session.id}`, `workspace:${runtime.workspacePath}`]) {
      expect(await runtime.store.leases.find(resource)).toBeUndefined()
    }
    await restoreCheckpoint(runtime, { checkpoint: last })
  })

  it("takes any event of outside agents but those that others rely on, and then travels", async () => {
    const held = await holdSession(runtime, { sessionId: session.id, purpose: "run" })
    for (const [type, data] of [
      ["message:added", { message: { role: "user", content: [{ type: "text", text: "hi" }] } }],
      ["message:added", { message: { role: "assistant", content: null, toolCalls: [] } }],
      ["tool:ended", { callId: "c", name: "read" }],
      ["state:changed", { full: true, set: { plan: "gone" }, removed: [] }],
      ["checkpoint:created", { checkpointId: "c", number: 9, trigger: "manual", name: null }],
    ] as const) {
      const before = (await runtime.store.sessions.get(session.id)).headSeq
      const emitting = held.emit([
        { type: "phase:ended", data: {} },
        { type, data },
      ])
      await expect(emitting).rejects.toMatchObject({ code: "INVALID_INPUT" })
      const kept = await runtime.store.log.read(session.id, { after: before, types: ["phase:ended"] })
      expect(kept, "what stayed of the step").toEqual([])
    }
    const odd = [{}, null, { taskId: 7, agentType: null, winner: { id: 1 } }]
    for (const type of ["phase:ended", "task:completed", "turn:ended", "agent:spawned", "negotiation:resolved"]) {
      await held.emit(odd.map((data) => ({ type, data })))
    }
    await held.release()
    const path = join(root, "travels.keepup")
    await exportSession(runtime, { sessionId: session.id, path })
    const workFolder = join(root, "work")
    const { session: copy } = await importSession(runtime, { path, workspacePath: runtime.workspacePath, workFolder })
    expect((await runtime.store.log.read(copy.id, { types: ["agent:spawned"] })).map(({ data }) => data)).toEqual(odd)
  })

  it("is paused with a checkpoint by a signal, before the way out is told of it", async () => {
    const signals = new EventEmitter()
    const seen: string[] = []
    const left = new Promise<void>((resolve) => {
      const onExit = async (signal: string) => {
        seen.push(signal, (await runtime.store.sessions.get(session.id)).status, ...(await triggers()).slice(0, 1))
        resolve()
      }
      const options = { sessionId: session.id, purpose: "run", signals: signals as SignalSource, onExit }
      void holdSession(runtime, options).then(async (held) => {
        write("half.txt", "half done")
        signals.emit("SIGTERM")
        signals.emit("SIGINT")
        await left
        await held.release()
        seen.push(`${signals.listenerCount("SIGINT")} listeners`)
      })
    })
    await until(async () => expect(seen).toEqual(["SIGTERM", "paused", "exit", "0 listeners"]))
    expect(await runtime.store.leases.find(`session:${session.id}`)).toBeUndefined()
  })
})
