/** A seeded list of damages: every one is found, what can be mended is mended, and nothing else is touched. */
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { join } from "node:path"
import type { ArtifactId, Checkpoint, Session } from "@ku0/agent-runtime-core"
import { event, KeepupError } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openStore } from "../store/open-store.js"
import { user } from "../testing/contract/samples.js"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import { takePicture } from "../testing/workspace-picture.js"
import { rewindToCheckpoint } from "../time-travel/rewind.js"
import { describeOpenFailure } from "./check-database.js"
import { checkStore } from "./check-store.js"
import type { FindingCode } from "./finding.js"
import { repairStore } from "./repair-store.js"

const day = 86_400_000
const start = Date.now() - 2 * day
let now = start
const clock = { now: () => now }

let travel: TimeTravelFixture
let session: Session
let one: Checkpoint
let two: Checkpoint
const options = () => ({ stateDirectory: travel.stateDirectory })
const run = (sql: string, ...params: (string | number | null)[]) => travel.store.context.driver.run(sql, params)

beforeEach(async () => {
  now = start
  travel = await openFixture({ withGit: true, clock })
  chmodSync(travel.stateDirectory, 0o700)
  session = await travel.createSession()
  travel.write({ "a.txt": "a1\n", "b.txt": "b1\n", "dir/c.txt": "c1\n" })
  await travel.store.log.append(session.id, [user("first"), user(`long ${"x".repeat(1_100_000)}`)])
  one = (await travel.manager.take({ sessionId: session.id, trigger: "manual", state: { plan: [1] } })) as Checkpoint
  travel.write({ "a.txt": "a2\n", "b.txt": null })
  await travel.store.log.append(session.id, [user("third")])
  two = (await travel.manager.take({
    sessionId: session.id,
    trigger: "turn.ended",
    state: { plan: [2] },
  })) as Checkpoint
  await rewindToCheckpoint(travel, { checkpoint: one })
  const facts = { id: "artifact" as ArtifactId, type: "t", schemaVersion: "1", title: "", mediaType: "text/plain" }
  const none = { taskNodeId: null, quarantine: null, renderHints: null, idempotencyKey: null }
  await travel.store.artifacts.put({ ...facts, ...none, sessionId: session.id, createdAt: 0 }, Buffer.from("artifact"))
  now += day
})
afterEach(() => travel.close())

const codes = async () => [...new Set((await checkStore(travel, options())).map(({ code }) => code))]

/** Every row of every table. */
async function dump(): Promise<Record<string, string[]>> {
  const tables: Record<string, string[]> = {}
  const names = await travel.store.context.driver.all(
    "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name",
  )
  for (const { name } of names) {
    const rows = await travel.store.context.driver.all(`SELECT * FROM ${name}`)
    tables[name as string] = rows.map((row) => JSON.stringify(row)).toSorted()
  }
  return tables
}

/** Rows that are not the same, by table. */
function differing(a: Record<string, string[]>, b: Record<string, string[]>): string[] {
  return Object.keys(a).filter((name) => JSON.stringify(a[name]) !== JSON.stringify(b[name]))
}

const snapshotFolder = async () => (await travel.snapshots(travel.workspace)).directory

/** Makes a file a day old. */
function age(path: string): void {
  utimesSync(path, start / 1000, start / 1000)
}

async function reopen(change: (database: string) => void): Promise<void> {
  const root = join(travel.workspace, "..")
  const { close } = travel
  await travel.store.close()
  change(join(travel.stateDirectory, "keepup.db"))
  const again = await openFixture({ root, clock })
  travel = {
    ...again,
    close: async () => {
      await again.close()
      await close()
    },
  }
}

