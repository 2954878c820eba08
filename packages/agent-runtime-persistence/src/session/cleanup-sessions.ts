/** Closes sessions whose holder died, and takes old ended ones away. Says what it did, or would do. */
import { isKeepupError, type Session, type SessionId } from "@ku0/agent-runtime-core"
import type { Store } from "../store/open-store.js"
import { toSession } from "../store/rows.js"
import { isHeld, type LeaseRow, leaseName, sharedNow, toLeaseRow } from "./lease-row.js"
import { damagedMark } from "./session-marks.js"

export interface CleanupSessionsOptions {
  /** Takes ended sessions away that were last touched longer ago than this. None if not given. */
  readonly olderThanMs?: number
  readonly dryRun?: boolean
}

export interface CleanupSessionsResult {
  readonly interrupted: readonly Session[]
  readonly removed: readonly Session[]
  /** Sessions that changed under our hands, and why they were left alone. */
  readonly left: readonly { readonly session: Session; readonly reason: string }[]
}

const ended: readonly Session["status"][] = ["completed", "failed", "stopped"]

export async function cleanupSessions(
  store: Store,
  options: CleanupSessionsOptions = {},
): Promise<CleanupSessionsResult> {
  const { context } = store
  const interrupted: Session[] = []
  const removed: Session[] = []
  const left: { session: Session; reason: string }[] = []
  const cutoff = options.olderThanMs === undefined ? undefined : context.clock.now() - options.olderThanMs

  async function attempt(session: Session, list: Session[], work: () => Promise<unknown>): Promise<void> {
    try {
      if (options.dryRun !== true) await work()
      list.push(session)
    } catch (error) {
      if (!isKeepupError(error)) throw error
      left.push({ session, reason: error.message })
    }
  }

  for (const session of cutoff === undefined ? await listActive(store) : await allSessions(store)) {
    const lease = await findLeaseRow(store, session.id)
    const isLive = lease !== undefined && (await isHeld(lease, await sharedNow(context, context.driver), context.host))
    if (session.metadata[damagedMark] !== undefined) continue // left to the doctor
    if (session.phase === "restoring") continue // its restore is settled first; that ends the phase
    if (session.status === "active" && !isLive && (session.phase === "running" || lease?.holderId)) {
      await attempt(session, interrupted, () => markInterrupted(store, session, lease))
    } else if (cutoff !== undefined && !isLive && ended.includes(session.status) && session.updatedAt < cutoff) {
      await attempt(session, removed, () => store.sessions.delete(session.id))
    }
  }
  return { interrupted, removed, left }
}

async function markInterrupted(store: Store, session: Session, lease: LeaseRow | undefined): Promise<void> {
  const holder =
    lease === undefined ? {} : { holder: `${lease.purpose} (pid ${lease.pid} on ${lease.host.split("/")[0]})` }
  const data = { reason: "The process that held it is gone.", ...holder }
  await store.log.append(session.id, [{ type: "session:interrupted", data }], { at: session.headSeq + 1 })
}

async function findLeaseRow(store: Store, id: SessionId): Promise<LeaseRow | undefined> {
  const row = await store.context.driver.get("SELECT * FROM leases WHERE resource = ?", [leaseName("session", id)])
  return row === undefined ? undefined : toLeaseRow(row)
}

/**
 * Those that may have lost their holder, without a look at any other: there may be very many, and this is done at every
 * start. One whose row can't be read is left to the doctor.
 */
async function listActive({ context }: Store): Promise<Session[]> {
  const rows = await context.driver.all(
    `SELECT * FROM sessions WHERE deleted_at IS NULL AND status = 'active' AND (phase = 'running' OR EXISTS
       (SELECT 1 FROM leases WHERE resource = 'session:' || sessions.id AND holder_id IS NOT NULL)) ORDER BY ordinal DESC`,
  )
  return rows.flatMap((row) => {
    try {
      return [toSession(row)]
    } catch (error) {
      if (!isKeepupError(error)) throw error
      return []
    }
  })
}

/** All of them before any is taken away: the last one of a page says where the next begins. */
async function allSessions(store: Store): Promise<Session[]> {
  const all: Session[] = []
  for (let page = await store.sessions.list({ limit: 500 }); page.length > 0; ) {
    all.push(...page)
    page = await store.sessions.list({ limit: 500, before: (page.at(-1) as Session).id })
  }
  return all
}
