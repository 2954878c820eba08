/** The tools of the built-in agent, wired to one session. */
import { randomUUID } from "node:crypto"
import type { ArtifactId, SessionId, Tool } from "@ku0/agent-runtime-core"
import {
  createEditFileTool,
  createFileContextTracker,
  createListFilesTool,
  createReadFileTool,
  createRunCommandTool,
  createSearchFilesTool,
  createSpawnAgentTool,
  createTodoList,
  createTodoListTool,
  createWorkspace,
  createWriteFileTool,
  type FileContextTracker,
  type KeepArtifact,
  type SpawnSession,
  type TodoList,
} from "@ku0/agent-runtime-execution"
import type { HeldSession } from "./hold-session.js"
import type { Runtime } from "./open-runtime.js"

export interface AgentTools {
  readonly tools: readonly Tool[]
  readonly tracker: FileContextTracker
  readonly todo: TodoList
}

export interface CreateAgentToolsOptions {
  readonly workspacePath: string
  /** What the session handed over before: the file context and the todo list among it. */
  readonly state: Readonly<Record<string, unknown>>
  readonly spawnSession: SpawnSession
  readonly findSession: (callId: string) => Promise<{ sessionId: string; status: string } | undefined>
}

export function createAgentTools(runtime: Runtime, held: HeldSession, options: CreateAgentToolsOptions): AgentTools {
  const { workspacePath, state, spawnSession, findSession } = options
  const tracker = createFileContextTracker({ workspacePath, eventBus: held.bus, state: state["fileContext"] })
  const workspace = createWorkspace({ workspacePath, protectedPaths: [runtime.stateDirectory] })
  const files = { workspace, context: tracker.getHandle(held.id) }
  const todo = createTodoList(state["todo"])
  const env = definedOnly(runtime.environment)
  const tools = [
    createReadFileTool(files),
    createWriteFileTool(files),
    createEditFileTool(files),
    createListFilesTool({ workspace }),
    createSearchFilesTool({ workspace, env }),
    createRunCommandTool({ workspace, env, keepArtifact: keepArtifact(runtime, held.id) }),
    createTodoListTool(todo),
    createSpawnAgentTool({ spawnSession, findSession, emit: held.emit }),
  ]
  return { tools, tracker, todo }
}

function keepArtifact(runtime: Runtime, sessionId: SessionId): KeepArtifact {
  return async ({ callId, title, mediaType, content }) => {
    const artifact = await runtime.store.artifacts.put(
      {
        id: randomUUID() as string as ArtifactId,
        sessionId,
        type: "Output",
        schemaVersion: "1.0.0",
        title,
        taskNodeId: callId,
        mediaType,
        createdAt: runtime.store.context.clock.now(),
        quarantine: null,
        renderHints: null,
        idempotencyKey: `output ${callId}`,
      },
      content,
    )
    return { id: artifact.id }
  }
}

function definedOnly(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((pair): pair is [string, string] => pair[1] !== undefined),
  )
}