describe("a store that is sound", () => {
  it("has nothing to be said of it, and repair does nothing", async () => {
    expect(await checkStore(travel, options())).toEqual([])
    const before = [await dump(), takePicture(travel.stateDirectory)]
    expect(await repairStore(travel, options())).toEqual({ backup: undefined, done: [], left: [] })
    expect([await dump(), takePicture(travel.stateDirectory)]).toEqual(before)
  })

  it("misses no workspace that a session reaches through a link", async () => {
    const link = `${travel.workspace}-link`
    symlinkSync(travel.workspace, link)
    const session = await travel.store.sessions.create({ workspacePath: link })
    await travel.manager.take({ sessionId: session.id, trigger: "manual" })
    expect(await codes()).not.toContain("workspace-missing")
  })

  it("is still sound after retention, deletion, ended and deleted sessions", async () => {
    for (let i = 0; i < 5; i++) await travel.manager.take({ sessionId: session.id, trigger: "turn.ended" })
    await travel.manager.prune(session.id, { keep: 1 })
    await travel.store.checkpoints.delete([two.id])
    await travel.store.log.append(session.id, [event("session:ended", { outcome: "completed" })])
    await travel.store.sessions.delete(session.id)
    now += day
    expect(await codes()).toEqual(["ref-unowned"])
    const { done, left } = await repairStore(travel, options())
    expect(done).toEqual([expect.stringMatching(/belong to no checkpoint were let go/)])
    expect(left).toEqual([])
  })
})

interface Damage {
  readonly what: string
  readonly damage: () => Promise<unknown>
  readonly found: readonly FindingCode[]
  /** The only tables a repair may write to. */
  readonly writes?: readonly string[]
}

const byName = (list: readonly Damage[]) => list.map((one) => [one.what, one] as const)

