/** The sessions an agent spawned: one for each call, found again after a pause, a cancel or a crash, and gone on with. */
import type { EventData, Session, SessionId } from "@ku0/agent-runtime-core"
import type { KnownSession, SpawnedSession, SpawnSession } from "@ku0/agent-runtime-execution"
import type { HeldSession } from "./hold-session.js"
import type { Runtime } from "./open-runtime.js"

export interface AgentChildren {
  readonly spawnSession: SpawnSession
  findSession(callId: string): Promise<KnownSession | undefined>
}

export interface CreateAgentChildrenOptions {
  /** Runs a child from where it stands; with a prompt if it has not begun. */
  readonly run: (child: Session, callId: string, ...context: Parameters<SpawnedSession["run"]>) => RunOfChild
  readonly nameFrom: (task: string) => string
}

type RunOfChild = ReturnType<SpawnedSession["run"]>

export function createAgentChildren(
  runtime: Runtime,
  held: HeldSession,
  options: CreateAgentChildrenOptions,
): AgentChildren {
  const { store } = runtime

  async function find(callId: string): Promise<{ child: Session; isAnnounced: boolean } | undefined> {
    const announced = await findAnnounced(runtime, held.id, callId)
    const spawned = announced && (await store.sessions.find(announced))
    if (spawned !== undefined) return { child: spawned, isAnnounced: true }
    const silent = await findSilent(runtime, held.id, callId)
    return silent && { child: silent, isAnnounced: false }
  }

  return {
    async spawnSession({ callId, agentType, task }) {
      const known = await find(callId)
      const child =
        known?.child ??
        (await store.sessions.create({
          workspacePath: (await store.sessions.get(held.id)).workspacePath,
          name: options.nameFrom(task),
          agentType,
          taskDescription: task,
          metadata: { spawnedBy: held.id, spawnCallId: callId },
        }))
      return {
        sessionId: child.id,
        isAnnounced: known?.isAnnounced ?? false,
        async run(signal, onProgress) {
          // it came to its end before we did: what it said is in its log
          if (child.status === "completed") {
            return { outcome: "completed", content: await lastAnswer(runtime, child.id) }
          }
          return await options.run(child, callId, signal, onProgress)
        },
      }
    },
    async findSession(callId) {
      const known = await find(callId)
      return known && { sessionId: known.child.id, status: known.child.status, messageCount: known.child.messageCount }
    },
  }
}

/**
 * The child of this call that the history speaks of. After a rewind the same call may come again: what it spawned then
 * is not in the history any more. A branch has children of its own.
 */
async function findAnnounced({ store }: Runtime, parent: SessionId, callId: string): Promise<SessionId | undefined> {
  let found: SessionId | undefined
  for await (const entry of store.log.history(await store.log.head(parent), { types: ["agent:spawned"] })) {
    const { callId: of, sessionId } = (entry.data ?? {}) as Partial<EventData<"agent:spawned">>
    if (of === callId && entry.sessionId === parent) found = sessionId as SessionId
  }
  return found
}

/** A child of this call whose parent died before it could say so. */
async function findSilent(runtime: Runtime, parent: SessionId, callId: string): Promise<Session | undefined> {
  const { store } = runtime
  const { workspacePath, createdAt } = await store.sessions.get(parent)
  let before: SessionId | undefined
  for (;;) {
    const page = await store.sessions.list({ workspacePath, limit: 1_000, ...(before && { before }) })
    for (const session of page) {
      const { spawnedBy, spawnCallId } = session.metadata
      const isOfCall = spawnedBy === parent && spawnCallId === callId
      if (isOfCall && !(await isSpokenOf(runtime, parent, session.id))) return session
    }
    const last = page.at(-1)
    if (last === undefined || last.createdAt < createdAt) return undefined
    before = last.id
  }
}

async function isSpokenOf({ store }: Runtime, parent: SessionId, child: SessionId): Promise<boolean> {
  for (let after = 0; ; ) {
    const page = await store.log.read(parent, { types: ["agent:spawned"], after })
    if (page.some(({ data }) => (data as EventData<"agent:spawned"> | null)?.sessionId === child)) return true
    const last = page.at(-1)
    if (last === undefined) return false
    after = last.seq
  }
}

async function lastAnswer({ store }: Runtime, sessionId: SessionId): Promise<string> {
  const [newest] = await store.log.lastMessages(await store.log.head(sessionId), 1)
  return newest?.message.role === "assistant" ? newest.message.content : ""
}
