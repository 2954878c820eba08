/**
 * Brings sessions that died back to a clean head: half restores are settled, tool calls in flight become in doubt, and
 * the session waits, paused, to be resumed.
 */
import {
  type EntryDraft,
  event,
  isKeepupError,
  type Session,
  type SessionId,
  type ToolCall,
} from "@ku0/agent-runtime-core"
import { cleanupSessions } from "../session/cleanup-sessions.js"
import { leaseName } from "../session/lease-row.js"
import type { TimeTravelContext } from "../time-travel/time-travel-context.js"
import { clearNotes } from "./clear-notes.js"
import { settleImports } from "./settle-imports.js"
import { type SettledRestore, settleRestores } from "./settle-restores.js"
import { settleRewinds } from "./settle-rewinds.js"

export interface RecoveredSession {
  readonly session: Session
  /** Calls that had started and whose outcome is not known. */
  readonly inDoubt: readonly ToolCall[]
}

export interface RecoverResult {
  readonly restores: readonly SettledRestore[]
  readonly sessions: readonly RecoveredSession[]
  /** Branches of a rewind that never got their files, taken away again. */
  readonly branches: readonly Session[]
  /** Sessions of imports that were broken off, taken away again. */
  readonly imports: readonly SessionId[]
}

/** Finds what died and closes it properly. Costs next to nothing when nothing did. */
export async function recoverAll(context: TimeTravelContext): Promise<RecoverResult> {
  const restores = await settleRestores(context)
  const branches = await settleRewinds(context)
  const imports = await settleImports(context)
  const { interrupted } = await cleanupSessions(context.store)
  await clearNotes(context, interrupted)
  const sessions: RecoveredSession[] = []
  for (const { id } of interrupted) {
    const recovered = await recoverSession(context, id).catch((error) => leaveInterrupted(context, id, error))
    if (recovered !== undefined) sessions.push(recovered)
  }
  return { restores, sessions, branches, imports }
}

/** One that can't be recovered is no reason to leave all others as they are. It stays interrupted, and its log says why. */
async function leaveInterrupted({ store }: TimeTravelContext, id: SessionId, error: unknown): Promise<undefined> {
  if (!isKeepupError(error)) throw error
  await store.sessions.addLog(id, "error", `It could not be recovered: ${error.message}`)
}

/** Closes the open ends of one interrupted session. */
export async function recoverSession({ store }: TimeTravelContext, id: SessionId): Promise<RecoveredSession> {
  const lease = await store.leases.take(leaseName("session", id), { purpose: "recover" })
  try {
    const { openToolCalls } = await store.log.fold(await store.log.head(id))
    const drafts: EntryDraft[] = openToolCalls.map((call) =>
      event("tool:in-doubt", { callId: call.id, name: call.name, arguments: call.arguments }),
    )
    drafts.push(event("session:recovered", { inDoubt: openToolCalls.map((call) => call.id) }))
    await store.log.append(id, drafts, { lease })
    return { session: await store.sessions.get(id), inDoubt: openToolCalls }
  } finally {
    await lease.release()
  }
}