const mended: readonly Damage[] = [
  {
    what: "a head that stands too early",
    damage: () => run("UPDATE sessions SET head_seq = 2, message_count = 9 WHERE id = ?", session.id),
    found: ["head-wrong", "counter-wrong"],
    writes: ["sessions"],
  },
  {
    what: "a phase and status the log knows nothing of",
    damage: () => run("UPDATE sessions SET phase = 'failed', status = 'failed' WHERE id = ?", session.id),
    found: ["phase-wrong"],
    writes: ["sessions"],
  },
  {
    what: "a session that says it does another task",
    damage: () => run("UPDATE sessions SET task_description = 'x' WHERE id = ?", session.id),
    found: ["row-changed"],
    writes: ["sessions"],
  },
  {
    what: "a number that would be used again",
    damage: () => run("UPDATE sessions SET last_checkpoint_number = 1 WHERE id = ?", session.id),
    found: ["counter-wrong"],
    writes: ["sessions"],
  },
  {
    what: "a wrong count of checkpoints",
    damage: () => run("UPDATE sessions SET checkpoint_count = 1 WHERE id = ?", session.id),
    found: ["counter-wrong"],
    writes: ["sessions"],
  },
  {
    what: "a checkpoint that stands at another message",
    damage: () => run("UPDATE session_checkpoints SET message_index = 77 WHERE id = ?", one.id),
    found: ["counter-wrong"],
    writes: ["session_checkpoints"],
  },
  {
    what: "a head, a count and a highest number beyond all counting",
    damage: () =>
      run(
        `UPDATE sessions SET head_seq = 9223372036854775000, message_count = 9223372036854775000,
           last_checkpoint_number = 9223372036854775000 WHERE id = ?`,
        session.id,
      ),
    found: ["head-wrong", "counter-wrong"],
    writes: ["sessions"],
  },
  {
    what: "a checkpoint at a message beyond all counting",
    damage: () => run("UPDATE session_checkpoints SET message_index = 9223372036854775000 WHERE id = ?", one.id),
    found: ["counter-wrong"],
    writes: ["session_checkpoints"],
  },
  {
    what: "a branch that does not say any more where it came from",
    damage: () => run("UPDATE sessions SET forked_from_checkpoint_id = NULL"),
    found: ["row-changed"],
    writes: ["sessions"],
  },
  {
    what: "a session that says it came from a checkpoint it never came from",
    damage: () => run("UPDATE sessions SET forked_from_checkpoint_id = ? WHERE id = ?", two.id, session.id),
    found: ["row-changed"],
    writes: ["sessions"],
  },
  {
    what: "a session that nobody deleted and that is hidden",
    damage: () => run("UPDATE sessions SET deleted_at = ? WHERE id <> ?", 5, session.id),
    found: ["row-changed"],
    writes: ["sessions"],
  },
  {
    what: "a restore that names other checkpoints and did something else",
    damage: () =>
      run("UPDATE restores SET checkpoint_id = ?, safety_checkpoint_id = ?, mode = 'conversation'", two.id, one.id),
    found: ["row-changed"],
    writes: ["restores"],
  },
  {
    what: "a restore that says it was of one file only",
    damage: () => run("UPDATE restores SET paths = ?", '["a.txt"]'),
    found: ["row-changed"],
    writes: ["restores"],
  },
  {
    what: "a restore whose paths are none",
    damage: () => run("UPDATE restores SET paths = ?", '{"a.txt": 1}'),
    found: ["row-changed"],
    writes: ["restores"],
  },
  {
    what: "a restore in another workspace",
    damage: () => run("UPDATE restores SET workspace_path = '/other'"),
    found: ["row-changed"],
    writes: ["restores"],
  },
  {
    what: "a restore of another session",
    damage: () => run("UPDATE restores SET session_id = ?", session.id),
    found: ["row-changed"],
    writes: ["restores"],
  },
  {
    what: "a restore that says it has not ended",
    damage: () => run("UPDATE restores SET status = 'started'"),
    found: ["row-changed", "restore-unfinished"],
    writes: ["restores"],
  },
  {
    what: "a restore that says it was undone, though nobody did",
    damage: () => run("UPDATE restores SET status = 'undone'"),
    found: ["row-changed"],
    writes: ["restores"],
  },
  {
    what: "sizes of values and artifacts that their content does not have",
    async damage() {
      await run("UPDATE blobs SET size_bytes = 9223372036854775000")
      await run("UPDATE artifacts SET size_bytes = 1")
    },
    found: ["counter-wrong"],
    writes: ["blobs", "artifacts"],
  },
  ...["refs/heads/latest", "refs/keepup/index-tree"].flatMap((name) =>
    (["empty", "cut", "another"] as const).map((how) => ({
      what: `${name}, ${how}`,
      async damage() {
        const path = join(await snapshotFolder(), name)
        const text = readFileSync(path, "utf8")
        rmSync(path) // another ref may be the same file under a second name
        const flipped = `${text.startsWith("0") ? "1" : "0"}${text.slice(1)}`
        writeFileSync(path, { empty: "", cut: text.slice(0, 20), another: flipped }[how])
      },
      found: ["snapshot-damaged"] as const,
    })),
  ),
  {
    what: "a deleted ref whose snapshot is still there",
    async damage() {
      rmSync(join(await snapshotFolder(), "refs/keepup/checkpoints", one.id))
    },
    found: ["ref-missing"],
  },
  {
    what: "a ref that names another snapshot",
    async damage() {
      writeFileSync(join(await snapshotFolder(), "refs/keepup/checkpoints", one.id), `${two.snapshot?.commit}\n`)
    },
    found: ["ref-missing"],
  },
  {
    what: "a snapshot of a checkpoint that was never made",
    async damage() {
      const id = "018bcfe5-6800-7000-8000-000000000001"
      await (await travel.snapshots(travel.workspace)).capture({ message: "orphan", checkpointId: id })
    },
    found: ["ref-unowned"],
  },
  {
    what: "lost content that the workspace still has",
    async damage() {
      await loseObject("a1\n")
    },
    found: ["snapshot-damaged"],
  },
  {
    what: "a lease of a process that is gone",
    async damage() {
      await travel.store.leases.take(`workspace:${travel.workspace}`, { purpose: "restore" })
      await run("UPDATE leases SET pid = 4194305 WHERE holder_id IS NOT NULL")
    },
    found: ["lease-stale"],
    writes: ["leases"],
  },
  {
    what: "a session whose process is gone",
    damage: () => travel.store.log.append(session.id, [event("run:started", { runId: "r" })]),
    found: ["session-interrupted"],
    writes: ["sessions", "entries", "leases"],
  },
  {
    what: "a restore that was broken off",
    damage: () => breakOff("started"),
    found: ["restore-unfinished"],
    writes: ["sessions", "entries", "leases", "restores", "session_checkpoints", "blobs"],
  },
  {
    what: "the note of a restore that has ended",
    async damage() {
      const [row] = await travel.store.context.driver.all("SELECT id FROM restores")
      const note = { id: row?.["id"], target: one.snapshot?.commit, safety: two.snapshot?.commit, startedAt: 1 }
      writeFileSync(join(await snapshotFolder(), `restores/${row?.["id"]}.json`), JSON.stringify(note))
      await travel.store.leases.take(`workspace:${travel.workspace}`, { purpose: "restore" })
      await run("UPDATE leases SET pid = 4194305 WHERE holder_id IS NOT NULL")
    },
    found: ["lease-stale", "note-left"],
    writes: ["leases"],
  },
  {
    what: "an abandoned lock, an abandoned index and a folder of a restore nobody knows of",
    async damage() {
      const folder = await snapshotFolder()
      for (const path of [join(folder, "index.lock"), join(folder, "objects/pack/tmp_pack_x")]) {
        writeFileSync(path, "")
        age(path)
      }
      const staged = join(travel.workspace, ".keepup-restore-018bcfe5-6800-7000-8000-000000000001")
      mkdirSync(staged)
      writeFileSync(join(staged, "0"), "staged")
      age(staged)
    },
    found: ["rubbish-left"],
  },
  {
    what: "files others may read",
    async damage() {
      chmodSync(travel.stateDirectory, 0o755)
      chmodSync(join(travel.stateDirectory, "keepup.db"), 0o644)
    },
    found: ["mode-open"],
  },
  {
    what: "an index that does not fit its table",
    async damage() {
      // the key of the newest message in the index of messages
      await damagePage("entries_messages", (page) => {
        const at = page.indexOf(session.id)
        page.write("z", at + session.id.length - 1)
      })
    },
    found: ["index-damaged"],
    writes: [],
  },
]

