/** Asking a running session to stop at its next safe point, from any process. The request is kept with the session. */
import { KeepupError, type Session, type SessionId, shortId } from "@ku0/agent-runtime-core"
import { pauseMark } from "@ku0/agent-runtime-persistence"
import type { Runtime } from "./open-runtime.js"

/** Asks; the session pauses when it next can. Refused if nobody runs it. */
export async function requestPause(runtime: Runtime, sessionId: SessionId): Promise<Session> {
  const { store } = runtime
  const lease = await store.leases.find(`session:${sessionId}`)
  if (lease === undefined) {
    const { name, status } = await store.sessions.get(sessionId)
    const what = `Session ${shortId(sessionId)} ${JSON.stringify(name)} is ${status}, and no process works in it`
    throw new KeepupError("CONFLICT", `${what}: there is nothing to pause.`, {
      hint: `Go on with it: keepup resume ${shortId(sessionId)}`,
    })
  }
  return await store.sessions.updateMetadata(sessionId, { [pauseMark]: store.context.clock.now() })
}

export async function isPauseRequested(runtime: Runtime, sessionId: SessionId): Promise<boolean> {
  return (await runtime.store.sessions.get(sessionId)).metadata[pauseMark] !== undefined
}

/** A request is for the run it was made in, not for the next one. */
export async function withdrawPause(runtime: Runtime, sessionId: SessionId): Promise<void> {
  if (await isPauseRequested(runtime, sessionId))
    await runtime.store.sessions.updateMetadata(sessionId, { [pauseMark]: undefined })
}
