/** Real processes that are told to stop, or killed. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Checkpoint, SessionId } from "@ku0/agent-runtime-core"
import { afterEach, beforeAll, beforeEach, expect, it } from "vitest"
import { recoverAll } from "../../src/recovery/recover-session.js"
import { bundleProgram, startProgram } from "../../src/testing/start-program.js"
import { openFixture } from "../../src/testing/time-travel-fixture.js"
import { readCheckpointFile } from "../../src/time-travel/look.js"

let program: string
let root: string
beforeAll(async () => {
  program = await bundleProgram(join(import.meta.dirname, "programs/auto-save.ts"))
})
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "keepup-signal-")))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

it.each(["SIGINT", "SIGTERM"] as const)("%s leaves a checkpoint and a paused session", async (signal) => {
  const running = startProgram(program, [root, signal]) // people press it more than once
  const { sessionId } = await running.heard<{ sessionId: SessionId }>((said) => "sessionId" in said)
  running.signal(signal)
  expect(await running.ended, running.errors()).toEqual({ code: 0, signal: null })
  expect(running.said.at(-1)).toEqual({ left: signal, listeners: 0 })
  const travel = await openFixture({ root })
  try {
    expect(await recoverAll(travel)).toEqual({ restores: [], sessions: [], branches: [], imports: [] })
    expect((await travel.store.sessions.get(sessionId)).status).toBe("paused")
    const [last] = (await travel.store.checkpoints.list(sessionId)) as [Checkpoint]
    expect(last.trigger).toBe("exit")
    expect((await readCheckpointFile(travel, last, "a.txt")).toString()).toBe("half done")
    const lease = await travel.store.leases.find(`session:${sessionId}`)
    expect(lease).toBeUndefined()
  } finally {
    await travel.close()
  }
})

it("SIGKILL leaves a session that is found interrupted and recovered, with its tool call in doubt", async () => {
  const running = startProgram(program, [root])
  const { sessionId } = await running.heard<{ sessionId: SessionId }>((said) => "sessionId" in said)
  running.signal("SIGKILL")
  expect(await running.ended).toMatchObject({ signal: "SIGKILL" })
  const travel = await openFixture({ root })
  try {
    expect((await travel.store.sessions.get(sessionId)).status).toBe("active")
    const { sessions } = await recoverAll(travel)
    expect(sessions).toMatchObject([{ session: { id: sessionId, status: "paused" }, inDoubt: [{ id: "call" }] }])
    const types = (await travel.store.log.read(sessionId)).map(({ type }) => type)
    expect(types.slice(-3)).toEqual(["session:interrupted", "tool:in-doubt", "session:recovered"])
    expect(await recoverAll(travel)).toEqual({ restores: [], sessions: [], branches: [], imports: [] })
  } finally {
    await travel.close()
  }
})
