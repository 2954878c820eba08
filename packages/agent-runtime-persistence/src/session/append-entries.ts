/**
 * The only writer of entries. Runs inside a transaction of its caller, so that a checkpoint's row and its entries stand
 * or fall together: reads the session under a lock, checks lease and phase, gives each entry the next `seq`.
 */
import {
  type AppendOptions,
  describeValue,
  type Entry,
  type EntryDraft,
  type EntryRef,
  eventTable,
  findEventProblem,
  isKnownEvent,
  isWrittenByStore,
  KeepupError,
  nextPhase,
  normalizeEventName,
  type Session,
  type SessionId,
  type SessionPhase,
  statusOfPhase,
} from "@ku0/agent-runtime-core"
import { encodeBlob, putBlob } from "../state/blob-store.js"
import { largestTime } from "../store/largest-time.js"
import { checksumOf } from "../store/row-checksum.js"
import { toEntry, toJson } from "../store/rows.js"
import type { SqlRunner, SqlValue } from "../store/sql-driver.js"
import type { StoreContext } from "../store/store-context.js"
import { checkLease } from "./check-lease.js"
import { loadEntry } from "./load-entry.js"

/** Entries whose JSON is longer than this are kept as compressed values. */
const inlineLimit = 1_000_000

/** What a file that takes the entry elsewhere can hold. */
const largestVersion = 2 ** 31 - 1

const insertEntry = `INSERT INTO entries
  (session_id, seq, type, version, data, blob_hash, created_at, message_index, parent_session_id, parent_seq, checksum)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

/** The answer to whoever names a session that is not there. */
export function noSession(id: string): KeepupError {
  return new KeepupError("NOT_FOUND", `There is no session ${id}.`, {
    hint: "`keepup session list` shows what there is.",
  })
}

/** What an append has to know of a session. */
export type SessionHead = Pick<Session, "id" | "phase" | "headSeq" | "messageCount" | "updatedAt">

export interface LockedSession extends SessionHead {
  readonly lastCheckpointNumber: number
}

/** What writers need of a session's row, which is locked until the transaction ends. */
export async function lockSession(context: StoreContext, tx: SqlRunner, id: SessionId): Promise<LockedSession> {
  const row = await tx.get(
    `SELECT phase, head_seq, message_count, updated_at, last_checkpoint_number FROM sessions
     WHERE id = ? AND deleted_at IS NULL${context.driver.forUpdate}`,
    [id],
  )
  if (row === undefined) throw noSession(id)
  return {
    id,
    phase: row["phase"] as SessionPhase,
    headSeq: Number(row["head_seq"]),
    messageCount: Number(row["message_count"]),
    updatedAt: Number(row["updated_at"]),
    lastCheckpointNumber: Number(row["last_checkpoint_number"]),
  }
}

export async function appendEntries(
  context: StoreContext,
  tx: SqlRunner,
  session: SessionHead,
  drafts: readonly EntryDraft[],
  options: AppendOptions,
): Promise<Entry[]> {
  await checkLease(context, tx, session.id, options.lease)
  const at = options.at ?? session.headSeq + 1
  if (!Number.isSafeInteger(at) || at > session.headSeq + 1 || at < 1) {
    throw new KeepupError(
      "CONFLICT",
      `Session ${session.id} stands at entry ${session.headSeq}; an entry can't be put at ${at}.`,
      {
        hint: "Reload the session and append after its head.",
        details: { head: session.headSeq, at },
      },
    )
  }
  const entries: Entry[] = []
  const fresh: Entry[] = []
  let phase: SessionPhase = session.phase
  let messageIndex = session.messageCount
  for (const [offset, draft] of drafts.entries()) {
    const seq = at + offset
    if (seq <= session.headSeq) {
      entries.push(await acceptSame(tx, session.id, seq, draft))
      continue
    }
    phase = phaseAfter(session.id, phase, draft)
    if (draft.parent !== undefined) {
      messageIndex = await messageIndexOf(context, tx, draft.parent, { sessionId: session.id, seq })
      phase = nextPhase("idle", draft.type, draft.data) ?? "idle" // as the fold has it: who goes on from elsewhere is at rest
    }
    if (draft.type === "message:added") messageIndex++
    const entry = await insert(context, tx, session.id, seq, draft, messageIndex)
    entries.push(entry)
    fresh.push(entry)
  }
  if (fresh.length > 0) await moveHead(context, tx, session, fresh.at(-1) as Entry, phase)
  return entries
}

async function insert(
  context: StoreContext,
  tx: SqlRunner,
  sessionId: SessionId,
  seq: number,
  draft: EntryDraft,
  messageIndex: number,
): Promise<Entry> {
  const { type, text } = checkDraft(draft)
  requireKnownVersion(draft)
  if ((seq === 1) !== (type === "session:started")) {
    throw new KeepupError("INVALID_INPUT", `${type} can't be entry ${seq} of a session: session:started begins it.`)
  }
  const createdAt = draft.createdAt ?? context.clock.now()
  let data: SqlValue = text
  let blobHash: SqlValue = null
  if (text.length > inlineLimit) {
    const blob = await encodeBlob(Buffer.from(text))
    await putBlob(tx, blob, createdAt)
    data = null
    blobHash = blob.hash
  }
  const parent = draft.parent ?? null
  const version = draft.version ?? 1
  const place: SqlValue[] = [messageIndex, parent?.sessionId ?? null, parent?.seq ?? null]
  const values: SqlValue[] = [sessionId, seq, type, version, data, blobHash, createdAt, ...place]
  await tx.run(insertEntry, [...values, checksumOf(values)])
  return { sessionId, seq, type, version, data: draft.data, createdAt, messageIndex, parent }
}

