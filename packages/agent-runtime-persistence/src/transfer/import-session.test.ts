import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import type { Checkpoint, CheckpointId } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { createArtifactContent } from "../artifact/artifact-content.js"
import { checkStore } from "../recovery/check-store.js"
import { openStore, type Store } from "../store/open-store.js"
import { expectCode, user } from "../testing/contract/samples.js"
import { createTemporaryFolder, type TemporaryFolder } from "../testing/temporary-folder.js"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import { artifact, makeSession } from "../testing/transfer-sample.js"
import { readComparable } from "../testing/transfer-story.js"
import { takePicture } from "../testing/workspace-picture.js"
import { readCheckpointFile } from "../time-travel/look.js"
import { restoreCheckpoint } from "../time-travel/restore.js"
import { rewindToCheckpoint } from "../time-travel/rewind.js"
import { undoRestore } from "../time-travel/undo-restore.js"
import { exportSession } from "./export-session.js"
import { importSession } from "./import-session.js"

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
const importHere = (path = exported()) =>
  importSession(to, { path, workspacePath: to.workspace, workFolder: join(to.stateDirectory, "work") })

describe("an imported session", () => {
  it("has history, state, checkpoints, files, artifacts and logs under new ids", async () => {
    const { session, one, two } = await makeSession(from)
    const result = await exportSession(from, { sessionId: session.id, path: exported() })
    expect(result).toMatchObject({ leftOut: [], redactions: 0, counts: { session: 1, checkpoint: 2, artifact: 1 } })
    const { session: copy, counts } = await importHere()
    expect(counts).toEqual(result.counts)
    expect(copy).toMatchObject({ name: "travels", status: "active", messageCount: 3, checkpointCount: 2 })
    expect(copy.metadata).toEqual({ imported: true })
    const [second, first] = (await to.store.checkpoints.list(copy.id)) as [Checkpoint, Checkpoint]
    expect(first).toMatchObject({ number: 1, name: "start", createdAt: one.createdAt, pinned: false })
    expect(second).toMatchObject({ number: 2, name: null, createdAt: two.createdAt, pinned: true })
    expect([first.snapshot, first.metadata]).toEqual([one.snapshot, one.metadata])
    expect(await to.store.state.get(await to.store.log.head(copy.id))).toEqual({ task: { step: 1 } })
    expect(await to.store.sessions.listLogs(copy.id)).toMatchObject([{ level: "warn", message: "careful" }])
    expect(Buffer.from(await to.store.artifacts.read("plan")).toString()).toBe("the plan")
    for (const path of ["a.txt", "bin.dat", "dir/é.txt", "empty.txt"]) {
      const original = await readCheckpointFile(from, one, path)
      expect((await readCheckpointFile(to, first, path)).equals(original), path).toBe(true)
    }
    const ids = [session.id, one.id, two.id].map((id) => `%${id}%`)
    for (const id of ids) {
      const found = await to.store.context.driver.get("SELECT 1 FROM entries WHERE data LIKE ?", [id])
      expect(found).toBeUndefined()
    }
  })

  it("can be restored, goes on with the next number, and its store is sound", async () => {
    const { session } = await makeSession(from)
    await exportSession(from, { sessionId: session.id, path: exported() })
    const { session: copy } = await importHere()
    const first = await to.store.checkpoints.resolve(copy.id, "start")
    const { safety } = await restoreCheckpoint(to, { checkpoint: first })
    expect(readFileSync(join(to.workspace, "a.txt"), "utf8")).toBe("one")
    expect(safety.number).toBe(3)
    const snapshots = await to.snapshots(to.workspace)
    expect(await snapshots.check()).toMatchObject({ isSound: true, damaged: [] })
    expect(await checkStore(to), "what the doctor says").toEqual([])
    await snapshots.gc((await to.store.checkpoints.list(copy.id)).map(({ id }) => id))
    expect((await readCheckpointFile(to, first, "a.txt")).toString()).toBe("one")
  })

  it("brings the log of restores along and nothing of theirs to undo: its own are undone, and the store is sound", async () => {
    const { session, one } = await makeSession(from)
    await restoreCheckpoint(from, { checkpoint: one })
    await exportSession(from, { sessionId: session.id, path: exported() })
    const { session: copy } = await importHere()
    expect(await checkStore(to)).toEqual([])
    await expectCode(undoRestore(to, { workspacePath: to.workspace }), "NOT_FOUND")
    await restoreCheckpoint(to, { checkpoint: await to.store.checkpoints.resolve(copy.id, "start"), paths: ["a.txt"] })
    await undoRestore(to, { workspacePath: to.workspace })
    expect(await checkStore(to)).toEqual([])
  })

  it("brings links, modes, empty folders and names of any bytes along, as they were", async () => {
    const at = (name: string) => join(from.workspace, name)
    const strange = Buffer.concat([Buffer.from(at("bad-")), Buffer.from([0xff, 0xfe])])
    writeFileSync(strange, "latin")
    writeFileSync(at('new\nline\t"quoted".txt'), "")
    writeFileSync(at("run.sh"), "#!/bin/sh\n", { mode: 0o755 })
    writeFileSync(at("large.bin"), Buffer.alloc(1_500_000, 7))
    symlinkSync("../../..", at("up"))
    symlinkSync("no such file", at("broken"))
    mkdirSync(at("empty/deep"), { recursive: true })
    const session = await from.createSession()
    await from.manager.take({ sessionId: session.id, trigger: "manual", name: "odd" })
    await exportSession(from, { sessionId: session.id, path: exported() })
    const { session: copy } = await importHere()
    await restoreCheckpoint(to, { checkpoint: await to.store.checkpoints.resolve(copy.id, "odd") })
    expect(takePicture(to.workspace)).toEqual(takePicture(from.workspace))
  })

  it("is the same when exported again, also from the store it came from", async () => {
    const { session } = await makeSession(from)
    await exportSession(from, { sessionId: session.id, path: exported() })
    const { session: copy } = await importHere()
    await exportSession(to, { sessionId: copy.id, path: folder.file("again") })
    expect(readComparable(folder.file("again"))).toEqual(readComparable(exported()))
    const beside = await importSession(from, {
      path: exported(),
      workspacePath: from.workspace,
      workFolder: folder.path,
    })
    await exportSession(from, { sessionId: beside.session.id, path: folder.file("beside") })
    expect(readComparable(folder.file("beside"))).toEqual(readComparable(exported()))
  })

  it("brings the shared entries of those it branched from along, and does not show them", async () => {
    const { one } = await makeSession(from)
    const { session: branch } = await rewindToCheckpoint(from, { checkpoint: one, mode: "conversation" })
    await from.store.log.append(branch.id, [user("other way")])
    await exportSession(from, { sessionId: branch.id, path: exported() })
    const { session: copy } = await importHere()
    const { messages } = await to.store.log.fold(await to.store.log.head(copy.id))
    expect(messages.map(({ content }) => content)).toEqual(["first", "done", "other way"])
    expect(await to.store.sessions.list()).toHaveLength(1)
    expect(copy.parentSessionId).not.toBeNull()
    const origin = await to.store.checkpoints.get(copy.forkedFromCheckpointId as CheckpointId)
    expect(origin).toMatchObject({ number: 1, name: "start" })
    expect(await checkStore(to), "what the doctor says").toEqual([])
    await to.store.sessions.delete(copy.id)
    const left = await to.store.context.driver.all("SELECT id FROM sessions")
    expect(left, "nothing hidden stays behind when the branch goes").toEqual([])
  })

  it("is interrupted if it was in the middle of something", async () => {
    const { session } = await makeSession(from)
    await from.store.log.append(session.id, [{ type: "run:started", data: { runId: "r" } }])
    await exportSession(from, { sessionId: session.id, path: exported() })
    expect((await importHere()).session.status).toBe("interrupted")
  })

  it("keeps entries over a megabyte and artifacts in files", async () => {
    const { session } = await makeSession(from)
    await from.store.log.append(session.id, [user("x".repeat(1_500_000))])
    await exportSession(from, { sessionId: session.id, path: exported() })
    const content = createArtifactContent({ folder: folder.file("artifacts"), clock: { now: () => Date.now() } })
    const store: Store = await openStore("memory:", { artifactContent: content })
    const { session: copy } = await importSession(
      { ...to, store },
      { path: exported(), workspacePath: to.workspace, workFolder: folder.path },
    )
    const [last] = await store.log.lastMessages(await store.log.head(copy.id), 1)
    expect(last?.message.content).toHaveLength(1_500_000)
    expect(Buffer.from(await store.artifacts.read("plan")).toString()).toBe("the plan")
    expect(await content.has((await store.artifacts.get("plan")).hash)).toBe(true)
    await store.close()
  })

  it("says which files did not travel, and why", async () => {
    const { session } = await makeSession(from)
    const { leftOut } = await exportSession(from, { sessionId: session.id, path: exported(), snapshots: false })
    expect(leftOut).toEqual([{ what: "files of 2 checkpoints", reason: "The export was made without files." }])
    const { session: copy } = await importHere()
    const first = await to.store.checkpoints.resolve(copy.id, "start")
    expect(first.snapshot).toBeNull()
    await expectCode(restoreCheckpoint(to, { checkpoint: first }), "UNAVAILABLE", /holds no files/)
  })

  it("is not written over a file that is there", async () => {
    const { session } = await makeSession(from)
    writeFileSync(exported(), "mine")
    await expectCode(exportSession(from, { sessionId: session.id, path: exported() }), "CONFLICT")
    expect(readFileSync(exported(), "utf8")).toBe("mine")
    await expectCode(exportSession(from, { sessionId: "no" as never, path: folder.file("b") }), "NOT_FOUND")
    expect(readdirSync(folder.path)).toEqual(["session.keepup"])
  })
})

