/** Hands a part of the work to an agent of its own, in a session of its own. Nobody hears of it before it is in the log. */
import { type Emit, event, type Tool } from "@ku0/agent-runtime-core"
import { type ArgumentSchema, parseArguments, toParameters } from "./parse-arguments.js"

const schema: ArgumentSchema = {
  type: "object",
  properties: {
    task: { type: "string", description: "What to do, with everything the other agent must know" },
    agentType: { type: "string", description: "What kind of agent; the usual one if left out" },
  },
  required: ["task"],
}

interface Arguments {
  readonly task: string
  readonly agentType?: string | null
}

export interface SpawnedSession {
  readonly sessionId: string
  /** The log says already that it was spawned: the call goes on with it. */
  readonly isAnnounced?: boolean
  /** Runs it to its end, from where it stands. Rejects only if that can't be told. */
  run(signal: AbortSignal, onProgress: (text: string) => void): Promise<{ outcome: string; content: string }>
}

/** Makes the child session; the same call id gives the same session again, also after a crash. */
export type SpawnSession = (request: { callId: string; agentType: string; task: string }) => Promise<SpawnedSession>

export interface SpawnAgentOptions {
  readonly spawnSession: SpawnSession
  readonly emit: Emit
  /** The session an earlier try of this call made, if any. May throw. */
  readonly findSession?: (callId: string) => Promise<KnownSession | undefined>
}

export interface KnownSession {
  readonly sessionId: string
  readonly status: string
  readonly messageCount: number
}

/** How a session ends that can go on: the call has no result yet, and goes on with it. */
const onTheWay: readonly string[] = ["paused", "cancelled", "in-doubt"]

export function createSpawnAgentTool(options: SpawnAgentOptions): Tool {
  return {
    name: "spawn_agent",
    description: "Let another agent do a part of the work on its own and tell you the result.",
    parameters: toParameters(schema),
    hasEffects: true,
    stopsByItself: true,
    async inspect(_args, callId) {
      if (options.findSession === undefined) return { summary: "Whether the other agent was started is not known." }
      const child = await options.findSession(callId)
      if (child === undefined) return { summary: "The other agent was not started.", isApplied: false }
      const { sessionId, status, messageCount } = child
      const isApplied = status === "completed"
      const next = isApplied ? "A retry gives its answer." : "A retry goes on with it; no second one is started."
      return {
        summary: `The other agent's session ${sessionId} is ${status}, at message ${messageCount}. ${next}`,
        isApplied,
      }
    },
    async run(args, { callId, signal, onProgress }) {
      const { task, agentType } = parseArguments<Arguments>(schema, args)
      const type = agentType ?? "agent"
      const child = await options.spawnSession({ callId, agentType: type, task })
      const { sessionId } = child
      if (child.isAnnounced !== true) {
        await options.emit([event("agent:spawned", { agentType: type, sessionId, task, callId })])
      }
      const { outcome, content } = await child.run(signal, onProgress)
      if (onTheWay.includes(outcome)) return { content: `(Session ${sessionId}: ${outcome}.)`, isPaused: true }
      return {
        content: `${content}\n(Session ${sessionId}: ${outcome}.)`,
        ...(outcome === "completed" ? {} : { isError: true }),
      }
    },
  }
}