async function moveHead(
  context: StoreContext,
  tx: SqlRunner,
  session: SessionHead,
  head: Entry,
  phase: SessionPhase,
): Promise<void> {
  const now = Math.max(session.updatedAt, context.clock.now())
  await tx.run(
    "UPDATE sessions SET head_seq = ?, message_count = ?, phase = ?, status = ?, updated_at = ? WHERE id = ?",
    [head.seq, head.messageIndex, phase, statusOfPhase(phase), now, session.id],
  )
}

function checkDraft(draft: EntryDraft): { type: string; text: string } {
  const type = normalizeEventName(draft.type)
  if (type === undefined || type !== draft.type) {
    throw new KeepupError("INVALID_INPUT", `Not the name of an entry: ${describeValue(draft.type)}.`, {
      hint: "Names look like subject:fact, in lower case, for example run:ended, with at most 200 characters.",
    })
  }
  const { version = 1, createdAt = 0 } = draft
  const isVersion = Number.isSafeInteger(version) && version > 0 && version <= largestVersion
  if (!(isVersion && Number.isSafeInteger(createdAt) && Math.abs(createdAt) <= largestTime)) {
    throw new KeepupError("INVALID_INPUT", `The version and the time of ${type} must be whole numbers, and possible.`)
  }
  const text = toJson(draft.data, `data of ${type}`)
  requireUnderstood(draft)
  return { type, text }
}

/** Nobody here could read what a newer keepup would say in it. */
function requireKnownVersion({ type, version = 1 }: EntryDraft): void {
  if (!isKnownEvent(type) || version <= eventTable[type].version) return
  throw new KeepupError("INVALID_INPUT", `There is no version ${version} of ${type} yet.`)
}

/** For the borders where others hand drafts over. */
export function refuseOwnEvents(drafts: readonly EntryDraft[]): void {
  const own = drafts.find(({ type }) => isWrittenByStore(type))
  if (own === undefined) return
  throw new KeepupError("INVALID_INPUT", `${own.type} is written by keepup itself.`, {
    hint: "Nothing was kept. Make a session or a checkpoint, or hand state over, and the entry comes with it.",
  })
}

/** What folds, restores and checkpoints can't understand would stop them at this entry for ever. */
function requireUnderstood({ type, data }: EntryDraft): void {
  const problem = findEventProblem(type, data)
  if (problem === undefined) return
  throw new KeepupError("INVALID_INPUT", `The data of ${type} can't be understood (${problem}).`, {
    hint: "Nothing was kept. Check events from outside with parseEvent before they are appended.",
  })
}

function phaseAfter(sessionId: SessionId, phase: SessionPhase, draft: EntryDraft): SessionPhase {
  const next = nextPhase(phase, draft.type, draft.data)
  if (next !== undefined) return next
  throw new KeepupError("CONFLICT", `Session ${sessionId} is ${phase}; ${draft.type} can't happen now.`, {
    hint: "Reload the session.",
    details: { phase, type: draft.type },
  })
}

async function acceptSame(tx: SqlRunner, sessionId: SessionId, seq: number, draft: EntryDraft): Promise<Entry> {
  const { type, text } = checkDraft(draft)
  const stored = await loadEntry(tx, { sessionId, seq })
  const isSame =
    stored !== undefined &&
    stored.row["type"] === type &&
    Number(stored.row["version"]) === (draft.version ?? 1) &&
    stored.text === text &&
    (stored.row["parent_session_id"] ?? null) === (draft.parent?.sessionId ?? null) &&
    (stored.row["parent_seq"] ?? null) === (draft.parent?.seq ?? null)
  if (isSame) return toEntry(stored.row, stored.text)
  throw new KeepupError("CONFLICT", `Session ${sessionId} has another entry at ${seq} already.`, {
    hint: "Reload the session and append after its head.",
    details: { seq },
  })
}

/** How many messages lead to the entry a jump starts from. The entry must exist and be older than the jump. */
async function messageIndexOf(
  context: StoreContext,
  tx: SqlRunner,
  parent: EntryRef,
  child: EntryRef,
): Promise<number> {
  // whoever deletes the other session waits for us, and then finds our branch; or we wait, and find nothing
  if (parent.sessionId !== child.sessionId) {
    await tx.get(`SELECT id FROM sessions WHERE id = ?${context.driver.forUpdate}`, [parent.sessionId])
  }
  const row = await tx.get("SELECT message_index FROM entries WHERE session_id = ? AND seq = ?", [
    parent.sessionId,
    parent.seq,
  ])
  if (row === undefined || (parent.sessionId === child.sessionId && parent.seq >= child.seq)) {
    throw new KeepupError(
      "NOT_FOUND",
      `There is no entry ${parent.seq} in session ${parent.sessionId} to continue from.`,
    )
  }
  return Number(row["message_index"])
}
