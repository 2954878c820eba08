import { existsSync } from "node:fs"
import { join } from "node:path"
import { beforeEach, describe, expect, test } from "vitest"
import { use, useWorkspace } from "../../test/temporary-workspace.js"
import { findCallProcesses } from "./find-call-processes.js"
import { createOutputBuffer } from "./output-buffer.js"
import { createRunCommandTool, type RunCommandOptions } from "./run-command.js"
import { createWorkspace, type Workspace } from "./workspace-path.js"

const folder = useWorkspace()
const env = { PATH: process.env["PATH"] ?? "", GREETING: "hello" }
let workspace: Workspace

beforeEach(() => {
  workspace = createWorkspace({ workspacePath: folder.path })
})

const create = (options: Partial<RunCommandOptions> = {}) =>
  createRunCommandTool({ workspace, env, graceMs: 300, ...options })
const run = (command: string, options: Partial<RunCommandOptions> = {}, signal?: AbortSignal) =>
  use(create(options), { command }, signal)

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isTrue()); tries++) {
    if (tries > 1_000) throw new Error("Waited in vain.")
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Whether a process is there and does something. */
async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0)
    const { readFile } = await import("node:fs/promises")
    return !/\) Z /.test(await readFile(`/proc/${pid}/stat`, "utf8").catch(() => ") R "))
  } catch {
    return false
  }
}

