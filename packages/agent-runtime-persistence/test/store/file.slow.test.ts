/** Files that are damaged, of another program, of a newer keepup, or open to others: what is said, and that nothing is touched. */
import { createHash, randomBytes } from "node:crypto"
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { isKeepupError, type KeepupError } from "@ku0/agent-runtime-core"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { loadSqlite } from "../../src/store/load-sqlite.js"
import { migrations } from "../../src/store/migrations.js"
import { openStore } from "../../src/store/open-store.js"
import { createTemporaryFolder, type TemporaryFolder } from "../../src/testing/temporary-folder.js"
import { describeStore } from "./describe-store.js"

let folder: TemporaryFolder
let original: Buffer
let description: string
let path: string
let count = 0

beforeAll(async () => {
  folder = createTemporaryFolder()
  const file = folder.file("original.db")
  const store = await openStore(`sqlite:${file}`)
  const session = await store.sessions.create({ workspacePath: "/w" })
  for (let n = 0; n < 60; n++) {
    const content = `${n} ${"word ".repeat(600)}`
    await store.log.append(session.id, [{ type: "message:added", data: { message: { role: "user", content } } }])
  }
  await store.checkpoints.create({ sessionId: session.id, trigger: "manual", state: { plan: "p".repeat(20_000) } })
  description = JSON.stringify(await describeStore(store))
  await store.close()
  original = readFileSync(file)
  expect(original.length, "closing puts the log into the file").toBeGreaterThan(200_000)
})

afterAll(() => folder.remove())

beforeEach(() => {
  path = folder.file(String(++count), "keepup.db")
  mkdirSync(folder.file(String(count)))
})

describe("a damaged file", () => {
  it("is never taken for another, whichever byte of its header is wrong", async () => {
    for (let at = 0; at < 100; at++) {
      for (const mask of [0xff, 0x01, 0x80]) {
        const damaged = Buffer.from(original)
        damaged[at] = (damaged[at] as number) ^ mask
        const outcome = await tryFile(damaged)
        const isVersion = at >= 60 && at < 64
        const isMark = at >= 68 && at < 72
        const allowed = ["same", "CORRUPT", isVersion ? "STORE_TOO_NEW" : "", isMark ? "INVALID_INPUT" : ""]
        expect(allowed, `byte ${at} ^ ${mask}`).toContain(outcome)
      }
    }
  })

  it("is CORRUPT when it was cut, filled with zeros or with anything", async () => {
    const pages = original.length / 4_096
    for (const [what, damaged] of [
      ["cut in its first page", original.subarray(0, 1_000)],
      ["cut in the middle", original.subarray(0, 4_096 * Math.floor(pages / 2))],
      ["cut inside a page", original.subarray(0, 4_096 * Math.floor(pages / 2) + 77)],
      ["random bytes", randomBytes(original.length)],
      ["zeros", Buffer.alloc(original.length)],
      ["text", Buffer.from("not a database\n".repeat(100))],
    ] as const) {
      expect(await tryFile(damaged), what).toBe("CORRUPT")
    }
  })

  it("is CORRUPT as soon as a page full of zeros is read, and stays as it is", async () => {
    const pages = original.length / 4_096
    let found = 0
    for (let page = 1; page < pages; page++) {
      const damaged = Buffer.from(original)
      damaged.fill(0, page * 4_096, (page + 1) * 4_096)
      const outcome = await tryFile(damaged)
      expect(["same", "CORRUPT"], `page ${page + 1}`).toContain(outcome) // an index nobody asked is not missed
      if (outcome === "CORRUPT") found++
    }
    expect(found).toBeGreaterThan(pages / 2)
  })

  it("is CORRUPT without its first part: the log alone is not taken for a new store", async () => {
    for (const database of [undefined, Buffer.alloc(0)]) {
      rmSync(path, { force: true })
      if (database !== undefined) writeFileSync(path, database)
      writeFileSync(`${path}-wal`, "the newest entries")
      const error = await failure(openStore(`sqlite:${path}`))
      expect(error).toMatchObject({ code: "CORRUPT", hint: expect.stringContaining("Put the database back") })
      expect(readFileSync(`${path}-wal`, "utf8")).toBe("the newest entries")
      expect(existsSync(path)).toBe(database !== undefined)
    }
  })
})

