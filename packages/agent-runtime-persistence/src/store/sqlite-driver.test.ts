import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { openSqliteDriver, type SqliteDriver } from "./sqlite-driver.js"

let folder: string
let driver: SqliteDriver
const open = () => openSqliteDriver({ path: join(folder, "a.db"), busyTimeoutMs: 1_000, onStep: () => undefined })
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepup-driver-"))
  driver = open()
  driver.claim()
  driver.exec("CREATE TABLE things (name TEXT)")
})
afterEach(async () => {
  await driver.close()
  rmSync(folder, { recursive: true })
})

const full = { synchronous: 2 }
const add = (name: string) => async (tx: { run: SqliteDriver["run"]; get: SqliteDriver["get"] }) => {
  await tx.run("INSERT INTO things VALUES (?)", [name])
  return await tx.get("PRAGMA synchronous")
}

it("waits for the disk in every transaction but those that need not be durable", async () => {
  expect(await driver.transaction("x", add("a"))).toEqual(full)
  expect(await driver.transaction("x", add("b"), { durable: false })).toEqual({ synchronous: 1 })
  expect(await driver.transaction("x", add("c"))).toEqual(full)
  const other = open()
  expect(await other.all("SELECT name FROM things")).toEqual([{ name: "a" }, { name: "b" }, { name: "c" }])
  await other.close()
})

it("waits for the disk again after one that failed", async () => {
  const fail = async () => {
    throw new Error("not this time")
  }
  await expect(driver.transaction("x", fail, { durable: false })).rejects.toThrow("not this time")
  expect(await driver.transaction("x", add("a"))).toEqual(full)
})

it("makes the folders of a database, and comes back where none can be made", async () => {
  const options = { busyTimeoutMs: 1_000, onStep: () => undefined }
  const deep = openSqliteDriver({ path: join(folder, "b/c/d.db"), ...options })
  await deep.close()
  expect(statSync(join(folder, "b/c")).mode & 0o777).toBe(0o700)
  expect(() => openSqliteDriver({ path: "/proc/no/such/d.db", ...options })).toThrow("/proc/no/such/d.db can't be made")
})
