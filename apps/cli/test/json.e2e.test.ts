/** The JSON other programs rely on: exactly these keys, one document, or a line for each event of a stream. */
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { afterAll, beforeAll, expect, it } from "vitest"
import { buildOnce, openPlace, type Place } from "./real-keepup.js"

let place: Place

const git = (...words: string[]) =>
  execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.com", ...words], { cwd: place.workspace })

beforeAll(async () => {
  await buildOnce()
  place = openPlace()
  git("init", "-q", "-b", "main")
  place.write("a.txt", "one\n")
  place.write(".keepup/config.json", '{"capture.maxFileSize": 1000}')
  git("add", ".")
  git("commit", "-qm", "one")
  place.write("big.bin", "x".repeat(2_000))
})
afterAll(() => place.remove())

const checkpointKeys =
  "id number name note trigger sessionId messageIndex createdAt pinned sizeBytes snapshot git metadata".split(" ")
const sessionKeys = (
  "id name status agentType taskDescription workspacePath createdAt updatedAt messageCount checkpointCount " +
  "parentSessionId forkedFromCheckpointId metadata"
).split(" ")

it("has every key of a checkpoint and of what is in it", () => {
  const { checkpoint } = place.ask("checkpoint", "create", "--name", "first", "--note", "why")
  expect(Object.keys(checkpoint)).toEqual(checkpointKeys)
  expect(checkpoint).toMatchObject({ number: 1, name: "first", note: "why", trigger: "manual", pinned: false })
  expect(Object.keys(checkpoint.snapshot)).toEqual(["commit", "filesChanged", "insertions", "deletions", "skipped"])
  expect(checkpoint.snapshot.skipped).toEqual([{ path: "big.bin", reason: "too-large" }])
  expect(Object.keys(checkpoint.git)).toEqual(["branch", "head", "uncommitted", "untracked", "operation"])
  expect(checkpoint.git).toMatchObject({ branch: "main", uncommitted: 0, untracked: 1, operation: null })
  expect(Object.keys(checkpoint.metadata.shadowCheckpoint)).toEqual(["commit", "base", "message", "createdAt"])
  expect(place.ask("checkpoint", "show", "first")).toEqual({ ok: true, checkpoint })
})

it("has the same keys for a plan and for a restore", () => {
  place.write("a.txt", "two\n")
  place.write("new.txt", "new\n")
  place.ask("checkpoint", "create")
  const dry = place.ask("checkpoint", "restore", "first", "--dry-run")
  const done = place.ask("checkpoint", "restore", "first", "--yes")
  expect(Object.keys(dry)).toEqual(["ok", "restore", "plan", "applied"])
  expect(Object.keys(done)).toEqual(["ok", "restore", "plan"])
  expect(Object.keys(dry.restore)).toEqual(Object.keys(done.restore))
  expect(Object.keys(done.restore)).toEqual(["id", "checkpointId", "safetyCheckpointId", "sessionId", "mode"])
  expect(done.plan).toEqual(dry.plan)
  expect(done.plan).toEqual({
    ...{ write: ["a.txt"], delete: ["new.txt"], untouched: 1 },
    notCaptured: [{ path: "big.bin", reason: "too-large" }],
  })
  const { files } = place.ask("checkpoint", "diff", "1", "2")
  expect(files).toEqual([
    { path: "a.txt", status: "modified", insertions: 1, deletions: 1, binary: false },
    { path: "new.txt", status: "added", insertions: 1, deletions: 0, binary: false },
  ])
})

it("lists sessions newest first and checkpoints oldest first", () => {
  place.ask("session", "new", "later")
  const { sessions, ...rest } = place.ask("session", "list")
  expect(rest).toEqual({ ok: true })
  expect(sessions.map(({ name }: { name: string }) => name)).toEqual(["later", "workspace"])
  for (const session of sessions) expect(Object.keys(session)).toEqual(sessionKeys)
  const list = place.ask("checkpoint", "list", "-S", "workspace")
  expect(Object.keys(list)).toEqual(["ok", "session", "checkpoints"])
  expect(list.checkpoints.map(({ number }: { number: number }) => number)).toEqual([1, 2, 3])
  const shown = place.ask("session", "show", "workspace")
  expect(Object.keys(shown)).toEqual(["ok", "session", "checkpoints", "logs"])
  expect(shown.checkpoints).toEqual(list.checkpoints)
})

it("streams a run, a replay and a followed log as JSON lines", async () => {
  const script = place.script([{ content: "Done." }])
  const ran = place.run("run", "say done", "--script", script, "--json")
  expect(ran.code).toBe(0)
  const lines = ran.out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
  const end = lines.pop()
  expect(Object.keys(end)).toEqual(["ok", "session", "run"])
  expect(end).toMatchObject({ ok: true, run: { outcome: "completed", answer: "Done." } })
  for (const line of lines) expect(line).toMatchObject({ type: expect.stringMatching(/^[a-z]+:[a-z-]+$/), data: {} })
  const replayed = place.run("checkpoint", "replay", "1", "--json")
  const entries = replayed.out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
  for (const entry of entries) {
    expect(Object.keys(entry)).toEqual(["sessionId", "seq", "type", "createdAt", "messageIndex", "data"])
  }
  const { openStore } = await import("@ku0/agent-runtime")
  const store = await openStore(`sqlite:${join(place.root, "home/.local/state/keepup/keepup.db")}`)
  await store.sessions.addLog(end.session.id, "warn", "look here")
  const child = place.start("session", "logs", "--follow", "--json")
  const followed = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]()
  const first = JSON.parse((await followed.next()).value)
  expect(first).toMatchObject({ level: "warn", message: "look here" })
  await store.sessions.addLog(end.session.id, "error", "and here")
  const second = JSON.parse((await followed.next()).value)
  expect(Object.keys(second)).toEqual(["id", "level", "message", "createdAt"])
  child.kill("SIGINT")
  expect((await once(child, "close"))[0]).toBe(130)
  await store.close()
})

it("never asks and never colours, and says one document also when it fails", () => {
  writeFileSync(join(place.root, "taken"), "x")
  place.environment["FORCE_COLOR"] = "1"
  for (const words of [
    ["checkpoint", "restore", "1"],
    ["checkpoint", "delete", "1"],
    ["session", "delete", "latest"],
    ["rewind", "1"],
    ["session", "export", "latest", "../taken"],
    ["checkpoint", "show", "nothing"],
  ]) {
    const { out, err, code } = place.run(...words, "--json", "-S", "workspace")
    expect({ words, lines: out.split("\n").length, err }).toEqual({ words, lines: 2, err: "" })
    expect(out).not.toContain("\u001b")
    expect(JSON.parse(out).ok).toBe(false)
    expect(code).not.toBe(0)
  }
})
