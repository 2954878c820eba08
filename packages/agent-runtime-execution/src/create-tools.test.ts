import { describe, expect, test } from "vitest"
import { use, useWorkspace } from "../test/temporary-workspace.js"
import { createApproval } from "./approval.js"
import { createTools } from "./create-tools.js"
import { createTodoList } from "./tools/todo-list.js"
import { createWorkspace } from "./tools/workspace-path.js"

const folder = useWorkspace()

describe("createTools", () => {
  test("makes every tool once, each with a schema a model can read", () => {
    const workspace = createWorkspace({ workspacePath: folder.path })
    const spawn = { spawnSession: () => Promise.reject(new Error("no")), emit: async () => undefined }
    const tools = createTools({ workspace, env: {}, todo: createTodoList(), spawn })
    expect(tools.map(({ name, hasEffects }) => `${name} ${hasEffects}`)).toEqual([
      "read_file false",
      "write_file true",
      "edit_file true",
      "list_files false",
      "search_files false",
      "run_command true",
      "todo_list false",
      "spawn_agent true",
    ])
    for (const { parameters, description } of tools) {
      expect(JSON.parse(JSON.stringify(parameters))).toMatchObject({ type: "object", properties: expect.any(Object) })
      expect(description).toMatch(/^[A-Z].*\.$/s)
    }
  })

  test("hides from lists and searches what the rules deny", async () => {
    folder.put("secret/key", "word")
    folder.put("a.txt", "word")
    const workspace = createWorkspace({ workspacePath: folder.path })
    const approval = createApproval({ mode: "auto", rules: [{ tool: "*", path: "secret", decision: "deny" }] })
    const tools = createTools({ workspace, env: { PATH: "" }, todo: createTodoList(), approval })
    const run = async (name: string, args: unknown) => {
      const tool = tools.find((one) => one.name === name)
      return tool === undefined ? undefined : (await use(tool, args)).content
    }
    expect(await run("list_files", {})).toBe("a.txt")
    expect(await run("search_files", { pattern: "word" })).toBe("a.txt:1: word")
    expect(tools.some(({ name }) => name === "spawn_agent")).toBe(false)
  })
})
