/** Files that are well-formed and mean no good, and odd ones that mean no harm: what comes of them where they come in. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import type { Message, Session } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { checkStore } from "../recovery/check-store.js"
import { recoverAll } from "../recovery/recover-session.js"
import { deepestJson } from "../store/json-depth.js"
import { expectCode, said, user } from "../testing/contract/samples.js"
import { forgeExport } from "../testing/forge-export.js"
import { createTemporaryFolder, type TemporaryFolder } from "../testing/temporary-folder.js"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import { artifact, makeSession } from "../testing/transfer-sample.js"
import { takePicture } from "../testing/workspace-picture.js"
import { restoreCheckpoint } from "../time-travel/restore.js"
import { rewindToCheckpoint } from "../time-travel/rewind.js"
import { exportSession } from "./export-session.js"
import { importSession } from "./import-session.js"
import { limits } from "./transfer-format.js"

type Fields = Record<string, unknown>

let from: TimeTravelFixture
let to: TimeTravelFixture
let folder: TemporaryFolder
beforeEach(async () => {
  folder = createTemporaryFolder()
  from = await openFixture()
  to = await openFixture()
})
afterEach(async () => {
  await from.close()
  await to.close()
  folder.remove()
})

const exported = () => folder.file("session.keepup")
const exportHere = ({ id }: Session) => exportSession(from, { sessionId: id, path: exported() })
const importHere = (path = exported()) =>
  importSession(to, { path, workspacePath: to.workspace, workFolder: join(to.stateDirectory, "work") })

/** Changes every session of the export. */
function forgeSessions(change: (session: Fields, all: Fields[]) => Fields): string {
  return forgeExport(exported(), folder.file("forged.keepup"), (lines) => {
    const records = lines.map((line) => JSON.parse(line) as Fields)
    const all = records.filter(({ record }) => record === "session")
    return lines.map((line, at) => {
      const record = records[at] as Fields
      return record["record"] === "session" ? JSON.stringify({ ...record, ...change(record, all) }) : line
    })
  })
}

/** A branch and, hidden, the session it comes from. */
async function exportBranch(): Promise<Session> {
  const { one } = await makeSession(from)
  const { session } = await rewindToCheckpoint(from, { checkpoint: one, mode: "conversation" })
  await exportHere(session)
  return session
}

function marks(host: string): Fields {
  const dead = { host, pid: 4194305, start: "x", since: 1 }
  const process = { rewinding: dead, importing: dead, chatProcess: 4194305, pauseRequestedAt: 5 }
  return { ...process, "keepup:damaged": "no", imported: true, spawnedBy: "someone", spawnCallId: "c" }
}