/** Tables that can be made again from others. */
const short = ["sessions", "session_checkpoints", "restores", "blobs", "artifacts"]

describe("damage that can be mended", () => {
  it.each(byName(mended))(
    "%s is found, mended, and nothing else is touched",
    async (_, { damage, found, writes = [] }) => {
      const sound = await dump()
      await damage()
      const damaged = await dump()
      expect((await codes()).toSorted()).toEqual([...found].toSorted())
      expect(await dump()).toEqual(damaged)
      const files = takePicture(travel.workspace, { without: [".git"] })
      const { backup, done, left } = await repairStore(travel, options())
      expect(left).toEqual([])
      expect(done.length).toBeGreaterThan(0)
      const after = await dump()
      expect(differing(damaged, after).filter((name) => !writes.includes(name))).toEqual([])
      expect(backup === undefined).toBe(differing(damaged, after).length === 0 && !found.includes("index-damaged"))
      if (backup !== undefined) expect(statSync(backup).mode & 0o777).toBe(0o600)
      if (writes.every((name) => short.includes(name))) expect(after).toEqual(sound)
      for (const [path, what] of Object.entries(files)) {
        if (!path.startsWith(".keepup-restore")) expect(takePicture(travel.workspace)[path]).toBe(what)
      }
      expect(await repairStore(travel, options())).toEqual({ backup: undefined, done: [], left: [] })
      for (const checkpoint of await travel.store.checkpoints.list(session.id)) {
        const files = await (await travel.snapshots(travel.workspace)).listFiles(checkpoint.snapshot?.commit as string)
        expect(files.length).toBeGreaterThan(0)
      }
    },
  )
})

