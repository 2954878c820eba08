/** What a store's address may be, and what happens to the file behind it while a store is open. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { createRequire } from "node:module"
import type { KeepupError } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { createTemporaryFolder, type TemporaryFolder } from "../testing/temporary-folder.js"
import { type OpenStoreOptions, openStore, type Store } from "./open-store.js"

let folder: TemporaryFolder
let opened: Store[] = []

beforeEach(() => {
  folder = createTemporaryFolder()
})

afterEach(async () => {
  for (const store of opened) await store.close()
  opened = []
  folder.remove()
})

async function open(url: string, options?: OpenStoreOptions): Promise<Store> {
  const store = await openStore(url, options)
  opened.push(store)
  return store
}

async function failure(work: Promise<unknown>): Promise<KeepupError> {
  return await work.then(
    () => Promise.reject(new Error("It worked.")),
    (error: KeepupError) => error,
  )
}

describe("an address", () => {
  it.each([
    "",
    "sqlite:",
    "sqlite://",
    "sqlite:folder/",
    "sqlite:a\0b",
    "memory:x",
    "keepup.db",
    "file:x",
    "mysql://h/d",
  ])("is refused with what to write instead: %j", async (url) => {
    expect(await failure(openStore(url))).toMatchObject({
      code: "INVALID_INPUT",
      hint: expect.stringContaining("sqlite:PATH"),
    })
  })

  it.each(["mysql://u:secret@h/d", "postgres:u:secret@h/d", "mysql://h/d?password=secret", "u:secret@h"])(
    "does not show its password in the refusal: %s",
    async (url) => {
      const error = await failure(openStore(url))
      expect(JSON.stringify([error.message, error.hint, error.details])).not.toContain("secret")
    },
  )

  it("that is a folder is refused", async () => {
    expect(await failure(openStore(`sqlite:${folder.path}`))).toMatchObject({
      code: "INVALID_INPUT",
      hint: expect.stringContaining("keepup.db"),
    })
  })

  it.each(["file:a.db?mode=memory", "file::memory:", "file:b.db", "a?b#c%41.db", 'it\'s "odd" 名.db', "C:\\x.db"])(
    "is a name and nothing else: what is kept under %s is there again",
    async (name) => {
      const cwd = process.cwd()
      process.chdir(folder.path)
      try {
        const store = await open(`sqlite:${name}`)
        const { id } = await store.sessions.create({ workspacePath: "/w" })
        await store.close()
        expect(readdirSync(folder.path)).toContain(name)
        expect((await (await open(`sqlite:${name}`)).sessions.get(id)).id).toBe(id)
      } finally {
        process.chdir(cwd)
      }
    },
  )
})

describe("a file behind a link", () => {
  it("is one store, whichever way it is named", async () => {
    mkdirSync(folder.file("links"))
    symlinkSync(folder.file("real.db"), folder.file("links", "k.db"))
    const { id } = await (await open(`sqlite:${folder.file("links", "k.db")}`)).sessions.create({ workspacePath: "/w" })
    expect((await (await open(`sqlite:${folder.file("real.db")}`)).sessions.get(id)).id).toBe(id)
    expect(readdirSync(folder.file("links"))).toEqual(["k.db"])
  })

  it("is not replaced by an empty one when it is gone and its log is still there", async () => {
    writeFileSync(folder.file("real.db-wal"), "the newest entries")
    symlinkSync(folder.file("real.db"), folder.file("k.db"))
    expect(await failure(openStore(`sqlite:${folder.file("k.db")}`))).toMatchObject({ code: "CORRUPT" })
    expect(existsSync(folder.file("real.db"))).toBe(false)
  })
})

describe("a file under an open store", () => {
  it.each(["replaced", "removed", "moved"])("that is %s acknowledges nothing more", async (what) => {
    const path = folder.file("keepup.db")
    const store = await open(`sqlite:${path}`)
    const { id } = await store.sessions.create({ workspacePath: "/w" })
    copyFileSync(path, folder.file("other.db"))
    if (what === "replaced") renameSync(folder.file("other.db"), path)
    else if (what === "removed") rmSync(path)
    else renameSync(path, folder.file("elsewhere.db"))
    expect(await failure(store.log.append(id, [{ type: "test:x", data: 1 }]))).toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("while it was open"),
      hint: expect.stringContaining("open the store again"),
    })
    if (what !== "moved") return
    renameSync(folder.file("elsewhere.db"), path)
    expect(await store.log.append(id, [{ type: "test:x", data: 1 }])).toMatchObject([{ seq: 2 }])
  })
})

describe("the log of an open store", () => {
  it.each(["-wal", "-shm"])("that lost its %s acknowledges nothing more", async (end) => {
    const path = folder.file("keepup.db")
    const store = await open(`sqlite:${path}`)
    const { id } = await store.sessions.create({ workspacePath: "/w" })
    rmSync(path + end)
    expect(await failure(store.log.append(id, [{ type: "test:x", data: 1 }]))).toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining(`${path}${end} was moved, replaced or removed`),
    })
  })

  it("is put into the file when it was removed: what was kept before is there again", async () => {
    const path = folder.file("keepup.db")
    const store = await open(`sqlite:${path}`)
    const { id } = await store.sessions.create({ workspacePath: "/w" })
    await store.log.append(id, [{ type: "test:x", data: "kept" }])
    rmSync(`${path}-wal`)
    const error = await failure(store.log.append(id, [{ type: "test:x", data: "lost" }]))
    expect(error.hint).toContain("what was kept before is in the database file")
    await store.close()
    const again = await open(`sqlite:${path}`)
    expect((await again.log.read(id)).map(({ data }) => data)).toContain("kept")
    expect(await again.log.append(id, [{ type: "test:x", data: 3 }])).toMatchObject([{ seq: 3 }])
  })

  it("is left alone when another one has its name: nobody knows what belongs to which", async () => {
    const path = folder.file("keepup.db")
    const store = await open(`sqlite:${path}`)
    const { id } = await store.sessions.create({ workspacePath: "/w" })
    rmSync(`${path}-wal`)
    writeFileSync(`${path}-wal`, "somebody else's")
    const error = await failure(store.log.append(id, [{ type: "test:x", data: 1 }]))
    expect(error).toMatchObject({ code: "UNAVAILABLE", hint: expect.stringContaining("keepup doctor") })
    await store.close()
    expect(readFileSync(`${path}-wal`, "utf8")).toBe("somebody else's")
  })
})

describe("a write while another process writes for long", () => {
  let holder: ChildProcess
  const url = () => `sqlite:${folder.file("keepup.db")}`

  /** Holds the right to write until it is told to let go. */
  async function holdWrites(): Promise<void> {
    const sqlite = createRequire(import.meta.url).resolve("@photostructure/sqlite")
    const script = `const { DatabaseSync } = require(process.argv[1]); const db = new DatabaseSync(process.argv[2])
      db.exec("BEGIN IMMEDIATE"); process.stdout.write("held"); process.stdin.once("data", () => { db.exec("COMMIT"); process.exit() })`
    holder = spawn(process.execPath, ["-e", script, sqlite, folder.file("keepup.db")], { stdio: "pipe" })
    await once(holder.stdout as NonNullable<ChildProcess["stdout"]>, "data")
  }

  afterEach(() => void holder.kill("SIGKILL"))

  it("waits, and this process goes on with everything else meanwhile", async () => {
    const store = await open(url(), { busyTimeoutMs: 600_000 })
    const { id } = await store.sessions.create({ workspacePath: "/w" })
    await holdWrites()
    let isWritten = false
    const writing = store.log.append(id, [{ type: "test:x", data: 1 }]).finally(() => {
      isWritten = true
    })
    for (let turns = 0; turns < 50; turns++) await new Promise((resolve) => setTimeout(resolve, 1))
    expect(isWritten).toBe(false)
    holder.stdin?.write("let go")
    expect(await writing).toMatchObject([{ seq: 2 }])
  })

  it("is given up with the reason when it takes too long, and works again after it", async () => {
    const store = await open(url(), { busyTimeoutMs: 50 })
    const { id } = await store.sessions.create({ workspacePath: "/w" })
    await holdWrites()
    expect(await failure(store.log.append(id, [{ type: "test:x", data: 1 }]))).toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining("is busy"),
    })
    holder.stdin?.write("let go")
    await once(holder, "exit")
    expect(await store.log.append(id, [{ type: "test:x", data: 1 }])).toMatchObject([{ seq: 2 }])
  })
})

describe("two stores of one process on one file", () => {
  it("take turns, and neither gives up on a write that could not go on", async () => {
    const url = `sqlite:${folder.file("keepup.db")}`
    const stores = [await open(url, { busyTimeoutMs: 20_000 }), await open(url, { busyTimeoutMs: 20_000 })]
    const { id } = await (stores[0] as Store).sessions.create({ workspacePath: "/w" })
    const large = "x".repeat(1_100_000) // compressed in the middle of its transaction
    await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        (stores[n % 2] as Store).log.append(id, [{ type: "test:x", data: n % 10 === 0 ? large : n }]),
      ),
    )
    expect((await (stores[1] as Store).log.head(id)).seq).toBe(41)
  })

  it("go on alone when the other is closed", async () => {
    const url = `sqlite:${folder.file("keepup.db")}`
    const [one, two] = [await open(url), await open(url)]
    await one.close()
    await one.close()
    const { id } = await two.sessions.create({ workspacePath: "/w" })
    expect((await (await open(url)).sessions.get(id)).id).toBe(id)
    expect(await failure(one.sessions.list())).toMatchObject({ code: "UNAVAILABLE", hint: "Open the store again." })
  })
})
