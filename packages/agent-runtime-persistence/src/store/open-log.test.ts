import { copyFileSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { createRequire } from "node:module"
import { afterEach, beforeEach, expect, it } from "vitest"
import { leaseName } from "../session/lease-row.js"
import { user } from "../testing/contract/samples.js"
import { createTemporaryFolder, type TemporaryFolder } from "../testing/temporary-folder.js"
import { type OpenLog, openLog } from "./open-log.js"
import { openStore } from "./open-store.js"

const { DatabaseSync } = createRequire(import.meta.url)("@photostructure/sqlite")

let folder: TemporaryFolder
let file: string

beforeEach(() => {
  folder = createTemporaryFolder()
  file = folder.file("keepup.db")
})
afterEach(() => folder.remove())

async function makeSession() {
  const store = await openStore(`sqlite:${file}`)
  const session = await store.sessions.create({ workspacePath: "/work", name: "one" })
  return { store, session }
}

async function open(): Promise<OpenLog> {
  const log = await openLog(`sqlite:${file}`)
  if (log === undefined) throw new Error("The log could not be opened.")
  return log
}

it("appends what the whole store would: next number, head, count of messages, time", async () => {
  const { store, session } = await makeSession()
  const quick = await open()
  const [first] = await quick.log.append(session.id, [user("one"), user("two")])
  const [whole] = await store.log.append(session.id, [user("three")])
  const [second] = await quick.log.append(session.id, [user("four")])
  expect([first?.seq, whole?.seq, second?.seq]).toEqual([2, 4, 5])
  expect(await store.sessions.get(session.id)).toMatchObject({ headSeq: 5, messageCount: 4, phase: "idle" })
  expect(await quick.sessions.list({ workspacePath: "/work" })).toEqual(await store.sessions.list({}))
  const { messages } = await store.log.fold(await store.log.head(session.id))
  expect(JSON.stringify(messages)).toMatch(/one.+two.+three.+four/)
  await quick.close()
  await store.close()
})

it("keeps what was appended although nobody closes it", async () => {
  const { store, session } = await makeSession()
  await store.close()
  const quick = await open()
  await quick.log.append(session.id, [user("kept")])
  // what a disk holds when the process ends at this instant
  for (const end of ["", "-wal"]) copyFileSync(file + end, folder.file(`copy.db${end}`))
  const copy = await openStore(`sqlite:${folder.file("copy.db")}`)
  expect((await copy.log.read(session.id)).map(({ type }) => type)).toEqual(["session:started", "message:added"])
  await copy.close()
  await quick.close()
})

it("does not let the write-ahead log grow for ever when nobody closes it", async () => {
  const { store, session } = await makeSession()
  await store.close()
  const quick = await open()
  for (let i = 0; i < 400; i++) await quick.log.append(session.id, [user("x".repeat(2_000))])
  expect(statSync(`${file}-wal`).size).toBeLessThan(3_000_000)
  await quick.close()
})

it("refuses what the whole store refuses: an unknown session, an event that can't happen, a session someone holds", async () => {
  const { store, session } = await makeSession()
  const quick = await open()
  await expect(quick.log.append("0198c0de-0000-7000-8000-000000000000" as never, [user("x")])).rejects.toMatchObject({
    code: "NOT_FOUND",
  })
  await expect(quick.log.append(session.id, [{ type: "no name", data: {} }])).rejects.toMatchObject({
    code: "INVALID_INPUT",
  })
  const lease = await store.leases.take(leaseName("session", session.id), { purpose: "run" })
  await expect(quick.log.append(session.id, [user("x")])).rejects.toMatchObject({ code: "SESSION_RUNNING" })
  await lease.release()
  await quick.log.append(session.id, [user("x")])
  expect((await store.sessions.get(session.id)).headSeq).toBe(2)
  await quick.close()
  await store.close()
})

it("leaves a file alone that is not there, of another program, of an older or of a newer keepup", async () => {
  expect(await openLog(`sqlite:${file}`)).toBeUndefined()
  expect(existsSync(file)).toBe(false)
  for (const url of ["memory:", "postgres://nobody@localhost/none", "keepup.db"])
    expect(await openLog(url)).toBeUndefined()
  const databases = {
    "empty.db": "",
    "other.db": "CREATE TABLE notes (text)",
    "older.db": "PRAGMA application_id = 0x6b757030; PRAGMA user_version = 1; CREATE TABLE sessions (id)",
    "newer.db": "PRAGMA application_id = 0x6b757030; PRAGMA user_version = 9999; CREATE TABLE sessions (id)",
  }
  for (const [name, sql] of Object.entries(databases)) {
    const database = new DatabaseSync(folder.file(name))
    database.exec(sql)
    database.close()
    const before = readFileSync(folder.file(name))
    expect(await openLog(`sqlite:${folder.file(name)}`)).toBeUndefined()
    expect(readFileSync(folder.file(name))).toEqual(before)
  }
  expect(readdirSync(folder.path).sort()).toEqual(Object.keys(databases).sort())
})
