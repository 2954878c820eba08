import { copyFileSync, readFileSync, statSync, writeFileSync } from "node:fs"
import type { SessionId } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { loadSqlite } from "../store/load-sqlite.js"
import { openStore, type Store } from "../store/open-store.js"
import { user } from "../testing/contract/samples.js"
import { createTemporaryFolder, type TemporaryFolder } from "../testing/temporary-folder.js"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"
import { checkDatabase } from "./check-database.js"
import { checkLog } from "./check-log.js"
import type { FindingCode } from "./finding.js"

let folder: TemporaryFolder
const opened: Store[] = []
beforeEach(() => {
  folder = createTemporaryFolder()
})
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
  folder.remove()
})

async function open(name: string): Promise<Store> {
  const store = await openStore(`sqlite:${folder.file(name)}`)
  opened.push(store)
  return store
}

/** A store as a killed process leaves it: a copy of the file and its log, which was changed. */
async function makeKilled(change: (log: Buffer) => Buffer): Promise<{ id: SessionId; store: Store }> {
  const live = await open("live.db")
  const { id } = await live.sessions.create({ workspacePath: "/w" })
  for (let n = 0; n < 20; n++) await live.log.append(id, [user(`${n}`)])
  copyFileSync(folder.file("live.db"), folder.file("killed.db"))
  writeFileSync(folder.file("killed.db-wal"), change(readFileSync(folder.file("live.db-wal"))))
  return { id, store: await open("killed.db") }
}

function flipMiddle(log: Buffer): Buffer {
  const at = Math.floor(log.length / 2)
  log.writeUInt8(log.readUInt8(at) ^ 4, at)
  return log
}

const frame = 4_096 + 24
const changes: readonly [string, (log: Buffer) => Buffer, FindingCode[], lost: boolean][] = [
  ["nothing was changed", (log) => log, [], false],
  ["a write was begun and never ended", (log) => Buffer.concat([log, log.subarray(32, 32 + frame)]), [], false],
  ["it was cut in the middle of a write", (log) => log.subarray(0, log.length - 1_000), ["log-cut"], true],
  [
    "half of it is gone",
    (log) => log.subarray(0, 32 + frame * Math.floor(log.length / frame / 2) + 77),
    ["log-cut"],
    true,
  ],
  ["a bit in its middle was flipped", flipMiddle, ["log-damaged"], true],
]

describe("the write-ahead log of a store whose process was killed", () => {
  it.each(changes)("%s: it is told, and what was whole before that is there", async (_, change, found, isLost) => {
    const { id, store } = await makeKilled(change)
    const context = { store } as TimeTravelContext
    expect((await checkLog(context)).map(({ code }) => code)).toEqual(found)
    expect(
      (await checkLog(context)).map(({ code }) => code),
      "looking changes nothing",
    ).toEqual(found)
    expect(await checkDatabase(context)).toEqual([])
    const seqs = (await store.log.read(id)).map(({ seq }) => seq)
    expect(seqs).toEqual(seqs.map((__, index) => index + 1))
    expect(seqs.length < 21).toBe(isLost)
  })

  it.each([10, 4_000, 50_000, 100_000])(
    "of a young store, cut after %i bytes: it is told, and the store is the same, not a new one",
    async (length) => {
      const { store } = await makeKilled((log) => log.subarray(0, length))
      expect((await checkLog({ store } as TimeTravelContext)).map(({ code }) => code)).toEqual(["log-cut"])
      expect(readFileSync(folder.file("killed.db")).equals(readFileSync(folder.file("live.db")))).toBe(true)
      expect(statSync(folder.file("killed.db-wal")).size).toBe(length)
    },
  )

  it("whose header was flipped is told", async () => {
    const { store } = await makeKilled((log) => {
      log.writeUInt8(log.readUInt8(17) ^ 4, 17)
      return log
    })
    expect((await checkLog({ store } as TimeTravelContext)).map(({ code }) => code)).toEqual(["log-damaged"])
  })

  it("is nothing to look at in memory, and after it was emptied", async () => {
    const memory = await openStore("memory:")
    opened.push(memory)
    expect(await checkLog({ store: memory } as TimeTravelContext)).toEqual([])
    await (await openStore(`sqlite:${folder.file("closed.db")}`)).close()
    expect(await checkLog({ store: await open("closed.db") } as TimeTravelContext)).toEqual([])
  })
})

describe("a file that holds nothing, beside a log", () => {
  /** As a process leaves it that died before anything of two transactions came into the file. */
  function makeYoung(change: (log: Buffer) => Buffer): { file: Buffer; log: Buffer } {
    const database = new (loadSqlite())(folder.file("live.db"))
    database.exec("PRAGMA journal_mode = WAL; CREATE TABLE a (x); INSERT INTO a VALUES (zeroblob(20000))")
    const file = readFileSync(folder.file("live.db"))
    const log = change(readFileSync(folder.file("live.db-wal")))
    writeFileSync(folder.file("young.db"), file)
    writeFileSync(folder.file("young.db-wal"), log)
    database.close()
    return { file, log }
  }

  it.each([
    ["its first write was changed", (at: number) => 32 + 24 + at],
    ["its header was changed", (at: number) => at],
  ])("is not begun anew when %s: nothing is written, and it is said", async (_, place) => {
    const before = makeYoung((log) => {
      log.writeUInt8(log.readUInt8(place(17)) ^ 4, place(17))
      return log
    })
    await expect(openStore(`sqlite:${folder.file("young.db")}`)).rejects.toMatchObject({
      code: "CORRUPT",
      hint: expect.stringContaining("young.db-wal"),
    })
    expect(readFileSync(folder.file("young.db")).equals(before.file)).toBe(true)
    expect(readFileSync(folder.file("young.db-wal")).equals(before.log)).toBe(true)
  })

  it("is a new store where that was killed in the middle of its first write", async () => {
    makeYoung((log) => log.subarray(0, 32 + frame))
    expect(await (await open("young.db")).sessions.list()).toEqual([])
  })
})
