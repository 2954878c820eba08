/** The agent's usual tools, wired to one workspace. */
import type { Tool } from "@ku0/agent-runtime-core"
import type { Approval } from "./approval.js"
import { createEditFileTool } from "./tools/edit-file.js"
import { createListFilesTool } from "./tools/list-files.js"
import { createReadFileTool } from "./tools/read-file.js"
import { createRunCommandTool, type RunCommandOptions } from "./tools/run-command.js"
import { createSearchFilesTool } from "./tools/search-files.js"
import { createSpawnAgentTool, type SpawnAgentOptions } from "./tools/spawn-agent.js"
import { createTodoListTool, type TodoList } from "./tools/todo-list.js"
import type { FileToolOptions } from "./tools/tool-options.js"
import { createWriteFileTool } from "./tools/write-file.js"

export interface CreateToolsOptions extends FileToolOptions, Omit<RunCommandOptions, "workspace"> {
  readonly todo: TodoList
  /** Rules that hide files also hide them from lists and searches. */
  readonly approval?: Pick<Approval, "isVisible">
  /** Without it the agent can't hand work to others. */
  readonly spawn?: SpawnAgentOptions
}

/** Makes all tools for one agent. */
export function createTools(options: CreateToolsOptions): Tool[] {
  const { workspace, env, todo, approval, spawn } = options
  const visibleTo = (tool: string) => (path: string) => approval?.isVisible(tool, path) ?? true
  return [
    createReadFileTool(options),
    createWriteFileTool(options),
    createEditFileTool(options),
    createListFilesTool({ workspace, isVisible: visibleTo("list_files") }),
    createSearchFilesTool({ workspace, env, isVisible: visibleTo("search_files") }),
    createRunCommandTool(options),
    createTodoListTool(todo),
    ...(spawn === undefined ? [] : [createSpawnAgentTool(spawn)]),
  ]
}