describe("a session that comes in", () => {
  it("brings nothing along of what keepup noted in it elsewhere, and the next start leaves it alone", async () => {
    await exportBranch()
    const metadata = { ...marks(to.store.context.host), color: "blue" }
    const { session } = await importHere(forgeSessions(() => ({ metadata })))
    expect(session.metadata).toEqual({ color: "blue", imported: true })
    expect(await recoverAll(to)).toMatchObject({ branches: [], imports: [], sessions: [] })
    expect(await to.store.sessions.get(session.id)).toEqual(session)
    const rows = await to.store.context.driver.all("SELECT metadata FROM sessions ORDER BY deleted_at IS NULL")
    expect(rows.map((row) => JSON.parse(row["metadata"] as string))).toEqual([session.metadata, session.metadata])
    expect(await checkStore(to), "what the doctor says").toEqual([])
  })

  it("was exported without what keepup noted in it, and a branch of it has nothing of that either", async () => {
    const { session, one } = await makeSession(from)
    const noted = { ...marks(from.store.context.host), color: "blue" }
    await from.store.sessions.updateMetadata(session.id, noted)
    await exportHere(session)
    const [, line] = gunzipSync(readFileSync(exported())).toString("utf8").split("\n")
    expect(JSON.parse(line as string)).toMatchObject({ record: "session", metadata: { color: "blue" } })
    expect(Object.keys(JSON.parse(line as string).metadata)).toEqual(["color"])
    const { session: branch } = await rewindToCheckpoint(from, { checkpoint: one, mode: "conversation" })
    expect(branch.metadata).toEqual({ color: "blue" })
    expect((await from.store.sessions.get(session.id)).metadata).toEqual(noted)
  })

  it("is what its log says it is, whatever the file says beside that", async () => {
    const { agentType, taskDescription } = await exportBranch()
    const { forkedFromCheckpointId } = (await importHere()).session
    expect(forkedFromCheckpointId).not.toBeNull()
    for (const fork of [null, "01890000-0000-7000-8000-00000000000f"]) {
      const other = { agentType: "other", taskDescription: "other", forkedFromCheckpointId: fork }
      const { session } = await importHere(forgeSessions(() => other))
      expect(session).toMatchObject({ agentType, taskDescription })
      expect(session.forkedFromCheckpointId).not.toBe(fork)
    }
    expect(await checkStore(to), "what the doctor says").toEqual([])
  })

  it("travels on after more checkpoints, however far ahead the file said their numbers are", async () => {
    await exportHere((await makeSession(from)).session)
    const path = forgeSessions(({ headSeq }) => ({ lastCheckpointNumber: Number(headSeq) + limits.numberAhead }))
    const { session } = await importHere(path)
    const numbers: number[] = []
    for (let n = 0; n < 3; n++) {
      const taken = await to.manager.take({ sessionId: session.id, trigger: "manual" })
      numbers.push(taken?.number ?? 0)
    }
    expect(numbers).toEqual([1, 2, 3].map((n) => session.headSeq + limits.numberAhead + n))
    const again = folder.file("again.keepup")
    await exportSession(to, { sessionId: session.id, path: again })
    expect((await importHere(again)).session.checkpointCount).toBe(5)
  })

  it("has facts of git with what no database holds, which the doctor takes for what was written", async () => {
    const { session } = await makeSession(from)
    await exportHere(session)
    const git = { branch: "a\0\ud800", head: "b\0\ud800", operation: "c\0\ud800", uncommitted: 1, untracked: 2 }
    const path = forgeExport(exported(), folder.file("forged.keepup"), (lines) =>
      lines.map((line) =>
        line.startsWith('{"record":"checkpoint"') ? JSON.stringify({ ...JSON.parse(line), git }) : line,
      ),
    )
    const { session: copy } = await importHere(path)
    const kept = { branch: "a\ufffd\ufffd", head: "b\ufffd\ufffd", operation: "c\ufffd\ufffd" }
    expect((await to.store.checkpoints.resolve(copy.id, "latest")).git).toEqual({ ...git, ...kept })
    expect(await checkStore(to), "what the doctor says").toEqual([])
  })

  it("is refused with two keys of artifacts that are one as they are kept", async () => {
    const { session } = await makeSession(from)
    for (const key of ["one", "two"]) {
      await from.store.artifacts.put({ ...artifact(key, session), idempotencyKey: key }, Buffer.from(key))
    }
    await exportHere(session)
    const path = forgeExport(exported(), folder.file("forged.keepup"), (lines) =>
      lines.map((line) =>
        line
          .replace('"idempotencyKey":"one"', '"idempotencyKey":"k\\u0000"')
          .replace('"idempotencyKey":"two"', '"idempotencyKey":"k\\ud800"'),
      ),
    )
    await expectCode(importHere(path), "CORRUPT", /artifact key .* is there twice/)
    expect(await to.store.context.driver.all("SELECT id FROM sessions")).toEqual([])
  })

  it("is refused when it branches from itself, or sessions branch from each other", async () => {
    await exportBranch()
    const ofItself = forgeSessions(({ id }) => ({ parentSessionId: id }))
    await expectCode(importHere(ofItself), "CORRUPT", /branches from another/)
    const inCircle = forgeSessions(({ id }, all) => ({ parentSessionId: all.find((one) => one["id"] !== id)?.["id"] }))
    await expectCode(importHere(inCircle), "CORRUPT", /branches from another/)
    expect(await to.store.context.driver.all("SELECT id FROM sessions")).toEqual([])
  })

  it("is refused with a session that nothing in the file shares, also with two that only share each other", async () => {
    await exportBranch()
    const planted = (n: number) => `01890000-0000-7000-8000-00000000000${n}`
    const plant = (number: number, after = "") =>
      forgeExport(exported(), folder.file("forged.keepup"), (lines) => {
        const records = lines.map((line) => JSON.parse(line) as Fields)
        const session = records.find(({ record, parentSessionId }) => record === "session" && parentSessionId === null)
        const started = records.find(({ record, seq, parent }) => record === "entry" && seq === 1 && parent === null)
        const data = { ...(started?.["data"] as Fields), workspacePath: "/home/victim/project" }
        const made: Fields[] = []
        for (let n = 0; n < number; n++) {
          made.push({ ...session, id: planted(n), headSeq: number })
          made.push({ ...started, sessionId: planted(n), data })
        }
        for (let n = 0; n < number && after !== ""; n++) {
          const parent = { sessionId: planted(1 - n), seq: 1 }
          made.push({ ...started, sessionId: planted(n), seq: 2, type: after, data: {}, parent })
        }
        made.sort((a, b) => Number(a["record"] === "entry") - Number(b["record"] === "entry"))
        return lines.toSpliced(1, 0, ...made.map((one) => JSON.stringify(one)))
      })
    await expectCode(importHere(plant(1)), "CORRUPT", /belongs to nothing/)
    await expectCode(importHere(plant(2, "odd:jump")), "CORRUPT", /belongs to nothing/)
    expect(await to.store.context.driver.all("SELECT id FROM sessions")).toEqual([])
    expect(await checkStore(to), "what the doctor says").toEqual([])
  })

  it("stays where it was imported when what shares it goes, whatever its log says of a workspace", async () => {
    await exportBranch()
    await importHere()
    const { driver } = to.store.context
    await driver.run("UPDATE sessions SET deleted_at = NULL") // as a repair does with what nobody seems to have deleted
    expect(await checkStore(to), "what the doctor says").toEqual([])
  })

  it.each([
    ["message:added", { message: null }],
    ["state:changed", null],
    ["checkpoint:created", null],
    ["session:started", null],
  ])("is refused whole with a newer %s than this keepup knows", async (type, data) => {
    const { session } = await makeSession(from)
    await exportHere(session)
    const path = forgeExport(exported(), folder.file("forged.keepup"), (lines) => {
      const at = lines.findIndex((line) => JSON.parse(line).type === type)
      return lines.with(at, JSON.stringify({ ...JSON.parse(lines[at] as string), version: 99, data }))
    })
    await expectCode(importHere(path), "STORE_TOO_NEW", /version 99; this keepup knows up to 1/)
    for (const table of ["sessions", "entries", "blobs", "artifacts"]) {
      expect(await to.store.context.driver.all(`SELECT * FROM ${table}`), table).toEqual([])
    }
  })

  it("keeps its artifacts apart from those of others that bring the same file in at the same time", async () => {
    const { session } = await makeSession(from)
    const { hash, sizeBytes } = await from.store.artifacts.get("plan")
    const emitted = { artifactId: "plan", type: "ReportCard", title: "the plan", hash, sizeBytes }
    const message: Message = { role: "user", content: "see", artifactIds: ["plan"] }
    await from.store.log.append(session.id, [{ type: "artifact:emitted", data: emitted }, said(message)])
    await exportHere(session)
    const copies = (await Promise.all([importHere(), importHere(), importHere()])).map((one) => one.session)
    const names = new Set<string>()
    for (const { id } of copies) {
      const [last] = await to.store.log.lastMessages(await to.store.log.head(id), 1)
      const name = String(last?.message.role === "user" && last.message.artifactIds?.[0])
      expect((await to.store.artifacts.get(name)).sessionId).toBe(id)
      expect(Buffer.from(await to.store.artifacts.read(name)).toString()).toBe("the plan")
      names.add(name)
    }
    expect(names.size).toBe(3)
    expect(names).toContain("plan")
    expect(await checkStore(to), "what the doctor says").toEqual([])
  })

  it.runIf(process.platform === "linux")("has files and folders that are called nearly like git's own", async () => {
    const at = (name: string) => join(from.workspace, name)
    for (const name of [".GIT/hooks/x", ".Git", "deep/.g\u200cit"]) {
      mkdirSync(join(at(name), ".."), { recursive: true })
      writeFileSync(at(name), name)
    }
    mkdirSync(at("deep/.gIT/empty"), { recursive: true })
    const session = await from.createSession()
    await from.manager.take({ sessionId: session.id, trigger: "manual", name: "odd" })
    await exportHere(session)
    const { session: copy } = await importHere()
    await restoreCheckpoint(to, { checkpoint: await to.store.checkpoints.resolve(copy.id, "odd") })
    expect(takePicture(to.workspace)).toEqual(takePicture(from.workspace))
  })
})

