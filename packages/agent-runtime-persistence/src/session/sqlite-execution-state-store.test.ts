import { existsSync } from "node:fs"
import { afterEach, describe, expect, it } from "vitest"
import { openStore } from "../store/open-store.js"
import { describeExecutionState, makeLease, makeSnapshot } from "../testing/execution-state-contract.js"
import { createTemporaryFolder } from "../testing/temporary-folder.js"
import { SQLiteExecutionStateStore } from "./sqlite-execution-state-store.js"

const folder = createTemporaryFolder()
let files = 0
afterEach(() => folder.remove())

describeExecutionState("memory", () => openStore("memory:"))
describeExecutionState("SQLite", () => openStore(`sqlite:${folder.file(`${++files}`, "keepup.db")}`))

describe("an execution state store of its own", () => {
  it("keeps everything in its file", async () => {
    const databasePath = folder.file("own.db")
    const first = new SQLiteExecutionStateStore({ databasePath })
    await first.saveLease(makeLease("l1"))
    await first.saveTaskSnapshot(makeSnapshot("t", 1))
    await first.close()
    const second = new SQLiteExecutionStateStore({ databasePath })
    expect(await second.loadLease("l1")).toEqual(makeLease("l1"))
    expect(await second.getLatestTaskSnapshots()).toEqual([makeSnapshot("t", 1)])
    await second.close()
    await second.close()
    expect(existsSync(`${databasePath}.v1.bak`), "a new file has nothing to back up").toBe(false)
  })

  it("is in memory when no file is named, and refuses what has no JSON form", async () => {
    const state = new SQLiteExecutionStateStore()
    const circle: { self?: unknown } = {}
    circle.self = circle
    await expect(state.saveTaskSnapshot(makeSnapshot("t", 1, { payload: circle }))).rejects.toMatchObject({
      code: "INVALID_INPUT",
    })
    expect(await state.listTaskSnapshots()).toEqual([])
    await state.close()
    await new SQLiteExecutionStateStore().close()
  })
})