const lost: readonly Damage[] = [
  {
    what: "an entry that is gone from the middle",
    damage: () => run("DELETE FROM entries WHERE session_id = ? AND seq = 2", session.id),
    found: ["sequence-gap", "history-broken"],
  },
  {
    what: "entries that are gone from the end",
    damage: () => run("UPDATE sessions SET head_seq = head_seq + 3 WHERE id = ?", session.id),
    found: ["sequence-gap"],
  },
  {
    what: "an entry that is no JSON",
    damage: () => run("UPDATE entries SET data = '{\"message\": ' WHERE session_id = ? AND seq = 2", session.id),
    found: ["entry-unreadable", "history-broken"],
  },
  {
    what: "an entry nobody can make sense of",
    damage: () => run("UPDATE entries SET data = '{\"message\": {}}' WHERE session_id = ? AND seq = 2", session.id),
    found: ["entry-changed", "history-broken"],
  },
  {
    what: "a letter of a message that was changed",
    damage: () => run("UPDATE entries SET data = replace(data, 'first', 'fisrt') WHERE session_id = ?", session.id),
    found: ["entry-changed"],
  },
  {
    what: "the time of an entry that was changed",
    damage: () => run("UPDATE entries SET created_at = created_at + 1 WHERE session_id = ? AND seq = 2", session.id),
    found: ["entry-changed"],
  },
  {
    what: "the kind of an entry that was changed",
    damage: () => run("UPDATE entries SET type = 'turn:started' WHERE session_id = ? AND seq = 3", session.id),
    found: ["message-index-wrong"],
  },
  {
    what: "entries that go on from each other",
    damage: () =>
      run(
        "UPDATE entries SET parent_session_id = (SELECT id FROM sessions WHERE id <> ?), parent_seq = 1 WHERE session_id = ? AND seq = 1",
        session.id,
        session.id,
      ),
    found: ["history-broken", "message-index-wrong"],
  },
  {
    what: "a number of messages that is none",
    damage: () => run("UPDATE entries SET message_index = 'many' WHERE session_id = ? AND seq = 2", session.id),
    found: ["message-index-wrong"],
  },
  {
    what: "a checkpoint whose snapshot was changed to another one",
    damage: () =>
      run(
        "UPDATE session_checkpoints SET snapshot = (SELECT snapshot FROM session_checkpoints WHERE id = ?) WHERE id = ?",
        two.id,
        one.id,
      ),
    found: ["row-changed"],
  },
  {
    what: "a checkpoint with other facts of git",
    damage: () => run("UPDATE session_checkpoints SET git_branch = 'elsewhere' WHERE id = ?", one.id),
    found: ["row-changed"],
  },
  {
    what: "a wrong message index in the log",
    damage: () => run("UPDATE entries SET message_index = 40 WHERE session_id = ? AND seq = 2", session.id),
    found: ["message-index-wrong"],
  },
  {
    what: "a branch whose parent entry is gone",
    damage: () => run("UPDATE entries SET parent_seq = 9999 WHERE parent_seq IS NOT NULL"),
    found: ["lost-parent"],
  },
  {
    what: "a checkpoint whose entry tells of something else",
    damage: () => run("UPDATE session_checkpoints SET entry_seq = 1 WHERE id = ?", one.id),
    found: ["checkpoint-without-entry"],
  },
  {
    what: "a checkpoint row that is gone",
    damage: () => run("DELETE FROM session_checkpoints WHERE id = ?", two.id),
    found: ["checkpoint-lost"],
  },
  {
    what: "a checkpoint row that can't be read",
    damage: () => run("UPDATE session_checkpoints SET metadata = 'no json' WHERE id = ?", two.id),
    found: ["row-unreadable"],
  },
  {
    what: "a session row that can't be read",
    damage: () => run("UPDATE sessions SET metadata = '{' WHERE id = ?", session.id),
    found: ["row-unreadable"],
  },
  {
    what: "a session that was changed at a time beyond all counting",
    damage: () => run("UPDATE sessions SET updated_at = 9223372036854775000 WHERE id = ?", session.id),
    found: ["row-unreadable"],
  },
  {
    what: "a checkpoint that was made at a time beyond all counting",
    damage: () => run("UPDATE session_checkpoints SET created_at = 9223372036854775000 WHERE id = ?", one.id),
    found: ["row-unreadable"],
  },
  {
    what: "an entry that was made at a time beyond all counting",
    damage: () =>
      run("UPDATE entries SET created_at = 9223372036854775000 WHERE session_id = ? AND seq = 2", session.id),
    found: ["entry-unreadable", "history-broken"],
  },
  {
    what: "a session that was deleted long before it was last changed",
    damage: () => run("UPDATE sessions SET deleted_at = 5 WHERE id = ?", session.id),
    found: ["row-changed"],
  },
  {
    what: "a restore whose record is gone",
    damage: () => run("DELETE FROM restores"),
    found: ["row-changed"],
  },
  {
    what: "a number of messages at the end of the log that is wrong",
    damage: () =>
      run(
        "UPDATE entries SET message_index = 40 WHERE session_id = ? AND seq = (SELECT head_seq FROM sessions WHERE id = ?)",
        session.id,
        session.id,
      ),
    found: ["message-index-wrong", "counter-wrong"],
  },
  {
    what: "a restore that the log knows nothing of",
    damage: () => run("UPDATE restores SET id = 'nobody'"),
    found: ["row-changed"],
  },
  {
    what: "a restore that says it undid one that never was",
    damage: () => run("UPDATE restores SET undoes = 'nobody'"),
    found: ["row-changed"],
  },
  {
    what: "a state value that is gone",
    damage: () =>
      run(
        "DELETE FROM blobs WHERE hash NOT IN (SELECT blob_hash FROM entries WHERE blob_hash IS NOT NULL) AND hash NOT IN (SELECT hash FROM artifacts)",
      ),
    found: ["value-missing"],
  },
  {
    what: "a state value that was changed",
    damage: () => run("UPDATE blobs SET data = CAST('[9]' AS BLOB) WHERE size_bytes = 3"),
    found: ["value-damaged"],
  },
  {
    what: "the content of a long entry that was cut",
    damage: () => run("UPDATE blobs SET data = substr(data, 1, 100) WHERE codec <> 'raw'"),
    found: ["entry-unreadable", "value-damaged", "history-broken"],
  },
  {
    what: "an artifact whose content is gone",
    damage: () => run("DELETE FROM blobs WHERE hash IN (SELECT hash FROM artifacts)"),
    found: ["artifact-damaged"],
  },
  {
    what: "a row that names a session that is not there",
    async damage() {
      await run("PRAGMA foreign_keys = OFF")
      await run("INSERT INTO session_logs (session_id, level, message, created_at) VALUES ('nobody', 'info', '', 0)")
      await run("PRAGMA foreign_keys = ON")
    },
    found: ["foreign-key-broken"],
  },
  {
    what: "lost content that is nowhere else",
    async damage() {
      await loseObject("b1\n")
      travel.write({ "b.txt": "something else\n" })
    },
    found: ["snapshot-damaged"],
  },
  {
    what: "snapshots that are gone altogether",
    async damage() {
      const folder = await snapshotFolder()
      await (await travel.snapshots(travel.workspace)).close()
      for (const name of readdirSync(join(folder, "objects/pack"))) rmSync(join(folder, "objects/pack", name))
      rmSync(join(folder, "refs/keepup"), { recursive: true })
      rmSync(join(folder, "packed-refs"), { force: true })
    },
    found: ["snapshot-missing", "snapshot-damaged"],
  },
  {
    what: "a workspace that is gone",
    async damage() {
      await run("UPDATE sessions SET workspace_path = '/gone/for/good'")
      await run("UPDATE restores SET workspace_path = '/gone/for/good'")
      await run("UPDATE entries SET checksum = NULL, data = replace(data, ?, '/gone/for/good')", travel.workspace)
    },
    found: ["workspace-missing"],
  },
]

