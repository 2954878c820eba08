/** Restores that were broken off between two steps nobody can name: the state is made by hand. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Checkpoint, event } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { placeJournal, prepareJournal } from "../snapshot/restore-journal.js"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import { takePicture } from "../testing/workspace-picture.js"
import { restoreCheckpoint } from "../time-travel/restore.js"
import { settleRestores } from "./settle-restores.js"

let travel: TimeTravelFixture
beforeEach(async () => {
  travel = await openFixture()
})
afterEach(() => travel.close())

/** Two snapshots: the one to go back to, and the safety of what is there now. */
async function twoScenes() {
  const snapshots = await travel.snapshots(travel.workspace)
  travel.write({ "stays/a.txt": "a", "old/deep/er/f.txt": "f", "x.txt": "1" })
  const target = await snapshots.capture({ message: "target" })
  const before = takePicture(travel.workspace)
  rmSync(join(travel.workspace, "old"), { recursive: true })
  travel.write({ "new/deep/er/n.txt": "n", "x.txt": "2" })
  const safety = await snapshots.capture({ message: "safety" })
  const note = { id: "note", target: target.commit, safety: safety.commit, startedAt: 1 }
  return { snapshots, note, target: before, safety: takePicture(travel.workspace) }
}

describe("a restore that was broken off", () => {
  it("after it emptied a folder and before it removed it leaves no empty folder when it is finished", async () => {
    const { snapshots, note, target } = await twoScenes()
    rmSync(join(travel.workspace, "new/deep/er/n.txt"))
    await snapshots.finishRestore(note)
    expect(takePicture(travel.workspace)).toEqual(target)
  })

  it("after it made a folder and before it put a file there leaves no empty folder when it is taken back", async () => {
    const { snapshots, note, safety } = await twoScenes()
    mkdirSync(join(travel.workspace, "old/deep/er"), { recursive: true })
    await snapshots.takeBackRestore(note)
    expect(takePicture(travel.workspace)).toEqual(safety)
  })

  it("and was about one file only leaves the folders of that file as they should be, and all others alone", async () => {
    const { snapshots, note, target } = await twoScenes()
    rmSync(join(travel.workspace, "new/deep/er/n.txt"))
    mkdirSync(join(travel.workspace, "mine/and/empty"), { recursive: true })
    writeFileSync(join(travel.workspace, "mine.txt"), "mine")
    await snapshots.finishRestore({ ...note, paths: ["new/deep/er/n.txt"] })
    const now = takePicture(travel.workspace)
    expect(Object.keys(now).filter((path) => path.startsWith("new"))).toEqual([])
    expect(now).toMatchObject({ "mine/and/empty": "folder 755", "mine.txt": expect.any(String) })
    expect(now["x.txt"]).not.toBe(target["x.txt"])
  })

  it.each(["finishRestore", "takeBackRestore"] as const)(
    "leaves what someone changed since as it is: %s",
    async (settle) => {
      const { snapshots, note, ...scenes } = await twoScenes()
      travel.write({ "x.txt": "3", "new/deep/er/n.txt": "mine", "old/deep/er/f.txt": "mine too" })
      const mine = takePicture(travel.workspace)
      const { plan } = await snapshots[settle](note)
      const changed = ["new/deep/er/n.txt", "old/deep/er/f.txt", "x.txt"]
      expect(plan.changedMeanwhile.toSorted()).toEqual(changed)
      const wanted = settle === "finishRestore" ? scenes.target : scenes.safety
      expect(takePicture(travel.workspace)).toMatchObject({
        "stays/a.txt": wanted["stays/a.txt"],
        ...Object.fromEntries(changed.map((path) => [path, mine[path]])),
      })
    },
  )

  it("is none while the one who makes it is at it", async () => {
    const session = await travel.createSession()
    const checkpoint = await travel.manager.take({ sessionId: session.id, trigger: "manual" })
    const insert = `INSERT INTO restores (id, session_id, workspace_path, checkpoint_id, safety_checkpoint_id, mode, status,
      host, created_at) VALUES ('one', ?, ?, ?, 's', 'files', 'started', ?, 1)`
    const host = travel.store.context.host.split("/")[0] as string
    await travel.store.context.driver.run(insert, [session.id, travel.workspace, checkpoint?.id as string, host])
    const held = await travel.store.leases.take(`session:${session.id}`, { purpose: "restore" })
    expect(await settleRestores(travel)).toEqual([])
    await held.release()
    const running = await travel.store.leases.take(`session:${session.id}`, { purpose: "run" })
    expect(await settleRestores(travel)).toMatchObject([{ outcome: "left" }])
    await running.release()
  })

  it.each(["files", "conversation"] as const)("whose checkpoint is gone is taken back: %s", async (mode) => {
    const { snapshots, note, safety } = await twoScenes()
    const session = await travel.createSession()
    if (mode === "files") {
      await prepareJournal(snapshots.directory, note)
      await placeJournal(snapshots.directory, note.id)
    }
    travel.write({ "x.txt": "1" }) // as far as it came
    const insert = `INSERT INTO restores (id, session_id, workspace_path, checkpoint_id, safety_checkpoint_id, mode, status,
      host, created_at) VALUES ('note', ?, ?, 'gone', 's', ?, 'started', ?, 1)`
    const host = travel.store.context.host.split("/")[0] as string
    await travel.store.context.driver.run(insert, [session.id, travel.workspace, mode, host])
    const started = { restoreId: "note", checkpointId: "gone", safetyCheckpointId: "s", mode }
    await travel.store.log.append(session.id, [event("session:restore-started", started)])
    expect(await settleRestores(travel)).toMatchObject([{ outcome: "taken-back" }])
    expect(await settleRestores(travel)).toEqual([])
    if (mode === "files") expect(takePicture(travel.workspace)).toEqual(safety)
  })

  it("that was to undo what someone else has undone meanwhile is taken back", async () => {
    const session = await travel.createSession()
    const taken = await travel.manager.take({ sessionId: session.id, trigger: "manual" })
    const { driver } = travel.store.context
    const host = travel.store.context.host.split("/")[0] as string
    const insert = (id: string, status: string, undoes: string | null) =>
      driver.run(
        `INSERT INTO restores (id, session_id, workspace_path, checkpoint_id, safety_checkpoint_id, mode, status, undoes,
           host, created_at) VALUES (?, ?, ?, ?, 's', 'conversation', ?, ?, ?, 1)`,
        [id, session.id, travel.workspace, taken?.id as string, status, undoes, host],
      )
    await insert("first", "undone", null)
    await insert("second", "started", "first")
    const safetyCheckpointId = "s"
    const started = { restoreId: "second", checkpointId: taken?.id as string, safetyCheckpointId, mode: "conversation" }
    await travel.store.log.append(session.id, [event("session:restore-started", started as never)])
    expect(await settleRestores(travel)).toMatchObject([{ restore: { id: "second" }, outcome: "taken-back" }])
    expect(await settleRestores(travel)).toEqual([])
  })

  it("is none that only its record says has not ended: nothing is done", async () => {
    const session = await travel.createSession()
    travel.write({ "x.txt": "1" })
    const checkpoint = (await travel.manager.take({ sessionId: session.id, trigger: "manual" })) as Checkpoint
    await restoreCheckpoint(travel, { checkpoint })
    const { seq } = await travel.store.log.head(session.id)
    await travel.store.context.driver.run("UPDATE restores SET status = 'started'")
    expect(await settleRestores(travel)).toMatchObject([
      { outcome: "left", reason: expect.stringContaining("the log") },
    ])
    expect((await travel.store.log.head(session.id)).seq).toBe(seq)
  })

  it("and whose record is damaged is left and named, and keeps nobody else waiting", async () => {
    const session = await travel.createSession()
    const { driver } = travel.store.context
    const taken = await travel.manager.take({ sessionId: session.id, trigger: "manual" })
    const insert = (id: string, paths: string | null) =>
      driver.run(
        `INSERT INTO restores (id, session_id, workspace_path, checkpoint_id, safety_checkpoint_id, mode, paths, status,
           undoes, host, created_at) VALUES (?, ?, ?, ?, 's', 'files', ?, 'started', NULL, ?, 1)`,
        [id, session.id, travel.workspace, taken?.id ?? "", paths, travel.store.context.host.split("/")[0] ?? ""],
      )
    await insert("damaged", '["a')
    await insert("whole", null)
    const started = {
      restoreId: "whole",
      checkpointId: taken?.id ?? "",
      safetyCheckpointId: "s",
      mode: "files" as const,
    }
    await travel.store.log.append(session.id, [event("session:restore-started", started)])
    const settled = await settleRestores(travel)
    expect(settled.map(({ restore, outcome }) => [restore.id, outcome])).toEqual([
      ["damaged", "left"],
      ["whole", "taken-back"],
    ])
    expect(settled[0]?.reason).toContain("restore damaged")
  })
})
