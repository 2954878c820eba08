/** What the bench bundles of keepup's agent. */
export {
  collectState,
  createFileContextTracker,
  createTodoList,
  createTools,
  createWorkspace,
  foldHistory,
  openRuntime,
  runAgentLoop,
  runSession,
  stableCallId,
} from "../../packages/agent-runtime/src/index.ts"
