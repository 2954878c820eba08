/** The check and the repair of a store on a real PostgreSQL server. */
import { mkdirSync } from "node:fs"
import type { Checkpoint, Session } from "@ku0/agent-runtime-core"
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { checkStore } from "../../src/recovery/check-store.js"
import { repairStore } from "../../src/recovery/repair-store.js"
import { user } from "../../src/testing/contract/samples.js"
import { type PostgresServer, startPostgres } from "../../src/testing/start-postgres.js"
import { openFixture, type TimeTravelFixture } from "../../src/testing/time-travel-fixture.js"
import { takePicture } from "../../src/testing/workspace-picture.js"
import { restoreCheckpoint } from "../../src/time-travel/restore.js"
import { rewindToCheckpoint } from "../../src/time-travel/rewind.js"
import { undoRestore } from "../../src/time-travel/undo-restore.js"

let server: PostgresServer
let travel: TimeTravelFixture
let session: Session
let one: Checkpoint

beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: "off" } })
})
afterAll(() => server.stop())

beforeEach(async () => {
  travel = await openFixture({ db: await server.createDatabase(), withGit: true })
  mkdirSync(travel.stateDirectory, { recursive: true })
  session = await travel.createSession()
  travel.write({ "a.txt": "a1", "dir/b.txt": "b1" })
  await travel.store.log.append(session.id, [user("first"), user(`long ${"x".repeat(1_100_000)}`)])
  one = (await travel.manager.take({ sessionId: session.id, trigger: "manual", state: { plan: [1] } })) as Checkpoint
  travel.write({ "a.txt": "a2", "dir/b.txt": null })
  await travel.store.log.append(session.id, [user("second")])
  await travel.manager.take({ sessionId: session.id, trigger: "turn.ended", state: { plan: [2] } })
})
afterEach(() => travel.close())

const codes = async () => (await checkStore(travel)).map(({ code }) => code)
const run = (sql: string, ...params: (string | number)[]) => travel.store.context.driver.run(sql, params)

describe("a store on PostgreSQL", () => {
  it("is found sound after restores, undos and rewinds, which go as on any other store", async () => {
    const before = takePicture(travel.workspace)
    await restoreCheckpoint(travel, { checkpoint: one })
    await undoRestore(travel, { workspacePath: travel.workspace })
    expect(takePicture(travel.workspace)).toEqual(before)
    await rewindToCheckpoint(travel, { checkpoint: one })
    expect(await checkStore(travel)).toEqual([])
    expect(await repairStore(travel)).toEqual({ backup: undefined, done: [], left: [] })
  })

  it("has wrong rows found and made again from the log", async () => {
    await run("UPDATE sessions SET message_count = 99, checkpoint_count = 7, head_seq = 2 WHERE id = ?", session.id)
    await run("UPDATE session_checkpoints SET message_index = 50 WHERE id = ?", one.id)
    expect(await codes()).toEqual(expect.arrayContaining(["head-wrong", "counter-wrong"]))
    const { backup, left } = await repairStore(travel)
    expect([backup, left]).toEqual([undefined, []])
    expect(await travel.store.sessions.get(session.id)).toMatchObject({ messageCount: 3, checkpointCount: 2 })
  })

  it("has lost entries and values found, and repair does not make them worse", async () => {
    await run("DELETE FROM entries WHERE session_id = ? AND seq = 2", session.id)
    await run("DELETE FROM blobs WHERE hash IN (SELECT blob_hash FROM entries WHERE blob_hash IS NOT NULL)").catch(
      () => undefined, // the server itself refuses to lose what an entry needs
    )
    const found = await checkStore(travel)
    expect(found.map(({ code }) => code)).toContain("sequence-gap")
    expect((await repairStore(travel)).left).toEqual(found)
  })
})
