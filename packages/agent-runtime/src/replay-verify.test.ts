import { createHash } from "node:crypto"
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Checkpoint, Entry, SessionId } from "@ku0/agent-runtime-core"
import { createScriptedModel, type ScriptedAnswer } from "@ku0/agent-runtime-execution"
import { restoreCheckpoint } from "@ku0/agent-runtime-persistence"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openRuntime, type Runtime } from "./open-runtime.js"
import { replayVerify, type VerifiedReplay } from "./replay-verify.js"
import { runSession } from "./run-session.js"

let root: string
let workspace: string
let runtime: Runtime

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "keepup-verify-")))
  workspace = join(root, "workspace")
  mkdirSync(workspace)
  writeFileSync(join(workspace, "a.txt"), "one\ntwo\n")
  writeFileSync(join(workspace, ".gitignore"), "*.log\n")
  const environment = { PATH: process.env["PATH"], PWD: workspace }
  runtime = await openRuntime({ stateDirectory: join(root, "state"), workspacePath: workspace, environment })
})
afterEach(async () => {
  await runtime.close()
  rmSync(root, { recursive: true })
})

const call = (name: string, args: Record<string, unknown>) => ({ name, arguments: args })
const edit = (oldText: string, newText: string) => call("edit_file", { edits: [{ path: "a.txt", oldText, newText }] })
const approve = () => true

/** Runs turns of calls, with a checkpoint before the first one. */
async function record(...turns: ReturnType<typeof call>[][]): Promise<{ from: Checkpoint; sessionId: SessionId }> {
  const answers: ScriptedAnswer[] = [
    { content: "hello" },
    ...turns.map((toolCalls) => ({ toolCalls })),
    { content: "end" },
  ]
  const model = createScriptedModel({ answers })
  const { session } = await runSession(runtime, { model, prompt: "begin" })
  const [from] = await runtime.store.checkpoints.list(session.id)
  const { run } = await runSession(runtime, { model, sessionId: session.id, prompt: "work" })
  expect(run.outcome).toBe("completed")
  return { from: from as Checkpoint, sessionId: session.id }
}

const allSorts = () => [
  [call("read_file", { path: join(workspace, "a.txt") }), call("list_files", {})],
  [edit("one", "1"), call("write_file", { path: "deep/b.txt", content: "b\n" })],
  [call("search_files", { pattern: "two" }), call("read_file", { path: "missing.txt" }), call("no_such_tool", {})],
  [call("todo_list", { items: [{ title: "x", status: "open" }] }), call("read_file", { path: "../outside" })],
]

describe("a faithful record", () => {
  it("is verified with every kind of call, from a checkpoint to the end", async () => {
    const { from } = await record(...allSorts())
    const result = await replayVerify(runtime, { from })
    expect(result.differences).toEqual([])
    expect(result.files).toEqual({ added: [], changed: [], missing: [] })
    expect(result).toMatchObject({ isFaithful: true, calls: 7, skipped: [] })
    expect(result.to?.number).toBeGreaterThan(from.number)
  })

  it("is verified with commands when they are approved, their paths leading into the copy", async () => {
    const long = `yes long | head -c 50000; cp ${workspace}/a.txt ${workspace}/copy.txt; pwd; echo "$PWD" > made.log`
    const { from } = await record([call("run_command", { command: long })], [call("read_file", { path: "copy.txt" })])
    rmSync(join(workspace, "made.log"))
    const asked: unknown[] = []
    const result = await replayVerify(runtime, {
      from,
      runUncontained: true,
      approve: (outside) => {
        asked.push(outside.arguments)
        return true
      },
    })
    expect(result).toMatchObject({ isFaithful: true, calls: 2, skipped: [], differences: [] })
    expect(JSON.stringify(asked)).not.toContain(workspace)
    expect(readdirSync(workspace).sort()).toEqual([".gitignore", "a.txt", "copy.txt"])
  })

  it("is verified through an agent it spawned, from what that one did", async () => {
    const model = createScriptedModel({
      answers: [
        { content: "hello" },
        { toolCalls: [call("spawn_agent", { task: "write it" })] },
        { toolCalls: [call("write_file", { path: "child.txt", content: "by the child" })] },
        { content: "written" },
        { content: "end" },
      ],
    })
    const { session } = await runSession(runtime, { model, prompt: "begin" })
    const [from] = (await runtime.store.checkpoints.list(session.id)) as [Checkpoint]
    await runSession(runtime, { model, sessionId: session.id, prompt: "work" })
    expect(await replayVerify(runtime, { from, approve })).toMatchObject({ isFaithful: true, calls: 1, skipped: [] })
    const unapproved = await replayVerify(runtime, { from })
    expect(unapproved.skipped).toMatchObject([{ name: "spawn_agent", reason: "was not approved" }])
    expect(unapproved.files.missing).toEqual(["child.txt"])
  })
})

