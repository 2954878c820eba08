/** Who holds a session and its workspace now. */
import type { Runtime, Session } from "@ku0/agent-runtime"
import type { Guard, Holder, ListedSession } from "../api.js"
import { holderToJson, listedSession } from "./shapes.js"

export async function readHolder({ store }: Runtime, sessionId: string): Promise<Holder | null> {
  return holderToJson(await store.leases.find(`session:${sessionId}`))
}

export async function readGuard(runtime: Runtime, { id, workspacePath }: Session): Promise<Guard> {
  const { leases } = runtime.store
  return {
    session: holderToJson(await leases.find(`session:${id}`)),
    workspace: holderToJson(await leases.find(`workspace:${workspacePath}`)),
  }
}

export async function listWithHolders(runtime: Runtime, sessions: readonly Session[]): Promise<ListedSession[]> {
  const listed: ListedSession[] = []
  for (const session of sessions) listed.push(listedSession(session, await readHolder(runtime, session.id)))
  return listed
}
