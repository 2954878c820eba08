import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Checkpoint, Session } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { checkRestores } from "../recovery/check-restores.js"
import { repairStore } from "../recovery/repair-store.js"
import { expectCode, user } from "../testing/contract/samples.js"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import { takePicture } from "../testing/workspace-picture.js"
import { restoreCheckpoint } from "./restore.js"
import { findUndoable, undoRestore } from "./undo-restore.js"

let travel: TimeTravelFixture
let session: Session
let one: Checkpoint
beforeEach(async () => {
  travel = await openFixture({ withGit: true })
  session = await travel.createSession()
  travel.write({ "a.txt": "a1", "dir/b.txt": "b1" })
  await travel.store.log.append(session.id, [user("first")])
  one = (await travel.manager.take({ sessionId: session.id, trigger: "manual", state: { step: 1 } })) as Checkpoint
  travel.write({ "a.txt": "a2", "dir/b.txt": null, "c.txt": "c" })
  await travel.store.log.append(session.id, [user("second")])
  await travel.store.state.put(session.id, { step: 2 })
})
afterEach(() => travel.close())

async function describeNow() {
  const head = await travel.store.log.head(session.id)
  const { messages, stateKeys } = await travel.store.log.fold(head)
  return { files: takePicture(travel.workspace), messages, stateKeys: { ...stateKeys } }
}

