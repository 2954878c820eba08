import { copyFileSync, readFileSync, writeFileSync } from "node:fs"
import type { SessionId } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
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

  it("is nothing to look at in memory, and after it was emptied", async () => {
    const memory = await openStore("memory:")
    opened.push(memory)
    expect(await checkLog({ store: memory } as TimeTravelContext)).toEqual([])
    await (await openStore(`sqlite:${folder.file("closed.db")}`)).close()
    expect(await checkLog({ store: await open("closed.db") } as TimeTravelContext)).toEqual([])
  })
})
