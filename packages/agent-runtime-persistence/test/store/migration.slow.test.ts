/** Migrations of a file: killed between their steps, run by several processes at once, met by a newer keepup. */
import { spawnSync } from "node:child_process"
import { copyFileSync, existsSync, readdirSync, statSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { loadSqlite } from "../../src/store/load-sqlite.js"
import { migrateSqlite } from "../../src/store/migrate.js"
import { openStore } from "../../src/store/open-store.js"
import type { SqlRow } from "../../src/store/sql-driver.js"
import { openSqliteDriver, type SqliteDriver } from "../../src/store/sqlite-driver.js"
import { bundleProgram, startProgram } from "../../src/testing/start-program.js"
import { createTemporaryFolder, type TemporaryFolder } from "../../src/testing/temporary-folder.js"
import { moreSteps, realSteps, stepsAfter } from "./test-migrations.js"

let folder: TemporaryFolder
let migrate: string
let original: string
let path: string
let fileCount = 0

beforeAll(async () => {
  folder = createTemporaryFolder()
  migrate = await bundleProgram(fileURLToPath(new URL("programs/migrate.ts", import.meta.url)))
  original = folder.file("original.db")
  const store = await openStore(`sqlite:${original}`)
  for (let n = 0; n < 5; n++) {
    const { id } = await store.sessions.create({ workspacePath: "/w", name: `session ${n}` })
    await store.log.append(id, [{ type: "test:kept", data: { text: "kept ".repeat(5_000) } }])
  }
  await store.close()
})

afterAll(() => folder.remove())

beforeEach(() => {
  path = folder.file(`${++fileCount}.db`)
  copyFileSync(original, path)
})

describe("a migration", () => {
  it("leaves the old or the new schema when killed at any step, after a backup, and goes on from there", async () => {
    const whole = startProgram(migrate, [path, String(moreSteps)])
    expect(await whole.ended, whole.errors()).toEqual({ code: 0, signal: null })
    const steps = whole.said.filter((line) => Object.hasOwn(line as object, "step"))
    expect(steps).toHaveLength(3 * moreSteps)
    for (let dieAt = 1; dieAt <= steps.length; dieAt++) {
      path = folder.file(`die-${dieAt}.db`)
      copyFileSync(original, path)
      const killed = startProgram(migrate, [path, String(moreSteps), String(dieAt)])
      expect(await killed.ended, killed.errors()).toEqual({ code: null, signal: "SIGKILL" })
      const from = realSteps + Math.floor((dieAt - 1) / 3)
      const isCommitted = dieAt % 3 === 0
      const file = inspect(path)
      expect(file.version, `killed at ${JSON.stringify(steps[dieAt - 1])}`).toBe(from + (isCommitted ? 1 : 0))
      expect(file.made).toEqual(made(file.version))
      expect(inspect(`${path}.v${from}.bak`)).toMatchObject({
        version: from,
        made: made(from),
        sessions: file.sessions,
      })
      await finishMigration(path)
    }
  })

  it("leaves the old or a newer schema when killed at random instants", async () => {
    for (let kill = 0; kill < 20; kill++) {
      path = folder.file(`random-${kill}.db`)
      copyFileSync(original, path)
      const program = startProgram(migrate, [path, String(moreSteps), "never", "wait"])
      await program.heard(() => true)
      program.tell("go")
      setTimeout(() => program.signal("SIGKILL"), Math.random() * 25)
      await program.ended
      const file = inspect(path)
      expect(file.made).toEqual(made(file.version))
      for (let version = realSteps; version < file.version; version++) {
        expect(inspect(`${path}.v${version}.bak`)).toMatchObject({ version, made: made(version) })
      }
      await finishMigration(path)
    }
  })

  it("runs each step once when several processes migrate at the same time", async () => {
    for (let round = 0; round < 3; round++) {
      path = folder.file(`together-${round}.db`)
      if (round > 0) copyFileSync(original, path) // the first round makes the file as well
      const programs = Array.from({ length: 8 }, () =>
        startProgram(migrate, [path, String(moreSteps), "never", "wait"]),
      )
      for (const program of programs) await program.heard(() => true)
      for (const program of programs) program.tell("go")
      for (const program of programs) expect(await program.ended, program.errors()).toEqual({ code: 0, signal: null })
      expect(inspect(path).made).toEqual(made(realSteps + moreSteps))
      for (let version = realSteps; version < realSteps + moreSteps; version++) {
        const copy = `${path}.v${version}.bak`
        if (round > 0 || existsSync(copy)) expect(inspect(copy)).toMatchObject({ version, made: made(version) })
      }
      const left = readdirSync(folder.path).filter((name) => name.startsWith("together") && name.endsWith(".tmp"))
      expect(left).toEqual([])
    }
  })

  it("never overwrites a backup with a copy of what another process made meanwhile", async () => {
    const driver = openSqliteDriver({ path, busyTimeoutMs: 10_000, onStep: () => undefined })
    let isOvertaken = false
    const overtaken: SqliteDriver = {
      ...driver,
      exec(sql) {
        if (!isOvertaken) spawnSync(process.execPath, ["--no-warnings", migrate, path, "1"])
        isOvertaken = true
        driver.exec(sql)
      },
    }
    await migrateSqlite(overtaken, { steps: stepsAfter(2) })
    await driver.close()
    for (const version of [realSteps, realSteps + 1]) {
      expect(inspect(`${path}.v${version}.bak`)).toMatchObject({ version, made: made(version) })
    }
    expect(inspect(path)).toMatchObject({ version: realSteps + 2, made: [1, 2] })
  })

  it("refuses a schema that a newer keepup made while it was migrating", async () => {
    const driver = openSqliteDriver({ path, busyTimeoutMs: 10_000, onStep: () => undefined })
    const overtaken: SqliteDriver = {
      ...driver,
      exec(sql) {
        spawnSync(process.execPath, ["--no-warnings", migrate, path, "3"])
        driver.exec(sql)
      },
    }
    await expect(migrateSqlite(overtaken, { steps: stepsAfter(1) })).rejects.toMatchObject({ code: "STORE_TOO_NEW" })
    await driver.close()
  })

  it("makes backups only their owner can read", async () => {
    await finishMigration(path)
    const copies = readdirSync(folder.path).filter((name) => name.endsWith(".bak"))
    expect(copies.length).toBeGreaterThan(0)
    for (const name of copies) expect(statSync(folder.file(name)).mode & 0o777, name).toBe(0o600)
  })
})

async function finishMigration(file: string): Promise<void> {
  const program = startProgram(migrate, [file, String(moreSteps)])
  expect(await program.ended, program.errors()).toEqual({ code: 0, signal: null })
  expect(inspect(file)).toMatchObject({ version: realSteps + moreSteps, made: [1, 2, 3], sessions: 5 })
}

/** The rows that the steps up to a version have made, each once. */
function made(version: number): number[] {
  return [1, 2, 3].slice(0, version - realSteps)
}

function inspect(file: string): { version: number; made: unknown[]; sessions: number } {
  expect(existsSync(file), file).toBe(true)
  const database = openRaw(file)
  const all = (sql: string) => database.prepare(sql).all() as SqlRow[]
  expect(all("PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }])
  const hasMade = all("SELECT 1 FROM sqlite_master WHERE name = 'made'").length > 0
  const hasSessions = all("SELECT 1 FROM sqlite_master WHERE name = 'sessions'").length > 0
  const result = {
    version: Number(all("PRAGMA user_version")[0]?.["user_version"]),
    made: hasMade ? all("SELECT step FROM made ORDER BY step").map((row) => row["step"]) : [],
    sessions: hasSessions ? all("SELECT id FROM sessions").length : 0,
  }
  database.close()
  return result
}

function openRaw(file: string) {
  const Database = loadSqlite()
  return new Database(file)
}