describe("damage that can't be mended", () => {
  it.each(byName(lost))("%s is found, and repair changes nothing", async (_, { damage, found }) => {
    await damage()
    const damaged = [await dump(), takePicture(travel.workspace, { withTimes: true })]
    expect((await codes()).toSorted()).toEqual([...found].toSorted())
    const { left, backup } = await repairStore(travel, options())
    expect([...new Set(left.map(({ code }) => code))].toSorted()).toEqual([...found].toSorted())
    expect(left.filter(({ code }) => code !== "snapshot-damaged").every(({ canRepair }) => !canRepair)).toBe(true)
    expect([await dump(), takePicture(travel.workspace, { withTimes: true })]).toEqual(damaged)
    expect(backup).toBeUndefined()
  })
})

describe("what a repair could only guess", () => {
  it("is never the workspace of a session: the next restore would write into another folder", async () => {
    const { driver } = travel.store.context
    const task = async () => await driver.all("SELECT task_description FROM sessions")
    const before = await task()
    await run("UPDATE sessions SET workspace_path = '/other', task_description = 'x'")
    const { left } = await repairStore(travel, options())
    const wrong = left.filter(({ code }) => code === "row-changed")
    expect(wrong.map(({ where, canRepair }) => [where.split(" ")[0], canRepair])).toEqual(
      expect.arrayContaining([
        ["session", false],
        ["restore", false],
      ]),
    )
    expect(await task()).toEqual(before)
    expect(await driver.all("SELECT DISTINCT workspace_path FROM sessions")).toEqual([{ workspace_path: "/other" }])
    const restores = await driver.all("SELECT workspace_path FROM restores")
    expect(restores).toEqual([{ workspace_path: travel.workspace }])
  })

  it.each([
    ["the entry it begins with", "UPDATE entries SET parent_session_id = NULL, parent_seq = NULL WHERE seq = 1"],
    ["the entry it begins with, taken away", "DELETE FROM entries WHERE seq = 1 AND session_id <> ?"],
    ["its row", "UPDATE sessions SET parent_session_id = NULL WHERE id <> ?"],
  ])("is not that a deleted session was not deleted, when its branch is damaged: %s", async (_, sql) => {
    await travel.store.sessions.delete(session.id)
    await run(sql, ...(sql.includes("?") ? [session.id] : []))
    expect((await codes()).length).toBeGreaterThan(0)
    await repairStore(travel, options())
    const row = await travel.store.context.driver.get("SELECT deleted_at FROM sessions WHERE id = ?", [session.id])
    expect(row?.["deleted_at"]).not.toBeNull()
  })

  it("is not what a wrong entry says: no row is made again from it", async () => {
    await run("UPDATE sessions SET message_count = 3 WHERE id = ?", session.id)
    await run("UPDATE entries SET message_index = 77, checksum = NULL WHERE session_id = ? AND seq = 9", session.id)
    await run(
      "UPDATE entries SET message_index = 77 WHERE session_id = ? AND seq = (SELECT MAX(seq) FROM entries WHERE session_id = ?)",
      ...[session.id, session.id],
    )
    const { left } = await repairStore(travel, options())
    expect(left.map(({ code }) => code)).toContain("message-index-wrong")
    const row = await travel.store.context.driver.get("SELECT message_count FROM sessions WHERE id = ?", [session.id])
    expect(row?.["message_count"]).toBe(3)
  })
})

