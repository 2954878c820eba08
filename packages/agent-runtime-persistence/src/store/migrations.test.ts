import { existsSync, statSync } from "node:fs"
import { afterEach, describe, expect, it } from "vitest"
import { user } from "../testing/contract/samples.js"
import { createTemporaryFolder, type TemporaryFolder } from "../testing/temporary-folder.js"
import { migrateSqlite } from "./migrate.js"
import { migrations } from "./migrations.js"
import { openStore } from "./open-store.js"
import { openSqliteDriver } from "./sqlite-driver.js"

let folder: TemporaryFolder | undefined
afterEach(() => folder?.remove())

/** A database as the first version of the schema left it, with a session in it. */
async function makeVersion1(): Promise<{ path: string; id: string }> {
  folder = createTemporaryFolder()
  const path = folder.file("keepup.db")
  const driver = openSqliteDriver({ path, busyTimeoutMs: 1_000, onStep: () => undefined })
  await migrateSqlite(driver, { steps: migrations.slice(0, 1) })
  const id = "01890000-0000-7000-8000-000000000001"
  await driver.run(
    `INSERT INTO sessions (id, name, agent_type, task_description, status, phase, workspace_path, created_at, updated_at,
       head_seq, message_count, checkpoint_count, last_checkpoint_number, metadata)
     VALUES ('${id}', 'old', 'keepup', '', 'active', 'idle', '/w', 1, 1, 1, 0, 0, 0, '{}')`,
  )
  await driver.run(
    `INSERT INTO entries (session_id, seq, type, version, data, created_at, message_index)
     VALUES ('${id}', 1, 'session:started', 1,
       '{"name":"old","agentType":"keepup","taskDescription":"","workspacePath":"/w"}', 1, 0)`,
  )
  await driver.close()
  return { path, id }
}

describe("a database of version 1", () => {
  it("becomes one of the newest version with everything in it, after a backup", async () => {
    const { path, id } = await makeVersion1()
    const store = await openStore(`sqlite:${path}`)
    expect(store.schemaVersion).toBe(migrations.length)
    expect(await store.sessions.get(id as never)).toMatchObject({ name: "old", status: "active" })
    expect(await store.context.driver.all("SELECT * FROM execution_task_snapshots")).toEqual([])
    await store.log.append(id as never, [user("goes on")])
    await store.close()

    const backup = `${path}.v1.bak`
    expect(statSync(backup).mode & 0o777).toBe(0o600)
    const old = openSqliteDriver({ path: backup, busyTimeoutMs: 1_000, onStep: () => undefined })
    expect(await old.get("PRAGMA user_version")).toEqual({ user_version: 1 })
    expect(await old.get("SELECT COUNT(*) AS n FROM entries")).toEqual({ n: 1 })
    await expect(old.all("SELECT * FROM execution_leases")).rejects.toThrow()
    await old.close()
  })

  it("is not migrated twice, and a new one needs no backup", async () => {
    const { path } = await makeVersion1()
    await (await openStore(`sqlite:${path}`)).close()
    const before = statSync(`${path}.v1.bak`).mtimeMs
    await (await openStore(`sqlite:${path}`)).close()
    expect(statSync(`${path}.v1.bak`).mtimeMs).toBe(before)
    const fresh = folder?.file("fresh.db") as string
    await (await openStore(`sqlite:${fresh}`)).close()
    expect(existsSync(`${fresh}.v1.bak`)).toBe(false)
  })
})
