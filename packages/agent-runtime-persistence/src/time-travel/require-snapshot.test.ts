import { readFileSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { type Checkpoint, event, type Restore, type RestoreId } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { checkStore } from "../recovery/check-store.js"
import { recoverAll } from "../recovery/recover-session.js"
import { repairStore } from "../recovery/repair-store.js"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import { exportSession } from "../transfer/export-session.js"
import { diffCheckpoints } from "./look.js"
import { planRestore } from "./plan-restore.js"
import { restoreCheckpoint } from "./restore.js"
import { insertRestore } from "./restore-records.js"
import { rewindToCheckpoint } from "./rewind.js"
import { undoRestore } from "./undo-restore.js"

let travel: TimeTravelFixture
let renamed: TimeTravelFixture | undefined
beforeEach(async () => {
  travel = await openFixture({ store: { host: "old-name/1" } })
})
afterEach(async () => {
  await renamed?.close()
  renamed = undefined
  await travel.close()
})

const read = (path: string) => readFileSync(join(travel.workspace, path), "utf8")

/** The same machine, state and workspace, under another name. */
async function rename(): Promise<TimeTravelFixture> {
  const root = dirname(travel.workspace)
  renamed = await openFixture({ root, store: { host: "new-name/1" } })
  return renamed
}

async function takeTwo(): Promise<[Checkpoint, Checkpoint]> {
  const session = await travel.createSession()
  const take = async () => (await travel.manager.take({ sessionId: session.id, trigger: "manual" })) as Checkpoint
  travel.write({ "a.txt": "a1", "b.txt": "b1" })
  const one = await take()
  travel.write({ "a.txt": "a2" })
  return [one, await take()]
}

describe("on a machine that has another name now, or that the state directory was carried to", () => {
  it("checkpoints are looked at, planned, restored, undone, rewound and exported as before", async () => {
    const [one, two] = await takeTwo()
    const now = await rename()
    expect(await diffCheckpoints(now, one, two)).toMatchObject([{ path: "a.txt" }])
    expect((await planRestore(now, { checkpoint: one })).write).toEqual(["a.txt"])
    await restoreCheckpoint(now, { checkpoint: one })
    expect(read("a.txt")).toBe("a1")
    await undoRestore(now, { workspacePath: now.workspace })
    expect(read("a.txt")).toBe("a2")
    await rewindToCheckpoint(now, { checkpoint: one })
    expect(read("a.txt")).toBe("a1")
    const exported = await exportSession(now, {
      sessionId: one.sessionId,
      path: join(dirname(now.workspace), "session.keepup"),
    })
    expect(exported.leftOut).toEqual([])
  })

  it("the doctor finds nothing wrong, and still sees what is", async () => {
    const [one] = await takeTwo()
    const now = await rename()
    expect(await checkStore(now)).toEqual([])
    const { directory } = await now.snapshots(now.workspace)
    rmSync(join(directory, "refs/keepup/checkpoints", one.id))
    expect(await checkStore(now)).toMatchObject([{ code: "ref-missing", canRepair: true }])
    await repairStore(now)
    expect(await checkStore(now)).toEqual([])
  })

  it("a restore that was broken off is settled", async () => {
    const [one, two] = await takeTwo()
    const { store } = travel
    const intent: Restore = {
      id: store.context.ids.next() as RestoreId,
      ...{ sessionId: one.sessionId, workspacePath: travel.workspace, host: "old-name" },
      ...{ checkpointId: one.id, safetyCheckpointId: two.id, mode: "files", paths: null },
      ...{ status: "started", undoes: null, createdAt: 1 },
    }
    await insertRestore(store.context.driver, intent)
    const { id: restoreId, checkpointId, safetyCheckpointId, mode } = intent
    const started = event("session:restore-started", { restoreId, checkpointId, safetyCheckpointId, mode })
    await store.log.append(one.sessionId, [started])
    const now = await rename()
    expect((await checkStore(now)).filter(({ code }) => code === "restore-unfinished")).toMatchObject([
      { canRepair: true },
    ])
    expect((await recoverAll(now)).restores).toMatchObject([{ outcome: "taken-back" }])
    expect(await checkStore(now)).toEqual([])
  })
})