describe("a redacted export", () => {
  const token = ["gh", "p_", "abcdefghijklmnopqrstuvwxyz0123456789"].join("")

  it("has no secret in messages, state, artifacts, logs or names, no files, and says so", async () => {
    const { session } = await makeSession(from)
    await from.store.log.append(session.id, [user(`use ${token}`)])
    await from.store.state.put(session.id, { password: "hunter two", deep: { note: token } })
    await from.store.artifacts.put({ ...artifact("a2", session), title: token }, Buffer.from(`key ${token}`))
    await from.store.sessions.addLog(session.id, "error", `refused ${token}`)
    await from.store.checkpoints.create({ sessionId: session.id, trigger: "manual", name: `n ${token}`, note: token })
    const result = await exportSession(from, { sessionId: session.id, path: exported(), redact: true })
    expect(result.redactions).toBeGreaterThanOrEqual(8)
    expect(result.leftOut).toEqual([
      { what: "files of 2 checkpoints", reason: "Files are not part of a redacted export." },
    ])
    const text = gunzipSync(readFileSync(exported())).toString("utf8")
    expect(text).not.toContain(token)
    expect(text).not.toContain("hunter two")
    const { session: copy, redacted } = await importHere()
    expect(redacted).toBe(true)
    const state = await to.store.state.get(await to.store.log.head(copy.id))
    expect(state).toEqual({ task: { step: 1 }, password: "[REDACTED]", deep: { note: "[REDACTED]" } })
    expect((await to.store.checkpoints.resolve(copy.id, "latest")).name).toBe("n [REDACTED]")
    expect(Buffer.from(await to.store.artifacts.read("a2")).toString()).toBe("key [REDACTED]")
  })

  it("has none in what an artifact says of itself, in kinds, paths and keys, and leaves bytes with one out", async () => {
    const tokens: string[] = []
    const secret = () => {
      tokens.push(["gh", "p_", `${tokens.length}`.padStart(36, "abcdefghijklmnopqrstuvwxyz0123456789")].join(""))
      return tokens.at(-1) as string
    }
    const session = await from.store.sessions.create({
      workspacePath: `/project ${secret()}`,
      agentType: `agent ${secret()}`,
      metadata: { [`key ${secret()}`]: 1 },
    })
    const said = { taskNodeId: `node-${secret()}`, idempotencyKey: `once-${secret()}`, quarantine: [`not ${secret()}`] }
    const facts = { ...artifact(`id-${secret()}`, session), ...said, type: `T-${secret()}` }
    await from.store.artifacts.put({ ...facts, renderHints: { a: secret() } }, Buffer.from("clean"))
    const bytes = (name: BufferEncoding) => Buffer.concat([Buffer.from([255, 0]), Buffer.from(` ${secret()} `, name)])
    await from.store.artifacts.put(artifact("latin", session), bytes("latin1"))
    await from.store.artifacts.put(artifact("wide", session), bytes("utf16le"))
    await from.store.artifacts.put(artifact("picture", session), Buffer.from([255, 216, 255, 0, 1, 2]))
    const call = { id: `call-${secret()}`, name: "shell", arguments: { command: `curl -H "X: ${secret()}"` } }
    await from.store.log.append(session.id, [
      calling(call),
      { type: "tool:started", data: { callId: call.id, name: call.name, arguments: call.arguments } },
      { type: "tool:ended", data: { callId: call.id, name: call.name, outcome: "ok", result: secret() } },
      { type: "other:happened", data: { deep: [{ x: secret() }] } },
      user(`${"x ".repeat(600_000)} ${secret()}`),
    ])
    const key = `state ${secret()}`
    await from.store.state.put(session.id, { [key]: 1, "018bcfe5c0ffee5eed7e57c0de0ddba11": 1, kept: "x" })
    await from.store.state.put(session.id, { [key]: undefined, "018bcfe5c0ffee5eed7e57c0de0ddba11": undefined })
    const { leftOut } = await exportSession(from, { sessionId: session.id, path: exported(), redact: true })
    const reason = "It is no text, and holds what looks like a secret."
    expect(leftOut).toEqual([
      { what: "artifact latin", reason },
      { what: "artifact wide", reason },
    ])
    const lines = gunzipSync(readFileSync(exported())).toString("utf8").trimEnd().split("\n")
    const decoded = lines.map((line) => Buffer.from(JSON.parse(line).base64 ?? "", "base64").toString("latin1"))
    const text = [...lines, ...decoded].join("\n").replaceAll("\0", "")
    for (const [index, token] of tokens.entries()) expect(text.includes(token), `secret ${index}`).toBe(false)
    const { session: copy } = await importHere()
    expect(await to.store.state.get(await to.store.log.head(copy.id))).toEqual({ kept: "x" })
    expect(await checkStore(to), "what the doctor says").toEqual([])
  })
})

function calling(call: { id: string; name: string; arguments: unknown }) {
  return { type: "message:added", data: { message: { role: "assistant", content: "", toolCalls: [call] } } } as const
}