describe("undo", () => {
  it("gives back files, messages and state as they were, and goes forward in the log", async () => {
    const before = await describeNow()
    const { seq } = await travel.store.log.head(session.id)
    const { restore } = await restoreCheckpoint(travel, { checkpoint: one })
    const undone = await undoRestore(travel, { restoreId: restore.id })
    expect(await describeNow()).toEqual(before)
    expect((await travel.store.log.head(session.id)).seq).toBeGreaterThan(seq)
    expect(undone.restore).toMatchObject({ undoes: restore.id, mode: "both", status: "applied" })
    expect(undone.safety.trigger).toBe("before-restore")
  })

  it("gives back what was ignored before, though the restore took the rules away, and takes away what that brought", async () => {
    travel.write({ "x.log": "of then" })
    const two = (await travel.manager.take({ sessionId: session.id, trigger: "manual" })) as Checkpoint
    travel.write({ ".gitignore": ".env\n*.log\nbuild/\n", ".env": "secret", "build/out": "o", "x.log": null })
    const before = takePicture(travel.workspace)
    for (const checkpoint of [one, two]) {
      await restoreCheckpoint(travel, { checkpoint, mode: "files" })
      expect(takePicture(travel.workspace)).toMatchObject({ ".env": before[".env"], "build/out": before["build/out"] })
      await undoRestore(travel, { workspacePath: travel.workspace })
      expect(takePicture(travel.workspace)).toEqual(before)
    }
  })

  it("is not done twice, nor to a restore that never was", async () => {
    const { restore } = await restoreCheckpoint(travel, { checkpoint: one })
    const undone = await undoRestore(travel, { workspacePath: travel.workspace })
    await expectCode(undoRestore(travel, { restoreId: restore.id }), "CONFLICT", /it is undone/)
    await expectCode(undoRestore(travel, { workspacePath: travel.workspace }), "NOT_FOUND", /no restore to undo/)
    await expectCode(undoRestore(travel, { restoreId: "none" }), "NOT_FOUND", /no restore none/)
    await expectCode(undoRestore(travel, {}), "NOT_FOUND")
    // named by its id, an undo can be taken back like any other restore
    await undoRestore(travel, { restoreId: undone.restore.id })
    expect(readFileSync(join(travel.workspace, "a.txt"), "utf8")).toBe("a1")
  })

  it("is known beforehand: the newest restore of the workspace that was not taken back, and none elsewhere", async () => {
    expect(await findUndoable(travel, travel.workspace)).toBeUndefined()
    const first = await restoreCheckpoint(travel, { checkpoint: one })
    const second = await restoreCheckpoint(travel, { checkpoint: one, mode: "files" })
    expect((await findUndoable(travel, travel.workspace))?.id).toBe(second.restore.id)
    expect(await findUndoable(travel, `${travel.workspace}-other`)).toBeUndefined()
    await undoRestore(travel, { restoreId: second.restore.id })
    expect(await findUndoable(travel, travel.workspace)).toMatchObject({ id: first.restore.id, status: "applied" })
    await undoRestore(travel, { workspacePath: travel.workspace })
    expect(await findUndoable(travel, travel.workspace)).toBeUndefined()
  })

  it("of an undo makes the restore count again, so that the next undo takes that one back and no older one", async () => {
    const first = await restoreCheckpoint(travel, { checkpoint: one })
    travel.write({ "a.txt": "a3" })
    const between = await describeNow()
    await restoreCheckpoint(travel, { checkpoint: one })
    const back = await describeNow()
    for (let round = 0; round < 3; round++) {
      const undone = await undoRestore(travel, { workspacePath: travel.workspace })
      expect((await describeNow()).files).toEqual(between.files)
      await undoRestore(travel, { restoreId: undone.restore.id })
      expect(await describeNow()).toEqual(back)
      await expectCode(undoRestore(travel, { restoreId: undone.restore.id }), "CONFLICT", /it is undone/)
    }
    await undoRestore(travel, { workspacePath: travel.workspace })
    const oldest = await undoRestore(travel, { workspacePath: travel.workspace })
    expect(oldest.restore.undoes).toBe(first.restore.id)
    expect(readFileSync(join(travel.workspace, "a.txt"), "utf8")).toBe("a2")
  })

  it("says so when what it would go back to is gone", async () => {
    const { safety } = await restoreCheckpoint(travel, { checkpoint: one })
    await travel.store.checkpoints.delete([safety.id])
    await expectCode(undoRestore(travel, { workspacePath: travel.workspace }), "NOT_FOUND", /not kept any more/)
  })

  it("is refused when its record was changed, works when that was made again from the log, and touches nothing before", async () => {
    const before = await describeNow()
    const { restore } = await restoreCheckpoint(travel, { checkpoint: one })
    const restored = await describeNow()
    const wrong = [
      ["safety_checkpoint_id", one.id],
      ["mode", "files"],
      ["paths", '["a.txt"]'],
      ["workspace_path", `${travel.workspace}-other`],
      ["session_id", (await travel.createSession()).id],
    ] as const
    for (const [column, value] of wrong) {
      await travel.store.context.driver.run(`UPDATE restores SET ${column} = ? WHERE id = ?`, [value, restore.id])
      await expectCode(undoRestore(travel, { restoreId: restore.id }), "CORRUPT", /does not say what the log/)
      expect(await describeNow()).toEqual(restored)
      expect((await repairStore(travel)).left).toEqual([])
    }
    await undoRestore(travel, { workspacePath: travel.workspace })
    expect(await describeNow()).toEqual(before)
  })

  it("of an undo of an undo takes the restore back again, as far down as it goes", async () => {
    const before = takePicture(travel.workspace)
    const { restore } = await restoreCheckpoint(travel, { checkpoint: one, mode: "files" })
    let last = restore
    for (let depth = 1; depth <= 5; depth++) {
      last = (await undoRestore(travel, { restoreId: last.id })).restore
      const undoable = await findUndoable(travel, travel.workspace)
      expect(undoable?.id).toBe(depth % 2 === 1 ? undefined : restore.id)
      expect(await checkRestores(travel)).toEqual([])
    }
    expect(takePicture(travel.workspace)).toEqual(before)
  })

  it("of an undo, twice over, leaves records that fit the log", async () => {
    await restoreCheckpoint(travel, { checkpoint: one })
    const undone = await undoRestore(travel, { workspacePath: travel.workspace })
    const again = await undoRestore(travel, { restoreId: undone.restore.id })
    await undoRestore(travel, { workspacePath: travel.workspace })
    expect(await checkRestores(travel)).toEqual([])
    const { driver } = travel.store.context
    const statuses = () => driver.all("SELECT status FROM restores ORDER BY ordinal")
    const right = await statuses()
    await driver.run("UPDATE restores SET status = 'applied' WHERE id <> ?", [again.restore.id])
    expect((await checkRestores(travel)).length).toBeGreaterThan(0)
    expect((await repairStore(travel)).left).toEqual([])
    expect(await statuses()).toEqual(right)
  })

  it("is refused when the paths on record are none, or the record of a later restore is gone", async () => {
    const first = await restoreCheckpoint(travel, { checkpoint: one, mode: "files", paths: ["a.txt", "dir"] })
    const second = await restoreCheckpoint(travel, { checkpoint: one, mode: "files" })
    const { driver } = travel.store.context
    await driver.run("UPDATE restores SET paths = '[7]' WHERE id = ?", [second.restore.id])
    await expectCode(undoRestore(travel, { workspacePath: travel.workspace }), "CORRUPT", /which paths/)
    expect((await repairStore(travel)).left).toEqual([])
    await driver.run("DELETE FROM restores WHERE id = ?", [second.restore.id])
    const then = takePicture(travel.workspace)
    await expectCode(undoRestore(travel, { workspacePath: travel.workspace }), "CORRUPT", /a later one, is gone/)
    await expectCode(undoRestore(travel, { restoreId: first.restore.id }), "CORRUPT", /a later one, is gone/)
    expect(takePicture(travel.workspace)).toEqual(then)
  })

  it("goes by what the log says of paths, also of so many that it keeps them as a value", async () => {
    const name = "x".repeat(200)
    travel.write({ [name]: "then" })
    const two = (await travel.manager.take({ sessionId: session.id, trigger: "manual" })) as Checkpoint
    travel.write({ [name]: "now" })
    const before = takePicture(travel.workspace)
    const paths = Array.from({ length: 6_000 }, () => name)
    await restoreCheckpoint(travel, { checkpoint: two, mode: "files", paths })
    const long = await travel.store.context.driver.get(
      "SELECT data FROM entries WHERE type = 'session:restore-started' AND blob_hash IS NOT NULL",
    )
    expect(long).toEqual({ data: null })
    expect(await checkRestores(travel)).toEqual([])
    await undoRestore(travel, { workspacePath: travel.workspace })
    expect(takePicture(travel.workspace)).toEqual(before)
  })

  it("keeps what was changed after the restore in its own safety checkpoint", async () => {
    await restoreCheckpoint(travel, { checkpoint: one })
    travel.write({ "a.txt": "changed after" })
    const { safety } = await undoRestore(travel, { workspacePath: travel.workspace })
    expect(readFileSync(join(travel.workspace, "a.txt"), "utf8")).toBe("a2")
    await restoreCheckpoint(travel, { checkpoint: safety, mode: "files" })
    expect(readFileSync(join(travel.workspace, "a.txt"), "utf8")).toBe("changed after")
  })

  it("of chosen paths touches no others", async () => {
    await restoreCheckpoint(travel, { checkpoint: one, mode: "files", paths: ["dir"] })
    travel.write({ "a.txt": "meanwhile" })
    await undoRestore(travel, { workspacePath: travel.workspace })
    expect(readFileSync(join(travel.workspace, "a.txt"), "utf8")).toBe("meanwhile")
    expect(takePicture(travel.workspace)["dir/b.txt"]).toBeUndefined()
  })

  it("is refused while a run holds the session", async () => {
    await restoreCheckpoint(travel, { checkpoint: one })
    const lease = await travel.store.leases.take(`session:${session.id}`, { purpose: "run" })
    await expectCode(undoRestore(travel, { workspacePath: travel.workspace }), "SESSION_RUNNING")
    await lease.release()
  })
})
