/** The tools of the built-in agent, wired to one session. */
import { createHash, randomUUID } from "node:crypto"
import type { ArtifactId, SessionId, Tool } from "@ku0/agent-runtime-core"
import {
  type ApprovalOptions,
  createApproval,
  createFileContextTracker,
  createTodoList,
  createTools,
  createWorkspace,
  type FileContextTracker,
  type KeepArtifact,
  type KnownSession,
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
  /** What its rules hide from the agent, lists and searches hide too. */
  readonly approval?: ApprovalOptions
  readonly spawnSession: SpawnSession
  readonly findSession: (callId: string) => Promise<KnownSession | undefined>
}

export function createAgentTools(runtime: Runtime, held: HeldSession, options: CreateAgentToolsOptions): AgentTools {
  const { workspacePath, state, spawnSession, findSession } = options
  const tracker = createFileContextTracker({ workspacePath, eventBus: held.bus, state: state["fileContext"] })
  const workspace = createWorkspace({ workspacePath, protectedPaths: [runtime.stateDirectory] })
  const todo = createTodoList(state["todo"])
  const tools = createTools({
    workspace,
    context: tracker.getHandle(held.id),
    todo,
    env: definedOnly(runtime.environment),
    keepArtifact: keepArtifact(runtime, held.id),
    spawn: { spawnSession, findSession, emit: held.emit },
    ...(options.approval && { approval: createApproval(options.approval) }),
  })
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
        // after a rewind the same call may come again in the same session, with another output
        idempotencyKey: `output ${callId} ${createHash("sha256").update(content).digest("hex")}`,
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