describe("a file that is not ours to write", () => {
  it.each([
    ["without a version", ""],
    ["with a version like ours", `PRAGMA user_version = ${migrations.length}`],
    ["with a higher version", "PRAGMA user_version = 99"],
    ["with a mark of its own", "PRAGMA application_id = 77"],
    ["in WAL mode", "PRAGMA journal_mode = WAL"],
  ])("is refused and untouched: another program's, %s", async (_name, pragma) => {
    const database = new (loadSqlite())(path)
    database.exec(`CREATE TABLE sessions (theirs TEXT); INSERT INTO sessions VALUES ('x'); ${pragma}`)
    database.close()
    chmodSync(path, 0o644)
    const error = await untouched(() => failure(openStore(`sqlite:${path}`)))
    expect(error).toMatchObject({ code: "INVALID_INPUT", hint: expect.stringContaining("--db") })
    expect(error.message).toContain("another program")
    expect(statSync(path).mode & 0o777).toBe(0o644)
  })

  it.each(["DELETE", "WAL"])("is refused and untouched: a newer keepup's, in %s mode", async (mode) => {
    writeFileSync(path, original)
    const database = new (loadSqlite())(path)
    database.exec(`PRAGMA journal_mode = ${mode}; PRAGMA user_version = ${migrations.length + 1}`)
    database.close()
    const error = await untouched(() => failure(openStore(`sqlite:${path}`)))
    expect(error).toMatchObject({ code: "STORE_TOO_NEW", hint: expect.stringContaining("Update keepup") })
  })

  it("is refused and untouched: a newer keepup's that crashed, its newest changes still in the log", async () => {
    const live = folder.file(String(count), "live.db")
    writeFileSync(live, original)
    const database = new (loadSqlite())(live)
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA user_version = ${migrations.length + 1}`)
    for (const end of ["", "-wal"]) copyFileSync(live + end, path + end)
    database.close()
    const log = readFileSync(`${path}-wal`)
    const error = await untouched(() => failure(openStore(`sqlite:${path}`)))
    expect(error).toMatchObject({ code: "STORE_TOO_NEW" })
    expect(readFileSync(`${path}-wal`).equals(log)).toBe(true)
  })
})

describe("a file of ours", () => {
  it("and its log and folder can be read by their owner only", async () => {
    const deep = folder.file(String(count), "new", "deep", "keepup.db")
    const umask = process.umask(0)
    const store = await openStore(`sqlite:${deep}`)
    process.umask(umask)
    await store.sessions.create({ workspacePath: "/w" })
    for (const end of ["", "-wal", "-shm"]) expect(statSync(deep + end).mode & 0o777, end).toBe(0o600)
    for (const name of ["new", "new/deep"]) {
      expect(statSync(folder.file(String(count), name)).mode & 0o777, name).toBe(0o700)
    }
    await store.close()
  })

  it("is closed to others when it was open to them, with its log", async () => {
    writeFileSync(path, original)
    const before = await openStore(`sqlite:${path}`)
    await before.sessions.create({ workspacePath: "/w" })
    for (const end of ["", "-wal", "-shm"]) chmodSync(path + end, 0o666)
    const store = await openStore(`sqlite:${path}`)
    for (const end of ["", "-wal", "-shm"]) expect(statSync(path + end).mode & 0o777, end).toBe(0o600)
    await store.close()
    await before.close()
  })

  it("holds everything once it is closed: a copy of the file alone is a copy of the store", async () => {
    writeFileSync(path, original)
    const store = await openStore(`sqlite:${path}`)
    const { id } = await store.sessions.create({ workspacePath: "/w", name: "the newest" })
    await store.close()
    const copy = folder.file(String(count), "copy.db")
    copyFileSync(path, copy)
    const again = await openStore(`sqlite:${copy}`)
    expect((await again.sessions.get(id)).name).toBe("the newest")
    await again.close()
  })
})

/** `same` if it opens and says what the original says, else the code. Whatever happens, an error changes nothing. */
async function tryFile(content: Uint8Array): Promise<string> {
  for (const name of readdirSync(folder.file(String(count)))) rmSync(folder.file(String(count), name))
  writeFileSync(path, content)
  try {
    const store = await openStore(`sqlite:${path}`)
    try {
      return JSON.stringify(await describeStore(store)) === description ? "same" : "different"
    } finally {
      await store.close()
    }
  } catch (error) {
    if (!isKeepupError(error)) throw error
    expect(error.hint, error.message).toMatch(/.{20}/)
    expect(readFileSync(path).equals(content), "untouched").toBe(true)
    return error.code
  }
}

async function failure(work: Promise<unknown>): Promise<KeepupError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!isKeepupError(error)) throw error ?? new Error("It worked.")
  return error
}

async function untouched<Result>(work: () => Promise<Result>): Promise<Result> {
  const hash = () => createHash("sha256").update(readFileSync(path)).digest("hex")
  const before = hash()
  const result = await work()
  expect(hash()).toBe(before)
  return result
}