describe("a replay", () => {
  it.each(["files", "conversation", "paths"])("is verified through a restore in the middle: %s", async (what) => {
    const { from, sessionId } = await record(
      [edit("one", "1"), call("write_file", { path: "deep/b.txt", content: "b\n" })],
      [call("run_command", { command: "rm .gitignore; ln -s a.txt link; echo x > x" })],
    )
    const all = await runtime.store.checkpoints.list(sessionId)
    const middle = all.find(({ number }) => number === from.number + 1)
    const request = what === "paths" ? { mode: "files" as const, paths: ["deep", "a.txt"] } : { mode: what as "files" }
    const checkpoint = what === "conversation" ? (middle as Checkpoint) : from
    await restoreCheckpoint(runtime, { checkpoint, ...request })
    const model = createScriptedModel({ answers: [{ toolCalls: [call("list_files", {})] }, { content: "end" }] })
    await runSession(runtime, { model, sessionId, prompt: "go on" })
    const result = await replayVerify(runtime, { from, approve })
    expect(result).toMatchObject({ isFaithful: true, differences: [], skipped: [] })
    expect(result.files).toEqual({ added: [], changed: [], missing: [] })
  })

  it("leaves the workspace, the store and the session byte for byte as they are", async () => {
    const { from, sessionId } = await record(...allSorts(), [call("run_command", { command: "echo x >> log.txt" })])
    const before = [picture(workspace), picture(join(root, "state")), await runtime.store.sessions.get(sessionId)]
    await replayVerify(runtime, { from, approve })
    await replayVerify(runtime, { from })
    const after = [picture(workspace), picture(join(root, "state")), await runtime.store.sessions.get(sessionId)]
    expect(after).toEqual(before)
  })

  it("ends where it is told, and leaves its copy in the folder it is given", async () => {
    const { from, sessionId } = await record([edit("one", "1")], [edit("1", "uno")])
    const all = await runtime.store.checkpoints.list(sessionId)
    const to = all.toReversed().find(({ number }) => number > from.number) as Checkpoint
    const scratchFolder = join(root, "copy")
    const result = await replayVerify(runtime, { from, to, scratchFolder })
    expect(result).toMatchObject({ isFaithful: true, calls: 1 })
    expect(readFileSync(join(scratchFolder, "a.txt"), "utf8")).toBe("1\ntwo\n")
    await expect(replayVerify(runtime, { from, scratchFolder })).rejects.toMatchObject({ code: "INVALID_INPUT" })
  })

  it("does not run commands without approval, and says so", async () => {
    const { from } = await record([call("run_command", { command: "echo made > made.txt" })])
    const result = await replayVerify(runtime, { from })
    expect(result).toMatchObject({ calls: 0, skipped: [{ name: "run_command", reason: "was not approved" }] })
    expect(result.files).toEqual({ added: [], changed: [], missing: ["made.txt"] })
    expect(result.isFaithful).toBe(false)
  })
})

