import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Checkpoint, CheckpointId, Session } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { createClock, expectCode, user } from "../testing/contract/samples.js"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import {
  diffCheckpoints,
  listCheckpointFiles,
  messagesAround,
  patchBetween,
  readCheckpointFile,
  writeCheckpointFiles,
} from "./look.js"
import { restoreCheckpoint } from "./restore.js"

let travel: TimeTravelFixture
let session: Session
let one: Checkpoint
let two: Checkpoint
const clock = createClock()
beforeEach(async () => {
  travel = await openFixture({ clock })
  session = await travel.createSession()
  travel.write({ "a.txt": "one\n", "é b.txt": "odd name\n", "gone.txt": "x\n" })
  await travel.store.log.append(session.id, [user("m1"), user("m2"), user("m3")])
  one = (await travel.manager.take({ sessionId: session.id, trigger: "manual" })) as Checkpoint
  travel.write({ "a.txt": "two\n", "gone.txt": null, "sub/new.txt": "n\n" })
  await travel.store.log.append(session.id, [user("m4"), user("m5")])
  two = (await travel.manager.take({ sessionId: session.id, trigger: "manual" })) as Checkpoint
})
afterEach(() => travel.close())

const paths = (changes: readonly { path: string; status: string }[]) =>
  changes.map(({ path, status }) => `${status} ${path}`).toSorted()

describe("looking at a checkpoint", () => {
  it("tells what differs to another one and to the workspace now, and back", async () => {
    expect(paths(await diffCheckpoints(travel, one, two))).toEqual([
      "added sub/new.txt",
      "deleted gone.txt",
      "modified a.txt",
    ])
    expect(paths(await diffCheckpoints(travel, two, one))).toEqual([
      "added gone.txt",
      "deleted sub/new.txt",
      "modified a.txt",
    ])
    expect(await diffCheckpoints(travel, two, "workspace")).toEqual([])
    travel.write({ "a.txt": "three\n" })
    expect(paths(await diffCheckpoints(travel, two, "workspace"))).toEqual(["modified a.txt"])
    const patch = (await patchBetween(travel, one, two, ["a.txt"])).toString()
    expect(patch).toMatch(/-one\n\+two\n/)
    expect(patch).not.toMatch(/gone/)
    expect((await patchBetween(travel, two, "workspace")).toString()).toMatch(/\+three/)
  })

  it("lists its files, reads one as it was then, and writes all into an empty folder", async () => {
    expect((await listCheckpointFiles(travel, one)).map(({ path }) => path)).toEqual(["a.txt", "gone.txt", "é b.txt"])
    expect((await readCheckpointFile(travel, one, "é b.txt")).toString()).toBe("odd name\n")
    await expectCode(readCheckpointFile(travel, one, "sub/new.txt"), "NOT_FOUND")
    const folder = join(travel.stateDirectory, "..", "out")
    expect(await writeCheckpointFiles(travel, one, folder)).toBe(3)
    expect(readFileSync(join(folder, "gone.txt"), "utf8")).toBe("x\n")
    expect(readFileSync(join(travel.workspace, "a.txt"), "utf8")).toBe("two\n")
    await expect(writeCheckpointFiles(travel, one, travel.workspace)).rejects.toThrow()
  })

  it("shows the messages before and after it, as many as asked for", async () => {
    const near = await messagesAround(travel, one, 2)
    const texts = (list: typeof near.before) => list.map(({ index, message }) => `${index} ${message.content}`)
    expect([texts(near.before), texts(near.after)]).toEqual([
      ["2 m2", "3 m3"],
      ["4 m4", "5 m5"],
    ])
    expect((await messagesAround(travel, one, 50)).after).toHaveLength(2)
    expect(await messagesAround(travel, two, 0)).toEqual({ before: [], after: [] })
    await restoreCheckpoint(travel, { checkpoint: one, mode: "conversation" })
    await travel.store.log.append(session.id, [user("another history")])
    expect((await messagesAround(travel, two, 5)).after).toEqual([])
  })

  it("says when its files are elsewhere, were never captured, or have been lost", async () => {
    const elsewhere = { ...one, id: travel.store.context.ids.next() as CheckpointId, host: "elsewhere" }
    await expectCode(listCheckpointFiles(travel, elsewhere), "UNAVAILABLE", /on elsewhere/)
    await expectCode(listCheckpointFiles(travel, { ...one, snapshot: null }), "UNAVAILABLE", /holds no files/)
    const snapshots = await travel.snapshots(travel.workspace)
    await snapshots.gc([two.id])
    expect(await listCheckpointFiles(travel, one)).toHaveLength(3) // its record might be on the way
    clock.add(2 * 3_600_000)
    await snapshots.gc([two.id])
    await expectCode(listCheckpointFiles(travel, one), "CORRUPT", /missing/)
    expect(await listCheckpointFiles(travel, two)).toHaveLength(3)
  })
})