describe("run_command", () => {
  test("shows output of both kinds, and how it ended", async () => {
    expect(await run("echo out; echo err >&2; exit 3")).toEqual({ content: "out\nerr\n(Exit code 3.)", isError: true })
    expect(await run("printf no-newline")).toEqual({ content: "no-newline\n(Exit code 0.)", isError: false })
    expect(await run("true")).toEqual({ content: "(Exit code 0.)", isError: false })
    expect(await run("kill -9 $$")).toEqual({ content: "(Ended by SIGKILL.)", isError: true })
  })

  test("runs in the workspace or a folder of it, with the environment it is given and no input", async () => {
    folder.put("sub/x", "")
    expect((await run("pwd; echo $GREETING $HOME; cat; env | grep -c .")).content).toMatch(
      new RegExp(`^${folder.path}\nhello\n\\d\n`),
    )
    expect((await use(create(), { command: "pwd", path: "sub" })).content).toBe(
      `${join(folder.path, "sub")}\n(Exit code 0.)`,
    )
    await expect(use(create(), { command: "pwd", path: "sub/x" })).rejects.toMatchObject({ code: "NOT_FOUND" })
    await expect(use(create(), { command: "pwd", path: ".." })).rejects.toMatchObject({ code: "INVALID_INPUT" })
    expect(await create().targets?.({ command: "pwd", path: "sub" })).toEqual(["sub"])
  })

  test("stops what takes too long, children included", async () => {
    // the limit is long enough for a busy machine to begin, and far from the command's own end
    const { content, isError } = await run("sleep 600 & echo $! >pid; echo begun; wait", { timeoutMs: 4_000 })
    expect({ content, isError }).toEqual({ content: "begun\n(Stopped: it took too long.)", isError: true })
    await until(async () => !(await isAlive(Number(folder.read("pid")))))
  })

  test("kills what does not listen to a polite signal, on a cancel too", async () => {
    const controller = new AbortController()
    const command = "trap '' TERM; echo $$ >pid; while true; do sleep 0.05; done"
    const running = run(command, {}, controller.signal)
    await until(() => existsSync(join(folder.path, "pid")) && folder.read("pid") !== "")
    controller.abort()
    await expect(running).rejects.toMatchObject({ code: "CANCELLED" })
    await until(async () => !(await isAlive(Number(folder.read("pid")))))
  })

  test("lets every process of the group end politely first", async () => {
    const controller = new AbortController()
    const child = "trap 'echo term >got; exit' TERM; echo ready >ready; while :; do sleep 0.02; done"
    const running = run(`(${child}) & wait`, { graceMs: 20_000 }, controller.signal)
    await until(() => existsSync(join(folder.path, "ready")))
    controller.abort()
    await expect(running).rejects.toMatchObject({ code: "CANCELLED" })
    expect(folder.read("got")).toBe("term\n")
  })

  test("gives every process of the group its time, also one that holds no output and outlives its parent", async () => {
    const controller = new AbortController()
    const child = "trap 'sleep 0.6; echo term >got; exit' TERM; echo ready >ready; while :; do sleep 0.02; done"
    const running = run(`(${child}) >/dev/null 2>&1 & exit 0 & wait`, { graceMs: 20_000 }, controller.signal)
    await until(() => existsSync(join(folder.path, "ready")))
    controller.abort()
    await expect(running).rejects.toMatchObject({ code: "CANCELLED" })
    expect(folder.read("got")).toBe("term\n")
  })

  test("kills children and their children on a cancel, deaf ones too", async () => {
    const controller = new AbortController()
    const deaf = "trap '' TERM; echo $$ >grandchild; while :; do sleep 0.02; done"
    folder.put("deaf.sh", deaf)
    const running = run("sh -c 'sh deaf.sh & echo $! >child; wait' & wait", {}, controller.signal)
    await until(() => existsSync(join(folder.path, "grandchild")) && folder.read("grandchild") !== "")
    controller.abort()
    await expect(running).rejects.toMatchObject({ code: "CANCELLED" })
    await until(async () => !(await isAlive(Number(folder.read("grandchild")))))
  })

  describe("a child in a session of its own", () => {
    const isBegun = () => existsSync(join(folder.path, "child")) && folder.read("child").endsWith("\n")
    const isOver = async () => !(await isAlive(Number(folder.read("child"))))

    beforeEach(() => {
      folder.put("deaf.sh", "trap '' TERM; echo $$ >child; while :; do sleep 0.02; done")
    })

    test.each([
      ["with the environment of the command", "setsid sh deaf.sh & sleep 600"],
      ["without it", "env -i PATH=$PATH setsid sh deaf.sh & sleep 600"],
      ["whose parent is gone", "setsid sh -c 'setsid sh deaf.sh & exit 0'; sleep 600"],
    ])("is killed on a cancel, before the call ends: %s", async (_, command) => {
      const controller = new AbortController()
      const running = run(command, {}, controller.signal)
      await until(isBegun)
      controller.abort()
      await expect(running).rejects.toMatchObject({ code: "CANCELLED" })
      expect(await isOver()).toBe(true)
    })

    test("is killed when the time is up", async () => {
      const { content } = await run("setsid sh deaf.sh & sleep 600", { timeoutMs: 4_000 })
      expect(content).toBe("(Stopped: it took too long.)")
      expect(await isOver()).toBe(true)
    })
  })

  test("a cancel leaves the same call of another workspace alone", async () => {
    const elsewhere = join(folder.path, "elsewhere")
    folder.put("elsewhere/x", "")
    const other = createRunCommandTool({ workspace: createWorkspace({ workspacePath: elsewhere }), env })
    const [mine, its] = [new AbortController(), new AbortController()]
    const itsRun = use(other, { command: "touch begun; until [ -e go ]; do sleep 0.02; done" }, its.signal)
    const myRun = run("touch begun; sleep 600", {}, mine.signal)
    await until(() => existsSync(join(folder.path, "begun")) && existsSync(join(elsewhere, "begun")))
    mine.abort()
    await expect(myRun).rejects.toMatchObject({ code: "CANCELLED" })
    folder.put("elsewhere/go", "")
    expect(await itsRun).toMatchObject({ content: "(Exit code 0.)" })
  })

  test("leaves a process with a session of its own alone when it ends by itself", async () => {
    const daemon = "touch daemon; until [ -e go ]; do sleep 0.02; done; echo over >over"
    await run(`setsid sh -c '${daemon}' >/dev/null 2>&1 & until [ -e daemon ]; do sleep 0.02; done`)
    folder.put("go", "")
    await until(() => existsSync(join(folder.path, "over")))
  })

  test("does not start to wait when it was cancelled before", async () => {
    await expect(run("sleep 60", {}, AbortSignal.abort())).rejects.toMatchObject({ code: "CANCELLED" })
  })

  test("does not wait for what is left in the background, and ends it", async () => {
    expect((await run("sleep 600 & echo $! >pid; echo done")).content).toBe("done\n(Exit code 0.)")
    expect((await run("sleep 600 >/dev/null 2>&1 & echo $! >pid2; echo done")).content).toBe("done\n(Exit code 0.)")
    for (const file of ["pid", "pid2"]) await until(async () => !(await isAlive(Number(folder.read(file)))))
  })

  test("shows the ends of long output and keeps all of it as an artifact", async () => {
    const kept: { title: string; size: number; callId: string }[] = []
    const keepArtifact: RunCommandOptions["keepArtifact"] = async ({ title, content, callId }) => {
      kept.push({ title, size: content.length, callId })
      return { id: "artifact-1" }
    }
    const result = await run("seq 1 10000", { maxCharacters: 40, keepArtifact })
    expect(result).toEqual({
      content: [
        "1\n2\n3\n4\n5\n6\n7\n8\n9\n10",
        "[48854 characters left out (all of it: artifact artifact-1)]",
        "997\n9998\n9999\n10000\n(Exit code 0.)",
      ].join("\n"),
      isError: false,
      artifactIds: ["artifact-1"],
    })
    expect(kept).toEqual([{ title: "Output of seq 1 10000", size: 48_894, callId: "call-1" }])
  })

  test("says so when long output can't be kept, or nobody keeps it", async () => {
    const keepArtifact = async () => {
      throw new Error("disk full")
    }
    expect((await run("seq 1 100", { maxCharacters: 10, keepArtifact })).content).toContain(
      "left out (it could not be kept: disk full)]",
    )
    expect((await run("seq 1 100", { maxCharacters: 10 })).content).toContain("characters left out]")
  })

  test("tells progress as it comes, and a shell that is not there", async () => {
    const heard: string[] = []
    const context = {
      callId: "c",
      signal: new AbortController().signal,
      onProgress: (text: string) => heard.push(text),
    }
    await create().run({ command: "echo one" }, context)
    expect(heard.join("")).toBe("one\n")
    await expect(run("true", { shell: "/no/such/shell" })).rejects.toThrow("ENOENT")
  })

  test("finds out whether a command of a dead agent still runs", async () => {
    const controller = new AbortController()
    const running = use(create(), { command: "sleep 60", timeoutSeconds: 50 }, controller.signal).catch(() => undefined)
    await until(async () => ((await findCallProcesses("call-1")) ?? [1]).length > 0)
    expect((await create().inspect?.({ command: "sleep 60" }, "call-1"))?.summary).toMatch(
      /still runs \(process \d+|can't be told/,
    )
    controller.abort()
    await running
    expect((await create().inspect?.({ command: "sleep 60" }, "call-1"))?.summary).toMatch(
      /does not run any more|can't be told/,
    )
    expect(await findCallProcesses("call-1", join(folder.path, "no-proc"))).toBeUndefined()
  })
})

describe("an output buffer", () => {
  test("keeps the beginning and the end, and counts everything", () => {
    const buffer = createOutputBuffer(10)
    for (let number = 0; number < 100; number++) buffer.add(Buffer.from(String(number % 10)))
    const { bytes, total } = buffer.read()
    expect(bytes.toString()).toBe("01234\n[90 bytes are not kept]\n56789")
    expect(total).toBe(100)
  })

  test("keeps all of what fits", () => {
    const buffer = createOutputBuffer(10)
    buffer.add(Buffer.from("0123456789"))
    expect(buffer.read().bytes.toString()).toBe("0123456789")
  })
})
