/** A signal in the middle: what was not begun does not happen, what was begun is finished. Nothing is left to settle. */
import { type Checkpoint, KeepupError } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, expect, it } from "vitest"
import { recoverAll } from "../recovery/recover-session.js"
import { expectCode } from "../testing/contract/samples.js"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import { takePicture } from "../testing/workspace-picture.js"
import { restoreCheckpoint } from "./restore.js"
import { rewindToCheckpoint } from "./rewind.js"
import { findUndoable, undoRestore } from "./undo-restore.js"

let travel: TimeTravelFixture
let controller: AbortController
let stopAt: string

beforeEach(async () => {
  controller = new AbortController()
  stopAt = ""
  travel = await openFixture({
    onStep: (step) => {
      if (step === stopAt) controller.abort(new KeepupError("CANCELLED", "Stopped by a test."))
    },
  })
})
afterEach(() => travel.close())

async function twoCheckpoints(): Promise<Checkpoint> {
  const session = await travel.createSession()
  travel.write({ "a.txt": "a1", "b.txt": "b1" })
  const one = (await travel.manager.take({ sessionId: session.id, trigger: "manual" })) as Checkpoint
  travel.write({ "a.txt": "a2", "b.txt": null, "new/c.txt": "c2" })
  return one
}

it("stops a checkpoint while files are looked for and read: there is none, and the next one is whole", async () => {
  const session = await travel.createSession()
  travel.write({ "a.txt": "a1", "d/b.txt": "b1" })
  for (const step of ["capture:scan", "capture:hash"]) {
    stopAt = step
    controller = new AbortController()
    const request = { sessionId: session.id, trigger: "manual" as const, signal: controller.signal }
    await expectCode(travel.manager.take(request), "CANCELLED", /Stopped by a test/)
    expect(await travel.store.checkpoints.list(session.id)).toEqual([])
  }
  stopAt = "capture:pack"
  controller = new AbortController()
  const signal = controller.signal
  const one = (await travel.manager.take({ sessionId: session.id, trigger: "manual", signal })) as Checkpoint
  expect(signal.aborted).toBe(true)
  const files = await (await travel.snapshots(travel.workspace)).listFiles(one.snapshot?.commit as string)
  expect(files.map(({ path }) => path)).toEqual(["a.txt", "d/b.txt"])
})

it.each(["capture:scan", "capture:hash", "restore:noted", "restore:stage", "restore:recheck"])(
  "stops a restore at %s with nothing touched and nothing to undo",
  async (step) => {
    const one = await twoCheckpoints()
    const before = takePicture(travel.workspace)
    stopAt = step
    const stopped = restoreCheckpoint(travel, { checkpoint: one, signal: controller.signal })
    await expectCode(stopped, "CANCELLED", /Stopped by a test/)
    expect(takePicture(travel.workspace)).toEqual(before)
    expect(await findUndoable(travel, travel.workspace)).toBeUndefined()
    expect(await recoverAll(travel)).toMatchObject({ restores: [], sessions: [], branches: [] })
  },
)

it.each(["restore:delete", "restore:rename", "restore:sync"])(
  "finishes a restore that is at %s, and it can be undone",
  async (step) => {
    const one = await twoCheckpoints()
    const before = takePicture(travel.workspace)
    stopAt = step
    await restoreCheckpoint(travel, { checkpoint: one, signal: controller.signal })
    expect(controller.signal.aborted).toBe(true)
    expect(takePicture(travel.workspace)).not.toEqual(before)
    expect(await recoverAll(travel)).toMatchObject({ restores: [], sessions: [], branches: [] })
    await undoRestore(travel, { workspacePath: travel.workspace })
    expect(takePicture(travel.workspace)).toEqual(before)
  },
)

it("stops a rewind and an undo with nothing left of them", async () => {
  const one = await twoCheckpoints()
  await restoreCheckpoint(travel, { checkpoint: one })
  const before = takePicture(travel.workspace)
  travel.write({ "a.txt": "a3" })
  stopAt = "restore:stage"
  const { signal } = controller
  await expectCode(rewindToCheckpoint(travel, { checkpoint: one, signal }), "CANCELLED")
  expect(await travel.store.sessions.list()).toHaveLength(1)
  travel.write({ "a.txt": "a1" })
  controller = new AbortController()
  const stopped = undoRestore(travel, { workspacePath: travel.workspace, signal: controller.signal })
  await expectCode(stopped, "CANCELLED")
  expect(takePicture(travel.workspace)).toEqual(before)
  expect(await findUndoable(travel, travel.workspace)).toBeDefined()
})
