import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"
import type { KeepupError } from "@ku0/agent-runtime-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { collectGarbage } from "../store/collect-garbage.js"
import { expectCode } from "../testing/contract/samples.js"
import { forgeExport, sealExport } from "../testing/forge-export.js"
import { createTemporaryFolder, type TemporaryFolder } from "../testing/temporary-folder.js"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import { makeSession } from "../testing/transfer-sample.js"
import { exportSession } from "./export-session.js"
import { importSession } from "./import-session.js"

let from: TimeTravelFixture
let to: TimeTravelFixture
let folder: TemporaryFolder

const exported = () => folder.file("session.keepup")
const importHere = (path = exported()) =>
  importSession(to, { path, workspacePath: to.workspace, workFolder: join(to.stateDirectory, "work") })

/** Everything a target keeps: rows of every table, files of its state, refs. */
async function footprint(target = to): Promise<unknown> {
  const tables = ["sessions", "entries", "session_checkpoints", "session_logs", "artifacts", "blobs"]
  const rows: Record<string, number> = {}
  for (const table of tables) {
    rows[table] = Number((await target.store.context.driver.get(`SELECT COUNT(*) AS n FROM ${table}`))?.["n"])
  }
  const snapshots = await target.snapshots(target.workspace)
  const packs = readdirSync(join(snapshots.directory, "objects/pack"))
  const work = join(target.stateDirectory, "work")
  return { rows, packs, refs: [...snapshots.listCheckpoints()], work: existsSync(work) ? readdirSync(work) : [] }
}

function forge(change: (lines: string[]) => string[], options: { seal?: boolean } = {}): string {
  return forgeExport(exported(), folder.file("forged.keepup"), change, options)
}

/** Changes the first record that fits. */
const edit = (fits: (record: Record<string, never>) => boolean, change: Record<string, unknown>) => {
  return (lines: string[]) => {
    const at = lines.findIndex((line) => fits(JSON.parse(line)))
    expect(at, "the record to change").toBeGreaterThanOrEqual(0)
    const record = JSON.parse(lines[at] as string)
    const text = JSON.stringify({ ...record, ...change })
    return lines.with(at, text.replaceAll(same, record.sessionId ?? record.id))
  }
}
/** Stands for the session of the record. */
const same = "<the same session>"
/** A bit at `at` is flipped. Some flips change nothing: a reference to one of two equal texts becomes one to the other. */
const damagedAt = (bytes: Buffer, at: number): Buffer => {
  for (let bit = 1; bit < 256; bit <<= 1) {
    const flipped = Buffer.from(bytes)
    flipped.writeUInt8((flipped[at] as number) ^ bit, at)
    if (!unpacksTo(flipped, gunzipSync(bytes))) {
      return flipped
    }
  }
  throw new Error(`no bit of byte ${at} matters`)
}
const unpacksTo = (packed: Buffer, content: Buffer): boolean => {
  try {
    return gunzipSync(packed).equals(content)
  } catch {
    return false
  }
}
const isKind = (kind: string) => (record: Record<string, unknown>) => record["record"] === kind