describe("a database file that was damaged from outside", () => {
  it("keeps its indexes where only they still lead to a row whose key was changed", async () => {
    const { length } = session.id
    await damagePage("entries", (page) => {
      const at = page.lastIndexOf(session.id) // the key of its first entry
      page.write(page[at + length - 1] === 0x30 ? "1" : "0", at + length - 1)
    })
    const read = async () =>
      await Promise.all(
        [1, 2, 3, 4, 5, 6, 7].map((seq) => travel.store.log.read(session.id, { after: seq - 1, limit: 1 })),
      )
    const before = await read()
    expect(await codes()).toContain("index-damaged")
    const { done, left } = await repairStore(travel, options())
    expect(done).toContainEqual(expect.stringMatching(/^The indexes were left as they are/))
    expect(left.map(({ code }) => code)).toContain("index-damaged")
    expect(await read()).toEqual(before)
    expect(readdirSync(travel.stateDirectory).filter((name) => name.includes(".tmp"))).toEqual([])
  })

  it("is found and not written to when bytes in one of its pages were flipped", async () => {
    await run("UPDATE sessions SET head_seq = 2 WHERE id = ?", session.id) // could be mended, but not in a damaged file
    await damagePage("artifacts", (page) => page.fill(0xa5, 0, 12))
    expect(await codes()).toEqual(expect.arrayContaining(["database-damaged", "head-wrong"]))
    const file = join(travel.stateDirectory, "keepup.db")
    const before = readFileSync(file)
    const { left, backup, done } = await repairStore(travel, options())
    expect(left.map(({ code }) => code)).toContain("database-damaged")
    expect([backup, done]).toEqual([undefined, []])
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  it("is named when it can't even be opened", async () => {
    const path = join(travel.stateDirectory, "keepup.db")
    await travel.store.close()
    const { size } = statSync(path)
    const handle = openSync(path, "r+")
    for (let at = 0; at < size; at += 4096) writeSync(handle, Buffer.alloc(64, 0xa5), 0, 64, at + 100)
    closeSync(handle)
    const error = await openStore(`sqlite:${path}`).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(describeOpenFailure(error, path)).toMatchObject({ code: "database-damaged", severity: "error", where: path })
    expect(() => describeOpenFailure(new KeepupError("STORE_TOO_NEW", "newer"), path)).toThrow("newer")
  })
})

/** Changes the first page of a table or index in the file, while it is closed. */
async function damagePage(name: string, change: (page: Buffer) => void): Promise<void> {
  const { driver } = travel.store.context
  const root = Number((await driver.get("SELECT rootpage FROM sqlite_master WHERE name = ?", [name]))?.["rootpage"])
  const size = Number((await driver.get("PRAGMA page_size"))?.["page_size"])
  await reopen((path) => {
    const page = readFileSync(path).subarray((root - 1) * size, root * size)
    change(page)
    const handle = openSync(path, "r+")
    writeSync(handle, page, 0, size, (root - 1) * size)
    closeSync(handle)
  })
}

/** Takes the object that holds this content out of the snapshots. */
async function loseObject(content: string): Promise<void> {
  const snapshots = await travel.snapshots(travel.workspace)
  const folder = snapshots.directory
  const git = (args: string[], input?: Buffer) =>
    execFileSync("git", ["--git-dir", folder, ...args], { ...(input && { input }), stdio: ["pipe", "pipe", "pipe"] })
  const id = git(["hash-object", "--stdin"], Buffer.from(content)).toString().trim()
  const packs = readdirSync(join(folder, "objects/pack")).filter((name) => name.endsWith(".pack"))
  for (const name of packs) {
    const pack = readFileSync(join(folder, "objects/pack", name))
    for (const extension of ["pack", "idx", "rev"]) {
      rmSync(join(folder, "objects/pack", name.replace(/pack$/, extension)), { force: true })
    }
    git(["unpack-objects", "-q"], pack)
  }
  rmSync(join(folder, "objects", id.slice(0, 2), id.slice(2)))
}

/** A restore on record whose process died before any file was touched. */
async function breakOff(status: string): Promise<void> {
  const safety = (await travel.manager.take({ sessionId: session.id, trigger: "before-restore" })) as Checkpoint
  const host = travel.store.context.host.split("/")[0] as string
  const id = "018bcfe5-6800-7000-8000-00000000000a"
  await run(
    `INSERT INTO restores (id, session_id, workspace_path, checkpoint_id, safety_checkpoint_id, mode, status, host, created_at)
     VALUES (?, ?, ?, ?, ?, 'files', ?, ?, 0)`,
    ...[id, session.id, travel.workspace, one.id, safety.id, status, host],
  )
  const data = { restoreId: id, checkpointId: one.id, safetyCheckpointId: safety.id, mode: "files" }
  await travel.store.log.append(session.id, [{ type: "session:restore-started", data }])
}
