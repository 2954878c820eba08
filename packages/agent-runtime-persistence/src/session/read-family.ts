/** A session with all it branched from and all that branched from it: their places in short, for a picture of them. */
import type { CheckpointId, CheckpointTrigger, EntryRef, Session, SessionId } from "@ku0/agent-runtime-core"
import type { Store } from "../store/open-store.js"
import { toListedSession } from "../store/rows.js"
import { historyRanges } from "./history-ranges.js"

/** Where a session's own history goes on from elsewhere: its first entry if it is a branch, and every restore. */
export interface HistoryJump {
  readonly seq: number
  readonly to: EntryRef
}

export interface FamilyCheckpoint extends EntryRef {
  readonly id: CheckpointId
  readonly number: number
  readonly name: string | null
  readonly trigger: CheckpointTrigger
  readonly messageIndex: number
  readonly createdAt: number
  readonly pinned: boolean
  /** Compared with the snapshot before; `undefined` if it holds no files. */
  readonly filesChanged: number | undefined
}

export interface FamilyMember {
  readonly id: SessionId
  /** `undefined`: it was deleted; a branch still shares its entries. */
  readonly session: Session | undefined
  readonly jumps: readonly HistoryJump[]
  /** By `seq`. */
  readonly checkpoints: readonly FamilyCheckpoint[]
}

/** Oldest first; at most `limit` members, those nearest to the session. */
export async function readFamily(store: Store, sessionId: SessionId, limit = 500): Promise<FamilyMember[]> {
  const members = new Map<SessionId, FamilyMember>()
  const wanted = new Set([sessionId])
  for (const id of wanted) {
    const member = await readMember(store, id)
    if (member === undefined) continue
    members.set(id, member)
    if (members.size >= limit) break
    for (const { to } of member.jumps) wanted.add(to.sessionId)
    const branches = await store.context.driver.all(
      "SELECT DISTINCT session_id FROM entries WHERE parent_session_id = ? ORDER BY session_id LIMIT ?",
      [id, limit],
    )
    for (const row of branches) wanted.add(row["session_id"] as SessionId)
  }
  return [...members.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** The last entry two histories share. */
export async function findCommonEntry(
  { context }: Store,
  one: EntryRef,
  other: EntryRef,
): Promise<EntryRef | undefined> {
  const ends = new Map<SessionId, { from: number; to: number }[]>()
  for await (const { sessionId, from, to } of historyRanges(context.driver, one)) {
    ends.set(sessionId, [...(ends.get(sessionId) ?? []), { from, to }])
  }
  for await (const { sessionId, from, to } of historyRanges(context.driver, other)) {
    const shared = (ends.get(sessionId) ?? [])
      .map((range) => ({ first: Math.max(range.from, from), last: Math.min(range.to, to) }))
      .filter(({ first, last }) => first <= last)
      .map(({ last }) => last)
    if (shared.length > 0) return { sessionId, seq: Math.max(...shared) }
  }
  return undefined
}

async function readMember({ context }: Store, id: SessionId): Promise<FamilyMember | undefined> {
  const { driver } = context
  const row = await driver.get("SELECT * FROM sessions WHERE id = ?", [id])
  if (row === undefined) return undefined
  const jumps = await driver.all(
    `SELECT seq, parent_session_id, parent_seq FROM entries WHERE session_id = ? AND parent_seq IS NOT NULL ORDER BY seq`,
    [id],
  )
  const checkpoints = await driver.all(
    `SELECT id, number, name, trigger_event, entry_seq, message_index, created_at, pinned, snapshot
     FROM session_checkpoints WHERE session_id = ? ORDER BY entry_seq, number`,
    [id],
  )
  return {
    id,
    session: row["deleted_at"] === null ? toListedSession(row) : undefined,
    jumps: jumps.map((jump) => ({
      seq: Number(jump["seq"]),
      to: { sessionId: jump["parent_session_id"] as SessionId, seq: Number(jump["parent_seq"]) },
    })),
    checkpoints: checkpoints.map((one) => ({
      id: one["id"] as CheckpointId,
      sessionId: id,
      seq: Number(one["entry_seq"]),
      number: Number(one["number"]),
      name: one["name"] as string | null,
      trigger: one["trigger_event"] as CheckpointTrigger,
      messageIndex: Number(one["message_index"]),
      createdAt: Number(one["created_at"]),
      pinned: Number(one["pinned"]) === 1,
      filesChanged: one["snapshot"] === null ? undefined : JSON.parse(one["snapshot"] as string).filesChanged,
    })),
  }
}
