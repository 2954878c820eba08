/** The whole agent on real files: killed at every step, resumed by a new one that knows only what was kept. */
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import {
  collectState,
  createEditFileTool,
  createFileContextTracker,
  createReadFileTool,
  createRunCommandTool,
  createTodoList,
  createTodoListTool,
  createWorkspace,
  createWriteFileTool,
  type InDoubtChoice,
} from "../src/index.js"
import { call, runLoop } from "./make-loop.js"
import { createMemoryLog, type MemoryLog } from "./memory-log.js"
import { useWorkspace } from "./temporary-workspace.js"

const folder = useWorkspace()
const answers = [
  {
    toolCalls: [
      call("read_file", { path: "a.txt" }),
      call("todo_list", { items: [{ title: "edit", status: "doing" }] }),
    ],
  },
  { toolCalls: [call("edit_file", { edits: [{ path: "a.txt", oldText: "one", newText: "two" }] })], expect: "one" },
  {
    toolCalls: [
      call("run_command", { command: "echo ran >>effects" }),
      call("write_file", { path: "b.txt", content: "b" }),
    ],
  },
  { toolCalls: [call("todo_list", { items: [{ title: "edit", status: "done" }] })] },
  { content: "end", expectNot: "CONFLICT" },
]

/** One process: everything it knows comes from the log and the kept state. */
async function runProcess(log: MemoryLog, more: { prompt?: string; choice?: InDoubtChoice } = {}) {
  const workspace = createWorkspace({ workspacePath: folder.path })
  const { fileContext, todo } = log.kept
  const state = fileContext === undefined ? {} : { state: fileContext }
  const tracker = createFileContextTracker({ workspacePath: folder.path, watch: false, ...state })
  const list = createTodoList(todo)
  const options = { workspace, context: tracker.getHandle() }
  return await runLoop(log, answers, {
    ...(more.prompt === undefined ? {} : { prompt: more.prompt }),
    tools: [
      createReadFileTool(options),
      createEditFileTool(options),
      createWriteFileTool(options),
      createRunCommandTool({ workspace, env: { PATH: process.env["PATH"] ?? "" } }),
      createTodoListTool(list),
    ],
    takeChangedState: collectState({ fileContext: tracker, todo: list }),
    inDoubt: ({ known }) =>
      more.choice ?? (known.isApplied === true ? "done" : known.isApplied === false ? "retry" : "skip"),
  })
}

describe("an agent on real files", () => {
  test("does its work", async () => {
    folder.put("a.txt", "one")
    const log = createMemoryLog()
    expect(await runProcess(log, { prompt: "go" })).toMatchObject({ outcome: "completed", answer: "end" })
    expect([folder.read("a.txt"), folder.read("b.txt"), folder.read("effects")]).toEqual(["two", "b", "ran\n"])
    expect(log.kept["todo"]).toEqual([{ title: "edit", status: "done" }])
  })

  test.each(Array.from({ length: 14 }, (_, index) => index))(
    "killed at emit %i, ends with the same files",
    async (index) => {
      for (const when of ["before", "after"] as const) {
        folder.put("a.txt", "one")
        folder.put("b.txt", "")
        folder.put("effects", "")
        const log = createMemoryLog()
        log.dieAt(index, when)
        await runProcess(log, { prompt: "go" }).catch(() => undefined)
        log.revive()
        const isNew = log.state().messages.length === 0
        const wasInDoubt = log.state().openToolCalls.some(({ name }) => name === "run_command")
        const end = await runProcess(log, isNew ? { prompt: "go" } : {})
        expect(end.outcome).toBe("completed")
        expect([folder.read("a.txt"), folder.read("b.txt")]).toEqual(["two", "b"])
        expect(["ran\n", ...(wasInDoubt ? [""] : [])]).toContain(folder.read("effects"))
        expect(readdirSync(folder.path).sort()).toEqual(["a.txt", "b.txt", "effects"])
      }
    },
  )

  test("a file that changed while nobody was there is not overwritten by who goes on", async () => {
    folder.put("a.txt", "one")
    const log = createMemoryLog()
    log.dieAt(4, "after")
    await runProcess(log, { prompt: "go" }).catch(() => undefined)
    log.revive()
    folder.put("a.txt", "one, changed by the user")
    const end = await runProcess(log)
    expect(end).toMatchObject({ outcome: "failed", error: { message: expect.stringContaining("/CONFLICT/ fits") } })
    expect(
      log.state().messages.find((message) => message.role === "tool" && message.isError === true)?.content,
    ).toContain("Stale file context detected. Reload before editing:\n- a.txt")
    expect(folder.read("a.txt")).toBe("one, changed by the user")
    expect(existsSync(join(folder.path, "b.txt"))).toBe(true)
  })
})