describe("a command that comes by the path of the workspace in its own way", () => {
  const command = 'echo more >> "$(cat path.txt)/a.txt"; ln -s "$(cat path.txt)" link; echo new > link/new.txt; rm link'

  /** The agent ran it; the workspace was put back since. */
  async function recordIt(): Promise<Checkpoint> {
    writeFileSync(join(workspace, "path.txt"), workspace)
    const { from } = await record([call("run_command", { command })])
    expect(readFileSync(join(workspace, "a.txt"), "utf8")).toContain("more")
    rmSync(join(workspace, "new.txt"))
    writeFileSync(join(workspace, "a.txt"), "as the user has it now")
    return from
  }

  /** It ran as it did, or, on a system without namespaces, not at all. */
  function expectBehindWall(result: VerifiedReplay): void {
    expect(result.workspaceChanges).toEqual([])
    if (result.calls === 1) expect(result).toMatchObject({ isFaithful: true, skipped: [], differences: [] })
    else expect(result.skipped).toMatchObject([{ reason: expect.stringContaining("could touch the workspace") }])
  }

  it("reaches the copy, not the workspace", async () => {
    const from = await recordIt()
    const before = picture(workspace)
    expectBehindWall(await replayVerify(runtime, { from, approve }))
    expect(picture(workspace)).toEqual(before)
  })

  it("reaches nothing of keepup's own", async () => {
    const made = join(root, "state", "made-by-a-command")
    const { from } = await record([call("run_command", { command: `mkdir ${made}` })])
    rmSync(made, { recursive: true })
    const before = picture(join(root, "state"))
    expectBehindWall(await replayVerify(runtime, { from, approve }))
    expect(picture(join(root, "state"))).toEqual(before)
  })

  it("does not run where there is no wall, unless that is wanted; then what it touched is listed", async () => {
    const from = await recordIt()
    await runtime.close()
    const bin = join(root, "bin")
    mkdirSync(bin)
    for (const name of ["git", "cat", "ln", "rm"]) {
      const path = process.env["PATH"]?.split(":").map((part) => join(part, name)) ?? []
      symlinkSync(path.find((one) => existsSync(one)) as string, join(bin, name))
    }
    runtime = await openRuntime({
      stateDirectory: join(root, "state"),
      workspacePath: workspace,
      environment: { PATH: bin },
    })
    const before = picture(workspace)
    const refused = await replayVerify(runtime, { from, approve })
    expect(refused).toMatchObject({ calls: 0, workspaceChanges: [] })
    expect(refused.skipped).toMatchObject([{ reason: expect.stringContaining("could touch the workspace") }])
    expect(picture(workspace)).toEqual(before)
    const asked: boolean[] = []
    const run = await replayVerify(runtime, {
      from,
      runUncontained: true,
      approve: ({ isContained }) => asked.push(isContained) > 0,
    })
    expect(asked).toEqual([false])
    expect(run).toMatchObject({ calls: 1, workspaceChanges: ["a.txt", "new.txt"] })
  })
})

describe("what differs is listed", () => {
  it("when somebody changed the record", async () => {
    const { from, sessionId } = await record([call("read_file", { path: "a.txt" })], [edit("one", "1")])
    const entry = (await runtime.store.log.read(sessionId)).findLast(
      ({ type, data }) => type === "message:added" && JSON.stringify(data).includes("read_file") && isResult(data),
    ) as Entry
    const data = JSON.stringify(entry.data).replace("two", "three")
    await runtime.store.context.driver.run("UPDATE entries SET data = ? WHERE session_id = ? AND seq = ?", [
      data,
      sessionId,
      entry.seq,
    ])
    const { differences, isFaithful, files } = await replayVerify(runtime, { from })
    expect(isFaithful).toBe(false)
    expect(differences).toHaveLength(1)
    expect(differences[0]).toMatchObject({ name: "read_file", expected: expect.stringContaining("three") })
    expect(differences[0]?.got).toContain("two")
    expect(files.changed).toEqual([])
  })

  it("when a command says something else each time", async () => {
    const { from } = await record([call("run_command", { command: "date +%N | tee now.txt; exit $(wc -l < a.txt)" })])
    const { differences, files } = await replayVerify(runtime, { from, approve, runUncontained: true })
    expect(differences).toMatchObject([{ name: "run_command", expected: expect.stringMatching(/^\(error\) \d+/) }])
    expect(files).toEqual({ added: [], changed: ["now.txt"], missing: [] })
  })

  it("when a file came or went without the agent", async () => {
    const model = createScriptedModel({
      answers: [
        { content: "hello" },
        { toolCalls: [call("read_file", { path: "by-hand.txt" }), call("list_files", {})] },
        { content: "end" },
      ],
    })
    const { session } = await runSession(runtime, { model, prompt: "begin" })
    const [from] = (await runtime.store.checkpoints.list(session.id)) as [Checkpoint]
    writeFileSync(join(workspace, "by-hand.txt"), "by hand")
    rmSync(join(workspace, "a.txt"))
    await runSession(runtime, { model, sessionId: session.id, prompt: "work" })
    const { differences, files } = await replayVerify(runtime, { from })
    expect(differences.map(({ name }) => name)).toEqual(["read_file", "list_files"])
    expect(differences[0]).toMatchObject({ expected: expect.stringContaining("by hand") })
    expect(differences[0]?.got).toContain("NOT_FOUND")
    expect(files).toEqual({ added: ["a.txt"], changed: [], missing: ["by-hand.txt"] })
  })
})

function isResult(data: unknown): boolean {
  return (data as { message: { role: string } }).message.role === "tool"
}

/** Every file with its content and times; what SQLite shares between processes is not part of what is kept. */
function picture(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => !path.endsWith("-shm"))
    .sort()
    .map((path) => {
      const file = join(folder, path)
      const { mode, mtimeMs } = lstatSync(file)
      const isFolder = lstatSync(file).isDirectory()
      const hash = isFolder ? "" : createHash("sha256").update(readFileSync(file)).digest("hex")
      return `${path} ${mode} ${isFolder ? "" : mtimeMs} ${hash}`
    })
}