describe("what is nested as deep as can be kept", () => {
  const nested = (levels: number) => JSON.parse(`${'[{"a":'.repeat(levels / 2)}1${"}]".repeat(levels / 2)}`)
  const asText = (value: unknown) => JSON.stringify(value)
  const calling = (levels: number) =>
    said({ role: "assistant", content: "", toolCalls: [{ id: "c", name: "read", arguments: nested(levels) }] })

  const refuse = (work: Promise<unknown>) => expectCode(work, "INVALID_INPUT", /levels deep/)

  it("travels, and nothing deeper can be kept", async () => {
    const metadata = { deep: { a: nested(deepestJson - 2) } }
    const session = await from.store.sessions.create({ workspacePath: from.workspace, metadata })
    await from.store.log.append(session.id, [user("go"), calling(deepestJson - 4)])
    await from.store.state.put(session.id, { deep: nested(deepestJson) })
    await from.store.checkpoints.create({ sessionId: session.id, trigger: "manual", metadata })
    const facts = { ...artifact("deep", session), renderHints: metadata }
    await from.store.artifacts.put(facts, Buffer.from("deep"))
    await exportHere(session)
    const { session: copy } = await importHere()
    const head = await to.store.log.head(copy.id)
    expect(asText(copy.metadata)).toBe(asText({ ...metadata, imported: true }))
    expect(asText((await to.store.state.get(head))["deep"])).toBe(asText(nested(deepestJson)))
    const [last] = await to.store.log.lastMessages(head, 1)
    expect(asText(last?.message)).toBe(asText((calling(deepestJson - 4).data as Fields)["message"]))
    expect(asText((await to.store.checkpoints.resolve(copy.id, "latest")).metadata)).toBe(asText(metadata))
    expect(asText((await to.store.artifacts.get("deep")).renderHints)).toBe(asText(metadata))

    const tooDeep = { deep: nested(deepestJson) }
    const { id } = session
    await refuse(from.store.log.append(id, [calling(deepestJson - 2)]))
    await refuse(from.store.state.put(id, { deep: [nested(deepestJson)] }))
    await refuse(from.store.sessions.create({ workspacePath: "/w", metadata: tooDeep }))
    await refuse(from.store.sessions.updateMetadata(id, tooDeep))
    await refuse(from.store.checkpoints.create({ sessionId: id, trigger: "manual", metadata: tooDeep }))
    await refuse(from.store.artifacts.put({ ...facts, id: "b" as never, renderHints: tooDeep }, Buffer.from("b")))
    expect((await from.store.sessions.get(id)).headSeq, "nothing was kept").toBe(5)
  })
})
