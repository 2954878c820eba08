/** An import killed at each of its steps: the session is there as a whole or not at all, and nothing of it is left lying. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { checkStore } from "../../src/recovery/check-store.js"
import { recoverAll } from "../../src/recovery/recover-session.js"
import { collectGarbage } from "../../src/store/collect-garbage.js"
import { user } from "../../src/testing/contract/samples.js"
import { bundleProgram, startProgram } from "../../src/testing/start-program.js"
import { openFixture, type TimeTravelFixture } from "../../src/testing/time-travel-fixture.js"
import { makeSession } from "../../src/testing/transfer-sample.js"
import { writeCheckpointFiles } from "../../src/time-travel/look.js"
import { rewindToCheckpoint } from "../../src/time-travel/rewind.js"
import { exportSession } from "../../src/transfer/export-session.js"

let program: string
let from: TimeTravelFixture
let file: string
let folder: string
let messages: number

beforeAll(async () => {
  program = await bundleProgram(fileURLToPath(new URL("programs/import-it.ts", import.meta.url)))
  folder = realpathSync(mkdtempSync(join(tmpdir(), "keepup-import-")))
  from = await openFixture()
  const { one } = await makeSession(from)
  const { session } = await rewindToCheckpoint(from, { checkpoint: one })
  for (let i = 0; i < 3; i++) {
    const said = Array.from({ length: 200 }, (_, n) => user(`message ${n}`))
    await from.store.log.append(session.id, [...said, user("long ".repeat(250_000))])
  }
  await from.store.state.put(session.id, { task: { step: 2 }, notes: "x".repeat(5_000) })
  await from.manager.take({ sessionId: session.id, trigger: "manual", name: "end" })
  messages = (await from.store.sessions.get(session.id)).messageCount
  file = join(folder, "session.keepup")
  await exportSession(from, { sessionId: session.id, path: file })
})
afterAll(async () => {
  await from.close()
  rmSync(folder, { recursive: true, force: true })
})

/** What lies in every table but those the store needs for itself. */
async function countRows({ store }: TimeTravelFixture): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of ["sessions", "entries", "session_checkpoints", "session_logs", "artifacts", "blobs"]) {
    const row = await store.context.driver.get(`SELECT COUNT(*) AS count FROM ${table}`)
    counts[table] = Number(row?.["count"])
  }
  return counts
}

describe("an import", () => {
  it("killed at any step leaves the whole session or nothing that can be seen, and the rest is taken away", async () => {
    let taken = 0
    let dieAt = 1
    // until it comes to its end before the next step; how many there are depends: a slow one renews its lease
    for (let isKilled = true; isKilled; dieAt++) {
      const root = join(folder, `die-${dieAt}`)
      mkdirSync(root)
      const killed = startProgram(program, [root, file, String(dieAt)])
      const { code, signal } = await killed.ended
      isKilled = signal === "SIGKILL"
      if (!isKilled) expect(code, killed.errors()).toBe(0)
      let now = Date.now()
      const travel = await openFixture({ root, clock: { now: () => now } })
      try {
        const [session, ...others] = await travel.store.sessions.list()
        expect(others).toEqual([])
        const found = (await checkStore(travel, {})).filter(({ severity }) => severity !== "info")
        expect(found, `killed at ${dieAt}`).toEqual([])
        taken += (await recoverAll(travel)).imports.length
        if (session === undefined) {
          now += 2 * 3_600_000
          await collectGarbage(travel.store.context)
          expect(Object.values(await countRows(travel)), `killed at ${dieAt}`).toEqual([0, 0, 0, 0, 0, 0])
        } else {
          expect(session).toMatchObject({ messageCount: messages, metadata: { imported: true } })
          const end = await travel.store.checkpoints.resolve(session.id, "end")
          await writeCheckpointFiles(travel, end, join(root, "files"))
          expect(readFileSync(join(root, "files/a.txt"), "utf8")).toBe("one")
        }
        expect(await checkStore(travel, {})).toEqual(
          expect.not.arrayContaining([expect.objectContaining({ severity: "error" })]),
        )
      } finally {
        await travel.close()
        rmSync(root, { recursive: true, force: true })
      }
    }
    expect(dieAt).toBeGreaterThan(20)
    expect(taken).toBeGreaterThan(0)
  })

  it("lets others write to the database while it goes on, and is taken away by nobody who looks meanwhile", async () => {
    const root = join(folder, "shared")
    const travel = await openFixture({ root })
    const session = await travel.createSession("mine")
    const importing = startProgram(program, [root, file])
    let isOver = false
    const over = importing.ended.then((end) => {
      isOver = true
      return end
    })
    await importing.heard<{ step?: string }>(({ step }) => step !== undefined)
    for (let n = 0; !isOver; n++) {
      await setImmediate() // lets its end be heard of
      await travel.store.log.append(session.id, [user(`between ${n}`)])
      expect((await recoverAll(travel)).imports).toEqual([])
      expect((await travel.store.sessions.list()).length).toBeLessThanOrEqual(2)
    }
    expect(await over, importing.errors()).toEqual({ code: 0, signal: null })
    const names = (await travel.store.sessions.list()).map(({ name }) => name)
    expect(names.toSorted()).toEqual(["mine", "travels (rewind from #1)"])
    expect((await checkStore(travel, {})).filter(({ severity }) => severity === "error")).toEqual([])
    await travel.close()
  })
})
