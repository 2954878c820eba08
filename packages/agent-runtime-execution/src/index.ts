/** The agent that can be killed: its loop, its tools, and the guard against stale files. It knows ports, no store. */

export type { RunResult } from "./agent-loop.js"
/** Runs the agent on a prompt, or lets it go on from where its history ends; every step is in the log before it counts. */
export { runAgentLoop } from "./agent-loop.js"
export type {
  Approval,
  ApprovalAnswer,
  ApprovalMode,
  ApprovalOptions,
  ApprovalRequest,
  ApprovalRule,
} from "./approval.js"
/** Decides which calls may run, by mode and by rules for tools and paths. */
/** `ask`, `auto`, `deny`. */
export { approvalModes, createApproval } from "./approval.js"
export type { StatePart } from "./collect-state.js"
/** Puts the state of the file context, the todo list and others together for the loop. */
export { collectState } from "./collect-state.js"
export type { FileContextEntry, FileContextSource, FileContextState } from "./context/file-context-entry.js"
export type {
  CreateFileContextTrackerOptions,
  FileContextHandle,
  FileContextTracker,
} from "./context/file-context-tracker.js"
/** Remembers what each context has read or written, and says which files changed since. */
export { createFileContextTracker } from "./context/file-context-tracker.js"
export type { FitContextOptions } from "./context/fit-context.js"
/** Hides older messages behind a summary or a truncation when the model's window fills up. */
/** How many tokens a message has, by a guess from its characters. */
export { estimateTokens, fitContext } from "./context/fit-context.js"
/** Refuses an edit of files that changed since they were read. */
export { guardEdit } from "./context/guard-edit.js"
export type { StaleContextNotice } from "./context/stale-context-notice.js"
/** Turns `context:file-stale` into metadata and a recoverable error for event streams. */
export { toStaleContextNotice } from "./context/stale-context-notice.js"
/** Makes summaries with a model. */
export { createModelSummariser } from "./context/summarise-with-model.js"
export type { CreateToolsOptions } from "./create-tools.js"
/** Makes the agent's usual tools for one workspace. */
export { createTools } from "./create-tools.js"
/** Compiles a glob of paths. */
export { compileGlob } from "./glob.js"
export type { RetryPolicy } from "./retry-policy.js"
/** How often and how slowly a model that fails is asked again, unless told otherwise. */
export { defaultRetryPolicy } from "./retry-policy.js"
export type { AgentLoopOptions } from "./run-scope.js"
/** What the model is told of what a tool threw. */
export { describeToolError } from "./run-tool.js"
export type {
  InDoubtCall,
  InDoubtChoice,
  InDoubtChooser,
  InDoubtKnowledge,
  InDoubtPolicy,
} from "./settle-in-doubt.js"
/** `stop`, `skip`, `retry`, `fail`. */
export { inDoubtPolicies } from "./settle-in-doubt.js"
/** JSON with sorted keys. */
/** The id of a tool call, from what it asks and where it stands. */
export { sortedJson, stableCallId } from "./stable-call-id.js"
export type { ScriptedAnswer, ScriptedCall, ScriptedModel, ScriptedModelOptions } from "./testing/scripted-model.js"
/** A model that follows a list of answers. */
/** Reads the answers of a scripted model from text. */
/** A model that follows a file of answers. */
export { createScriptedModel, parseScript, readScriptedModel } from "./testing/scripted-model.js"
/** The tool that replaces exact pieces of files. */
export { createEditFileTool } from "./tools/edit-file.js"
export type { FileOperations, PreparedWrite } from "./tools/file-operations.js"
/** Files of this machine, written so that a crash leaves the old or the new one. */
export { diskFiles } from "./tools/file-operations.js"
export type { ListFilesOptions } from "./tools/list-files.js"
/** The tool that lists files. */
export { createListFilesTool } from "./tools/list-files.js"
export type { ReadFileOptions } from "./tools/read-file.js"
/** The tool that reads a file. */
export { createReadFileTool } from "./tools/read-file.js"
export type { KeepArtifact, RunCommandOptions } from "./tools/run-command.js"
/** The tool that runs a shell command. */
export { createRunCommandTool } from "./tools/run-command.js"
export type { SearchFilesOptions } from "./tools/search-files.js"
/** The tool that searches files. */
export { createSearchFilesTool } from "./tools/search-files.js"
export type { KnownSession, SpawnAgentOptions, SpawnedSession, SpawnSession } from "./tools/spawn-agent.js"
/** The tool that lets another agent do a part of the work. */
export { createSpawnAgentTool } from "./tools/spawn-agent.js"
export type { TodoItem, TodoList } from "./tools/todo-list.js"
/** The agent's list of what is to be done. */
/** The tool that changes it. */
export { createTodoList, createTodoListTool } from "./tools/todo-list.js"
export type { FileToolOptions } from "./tools/tool-options.js"
export type { CreateWorkspaceOptions, Workspace, WorkspacePath } from "./tools/workspace-path.js"
/** Resolves paths of tools, and lets none leave the workspace. */
export { createWorkspace } from "./tools/workspace-path.js"
/** The tool that writes a file. */
export { createWriteFileTool } from "./tools/write-file.js"