describe("a file that is refused", () => {
  let before: unknown
  beforeAll(async () => {
    folder = createTemporaryFolder()
    from = await openFixture()
    to = await openFixture()
    const { session } = await makeSession(from)
    await exportSession(from, { sessionId: session.id, path: exported() })
    before = await footprint()
  })
  afterAll(async () => {
    await from.close()
    await to.close()
    folder.remove()
  })
  const refuse = async (
    path: string,
    code: "CORRUPT" | "INVALID_INPUT" | "STORE_TOO_NEW" | "NOT_FOUND",
    words?: RegExp,
  ) => {
    await expectCode(importHere(path), code, words)
    expect(await footprint(), "what is left behind").toEqual({ ...(before as object), work: [] })
  }

  it("is cut off anywhere, or damaged anywhere", async () => {
    const bytes = readFileSync(exported())
    const path = folder.file("cut")
    for (const part of [...Array.from({ length: 50 }, (_, i) => (i + 0.5) / 50), 0.999]) {
      writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length * part)))
      await refuse(path, "CORRUPT")
      const at = Math.floor(bytes.length * part)
      writeFileSync(path, damagedAt(bytes, at))
      // in the first line it may make the file another program's, or a newer keepup's
      const error = await importHere(path).then(
        () => undefined,
        (reason: KeepupError) => reason,
      )
      expect(["CORRUPT", "INVALID_INPUT", "STORE_TOO_NEW"], `flipped at ${at}`).toContain(error?.code)
      expect(await footprint(), "what is left behind").toEqual({ ...(before as object), work: [] })
    }
    await refuse(
      forge((lines) => lines.slice(0, -1), { seal: false }),
      "CORRUPT",
      /cut off/,
    )
    await refuse(
      forge((lines) => lines.slice(0, 1), { seal: false }),
      "CORRUPT",
      /cut off/,
    )
    await refuse(
      forge((lines) => [...lines, lines.at(-1) as string], { seal: false }),
      "CORRUPT",
      /follows the end/,
    )
  })

  it("is of another program, a newer keepup, or not there", async () => {
    const path = folder.file("other")
    for (const content of ["", "hello\n", gzipSync("hello\n"), gzipSync("{}\n"), gzipSync("[]\n"), gzipSync("")]) {
      writeFileSync(path, content)
      await refuse(path, "INVALID_INPUT")
    }
    await refuse(folder.file("missing"), "NOT_FOUND")
    await refuse(folder.path, "INVALID_INPUT")
    const newer = forge(([header, ...rest]) => [
      JSON.stringify({ ...JSON.parse(header as string), version: 2 }),
      ...rest,
    ])
    await refuse(newer, "STORE_TOO_NEW")
  })

  it.each<[string, (lines: string[]) => string[], RegExp]>([
    ["an entry that continues from itself", edit(isEntry(3), { parent: { sessionId: same, seq: 3 } }), /not there yet/],
    [
      "an entry that continues from a later one",
      edit(isEntry(3), { parent: { sessionId: same, seq: 5 } }),
      /not there yet/,
    ],
    ["an entry of a session that is not there", edit(isEntry(3), { parent: strange }), /is missing/],
    ["a gap", (lines) => lines.filter((line) => !line.includes('"seq":3,')), /not where it should be/],
    [
      "an entry twice",
      (lines) => lines.flatMap((line) => (line.includes('"seq":3,') ? [line, line] : line)),
      /not where/,
    ],
    ["another count of messages", edit(isEntry(3), { messageIndex: 9 }), /counts other messages/],
    ["a phase that can't be", edit(isEntry(3), { type: "run:ended", data: run, messageIndex: 1 }), /can't happen/],
    ["a message of no kind", edit(isEntry(2), { data: { message: { role: "god" } } }), /message/],
    ["a number of a checkpoint out of range", edit(isKind("checkpoint"), { number: 1e300 }), /number/],
    [
      "a last number of a checkpoint that no other can follow",
      edit(isKind("session"), { lastCheckpointNumber: Number.MAX_SAFE_INTEGER }),
      /lastCheckpointNumber/,
    ],
    [
      "a last number of a checkpoint that only few others can follow",
      edit(isKind("session"), { lastCheckpointNumber: 2 ** 31 - 1 }),
      /more checkpoints than it can/,
    ],
    ["checkpoints beyond the last one", edit(isKind("session"), { lastCheckpointNumber: 1 }), /said to be #1/],
    [
      "numbers the session has given already",
      (lines) => edit(isKind("session"), { lastCheckpointNumber: 1 })(lines.filter((line) => !isCheckpoint(line))),
      /said to be #1/,
    ],
    ["a checkpoint larger than any disk", edit(isKind("checkpoint"), { sizeBytes: 2 ** 50 }), /sizeBytes/],
    ["a place among more messages than there can be", edit(isEntry(3), { messageIndex: 2 ** 40 }), /messageIndex/],
    ["a message that is none", edit(isEntry(2), { data: { message: null } }), /message/],
    ["a checkpoint elsewhere", edit(isKind("checkpoint"), { entrySeq: 1 }), /does not fit/],
    ["a time beyond all time", edit(isKind("checkpoint"), { createdAt: 9e15 }), /createdAt/],
    ["a checkpoint named latest", edit(isKind("checkpoint"), { name: "latest" }), /name/],
    ["a session with more entries than there are", edit(isKind("session"), { headSeq: 2 ** 50 }), /all of its/],
    ["an id that is a path", edit(isKind("session"), { id: "../../../etc" }), /id/],
    ["a commit that is not there", edit(isKind("checkpoint"), { snapshot: snapshot }), /is missing/],
    ["a value with other content", edit(isKind("chunk"), { text: "{}" }), /size|hash|complete/],
    ["a value of a gigantic size", edit(isKind("content"), { sizeBytes: 2 ** 40 }), /sizeBytes/],
    ["an unknown record", (lines) => lines.toSpliced(2, 0, '{"record":"constructor"}'), /known record/],
    ["a line that is not JSON", (lines) => lines.toSpliced(2, 0, "{"), /not a record/],
    ["a value nested without end", (lines) => lines.toSpliced(2, 0, "[".repeat(100_000)), /too deep/],
    ["a status it can't have", edit(isKind("session"), { status: "completed" }), /is not completed/],
    ["state that is not there", edit((r) => r["type"] === "state:changed", { data: lost }), /missing/],
    ["an artifact without content", edit(isKind("artifact"), { hash: "0".repeat(64) }), /is missing/],
  ])("has %s", async (_, change, words) => {
    await refuse(
      forge(
        (lines) => {
          const changed = change(lines)
          try {
            sealExport(changed)
          } catch {
            // a line that is no JSON can't be counted
          }
          return changed
        },
        { seal: false },
      ),
      "CORRUPT",
      words,
    )
  })

  it("counts other records than it holds, or says another hash", async () => {
    const wrong = forge(
      (lines) => lines.with(-1, (lines.at(-1) as string).replace(/"entry":\d+/, '"entry":99999999')),
      {
        seal: false,
      },
    )
    await refuse(wrong, "CORRUPT", /what it counts/)
    await refuse(
      forge((lines) => lines.with(1, `${lines[1]} `), { seal: false }),
      "CORRUPT",
      /written with/,
    )
  })

  it("unfolds to more than it may, in many lines or in one", async () => {
    const path = folder.file("bomb")
    const [header] = gunzipSync(readFileSync(exported())).toString("utf8").split("\n")
    writeFileSync(path, gzipSync(Buffer.concat([Buffer.from(`${header}\n`), Buffer.alloc(40 << 20, 32)])))
    await refuse(path, "CORRUPT", /a line of more than/)
    const options = { workspacePath: to.workspace, workFolder: join(to.stateDirectory, "work"), maxBytes: 5_000 }
    await expectCode(importSession(to, { path: exported(), ...options }), "CORRUPT", /unfolds to more/)
    expect(await footprint()).toEqual({ ...(before as object), work: [] })
  })

  it.each(["import:write", "import:made", "import:refs"])(
    "leaves no row and no ref when it fails at %s",
    async (step) => {
      let failAt = ""
      const fixture = await openFixture({
        onStep: (name) => {
          if (name === failAt) throw new Error(`failed at ${name}`)
        },
      })
      const options = { path: exported(), workspacePath: fixture.workspace, workFolder: folder.file("work") }
      failAt = step
      await expect(importSession(fixture, options)).rejects.toThrow(step)
      expect(await fixture.store.sessions.list()).toEqual([])
      expect([...(await fixture.snapshots(fixture.workspace)).listCheckpoints()]).toEqual([])
      expect(readdirSync(folder.file("work"))).toEqual([])
      failAt = ""
      expect((await importSession(fixture, options)).session.checkpointCount).toBe(2)
      await fixture.close()
    },
  )

  it("is unpacked in a folder of its own, and what a killed import left there a day ago goes", async () => {
    const work = folder.file("left")
    for (const name of ["import-old", "import-young", "other"]) mkdirSync(join(work, name), { recursive: true })
    const before = new Date(Date.now() - 25 * 3_600_000)
    for (const name of ["import-old", "other"]) utimesSync(join(work, name), before, before)
    writeFileSync(folder.file("bad"), "no export at all")
    const options = { path: folder.file("bad"), workspacePath: to.workspace, workFolder: work }
    await expectCode(importSession(to, options), "INVALID_INPUT")
    expect(readdirSync(work).sort()).toEqual(["import-young", "other"])
  })

  it("leaves nothing behind when the database fails at the end", async () => {
    const fixture = await openFixture()
    const { context } = fixture.store
    await context.driver.run("CREATE TRIGGER broken BEFORE INSERT ON session_logs BEGIN SELECT RAISE(ABORT, 'no'); END")
    const workFolder = join(fixture.stateDirectory, "work")
    const importing = importSession(fixture, { path: exported(), workspacePath: fixture.workspace, workFolder })
    await expect(importing).rejects.toThrow(/no/)
    await collectGarbage(context, { olderThanMs: -1 }) // values others could have come to need are left to it
    const after = (await footprint(fixture)) as { rows: object; refs: unknown[]; work: unknown[] }
    expect(after).toMatchObject({ rows: (before as typeof after).rows, refs: [], work: [] })
    await fixture.close()
  })
})

const strange = { sessionId: "01890000-0000-7000-8000-000000000000", seq: 1 }
const run = { runId: "r", outcome: "done" }
const snapshot = { commit: "1".repeat(40), filesChanged: 0, insertions: 0, deletions: 0, skipped: [] }
const lost = { full: true, set: { a: "f".repeat(64) }, removed: [] }

const isCheckpoint = (line: string) => line.startsWith('{"record":"checkpoint"')

function isEntry(seq: number) {
  return (record: Record<string, unknown>) => record["record"] === "entry" && record["seq"] === seq
}
