/** Checkpoint records: the row and its entry in one transaction, together with what belongs to the same step. */
import {
  type Checkpoint,
  type CheckpointId,
  type CheckpointStore,
  type CreateCheckpointOptions,
  checkpointTriggers,
  type Entry,
  type EntryDraft,
  type EventData,
  event,
  KeepupError,
  type Lease,
  type SessionId,
} from "@ku0/agent-runtime-core"
import { appendEntries, lockSession, refuseOwnEvents } from "../session/append-entries.js"
import { draftStateAfter, type PreparedState, prepareState } from "../state/state-store.js"
import { pageLimit } from "../store/page-limit.js"
import { checksumOf } from "../store/row-checksum.js"
import { plainText, toCheckpoint, toJson, toListedCheckpoint } from "../store/rows.js"
import type { SqlRunner } from "../store/sql-driver.js"
import type { StoreContext } from "../store/store-context.js"

const defaultLimit = 50
const largestLimit = 1_000

const insertRow = `INSERT INTO session_checkpoints
  (id, session_id, number, name, note, entry_seq, message_index, trigger_event, git_branch, git_head, git_uncommitted,
   git_untracked, git_operation, snapshot, host, pinned, size_bytes, metadata, created_at, checksum)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

export interface KeepCheckpointOptions extends CreateCheckpointOptions {
  /** What stands or falls with it: done after it, in the same transaction. */
  readonly alongside?: (tx: SqlRunner) => Promise<void>
}

export interface OpenCheckpointStore extends CheckpointStore {
  create(options: KeepCheckpointOptions): Promise<Checkpoint>
}

export function createCheckpointStore(context: StoreContext): OpenCheckpointStore {
  const { driver } = context

  async function create(options: KeepCheckpointOptions): Promise<Checkpoint> {
    const { sessionId, trigger, lease } = options
    if (!checkpointTriggers.includes(trigger)) throw notATrigger(trigger)
    const name = options.name === undefined ? null : parseNewName(options.name)
    refuseOwnEvents(options.entries ?? [])
    const state = await prepareState(options.state ?? {})
    const id = options.id ?? (context.ids.next() as CheckpointId)
    const checkpoint = await driver.transaction("checkpoint", async (tx) => {
      const session = await lockSession(context, tx, sessionId)
      if (name !== null) await refuseTakenName(tx, sessionId, name)
      const number = session.lastCheckpointNumber + 1
      const entries = options.entries ?? []
      const changed = state.length === 0 ? [] : await draftStateAfter(context, tx, session, entries, state)
      const created: EntryDraft = { type: "checkpoint:created", data: createdData({ id, number, trigger, name }) }
      const drafts = [...entries, ...changed, created]
      const entry = (await appendEntries(context, tx, session, drafts, lease === undefined ? {} : { lease })).at(-1)
      if (entry === undefined) throw new Error("BUG: a checkpoint without an entry")
      const record: Checkpoint = {
        id,
        number,
        name,
        note: options.note === undefined ? null : plainText(options.note),
        trigger,
        sessionId,
        entrySeq: entry.seq,
        messageIndex: entry.messageIndex,
        createdAt: entry.createdAt,
        pinned: false,
        sizeBytes: (options.sizeBytes ?? 0) + sizeOf(state, changed),
        host: context.host.split("/")[0] as string,
        snapshot: options.snapshot ?? null,
        git: options.git ?? null,
        metadata: options.metadata ?? {},
      }
      await insertCheckpoint(tx, record)
      await tx.run(
        "UPDATE sessions SET checkpoint_count = checkpoint_count + 1, last_checkpoint_number = ? WHERE id = ?",
        [number, sessionId],
      )
      await options.alongside?.(tx)
      return record
    })
    for (const wake of context.onAppended) wake(sessionId)
    return checkpoint
  }

  async function find(id: CheckpointId): Promise<Checkpoint | undefined> {
    const row = await driver.get("SELECT * FROM session_checkpoints WHERE id = ?", [id])
    return row === undefined ? undefined : toCheckpoint(row)
  }

  async function get(id: CheckpointId): Promise<Checkpoint> {
    const checkpoint = await find(id)
    if (checkpoint !== undefined) return checkpoint
    throw new KeepupError("NOT_FOUND", `There is no checkpoint ${id}.`, {
      hint: "`keepup checkpoint list` shows what there is.",
    })
  }

  async function resolve(sessionId: SessionId, reference: string): Promise<Checkpoint> {
    const found = await findAll(sessionId, reference.trim())
    const [only] = found
    if (only !== undefined && found.length === 1) return only
    if (only === undefined) {
      throw new KeepupError("NOT_FOUND", `Session ${sessionId} has no checkpoint ${reference}.`, {
        hint: "`keepup checkpoint list` shows what there is; use #n, a name, `latest`, or a part of an id.",
      })
    }
    throw new KeepupError("INVALID_INPUT", `More than one checkpoint matches ${reference}.`, {
      hint: `Give more of the id: ${found.map(({ id, number }) => `#${number} ${id}`).join(", ")}.`,
    })
  }

  /** A number and a name are sought before a part of an id, so that what people wrote wins over what we made. */
  async function findAll(sessionId: SessionId, reference: string): Promise<Checkpoint[]> {
    const select = (where: string, param: string | number, order = "") =>
      driver.all(`SELECT * FROM session_checkpoints WHERE session_id = ? AND ${where} ${order} LIMIT 5`, [
        sessionId,
        param,
      ])
    const numbered = /^#([0-9]{1,15})$/.exec(reference)
    let rows = numbered ? await select("number = ?", Number(numbered[1])) : await select("name = ?", reference)
    if (rows.length === 0 && reference === "latest")
      rows = (await select("number > ?", 0, "ORDER BY number DESC")).slice(0, 1)
    if (rows.length === 0 && /^[0-9a-f-]{4,36}$/.test(reference)) rows = await select("id LIKE ?", `%${reference}%`)
    return rows.map(toCheckpoint)
  }

  async function list(sessionId: SessionId, options: { limit?: number; before?: number } = {}): Promise<Checkpoint[]> {
    const rows = await driver.all(
      "SELECT * FROM session_checkpoints WHERE session_id = ? AND number < ? ORDER BY number DESC LIMIT ?",
      [sessionId, options.before ?? Number.MAX_SAFE_INTEGER, pageLimit(options.limit, defaultLimit, largestLimit)],
    )
    return rows.map(toListedCheckpoint)
  }

  async function setPinned(id: CheckpointId, pinned: boolean): Promise<Checkpoint> {
    await driver.run("UPDATE session_checkpoints SET pinned = ? WHERE id = ?", [pinned ? 1 : 0, id])
    return await get(id)
  }

  async function remove(ids: readonly CheckpointId[], options: { lease?: Lease } = {}): Promise<number> {
    const sessions = new Set<SessionId>()
    const count = await driver.transaction("delete-checkpoints", async (tx) => {
      const bySession = new Map<SessionId, CheckpointId[]>()
      for (const id of new Set(ids)) {
        const row = await tx.get("SELECT session_id FROM session_checkpoints WHERE id = ?", [id])
        if (row === undefined) continue
        const sessionId = row["session_id"] as SessionId
        bySession.set(sessionId, [...(bySession.get(sessionId) ?? []), id])
      }
      let removed = 0
      for (const [sessionId, gone] of [...bySession].toSorted()) {
        sessions.add(sessionId)
        removed += await removeOf(tx, sessionId, gone, options)
      }
      return removed
    })
    for (const id of sessions) for (const wake of context.onAppended) wake(id)
    return count
  }

  /** Of one session, with the entry that says so. A session that was deleted itself has nobody to tell. */
  async function removeOf(
    tx: SqlRunner,
    sessionId: SessionId,
    wanted: readonly CheckpointId[],
    options: { lease?: Lease },
  ): Promise<number> {
    const isThere = await tx.get("SELECT 1 FROM sessions WHERE id = ? AND deleted_at IS NULL", [sessionId])
    const session = isThere && (await lockSession(context, tx, sessionId))
    const gone: CheckpointId[] = []
    for (const id of wanted) {
      await refuseUnderWay(tx, id)
      if ((await tx.run("DELETE FROM session_checkpoints WHERE id = ?", [id])) > 0) gone.push(id) // else someone was faster
    }
    await tx.run("UPDATE sessions SET checkpoint_count = checkpoint_count - ? WHERE id = ?", [gone.length, sessionId])
    if (session === undefined || gone.length === 0) return gone.length
    await appendEntries(context, tx, session, [event("checkpoint:pruned", { checkpointIds: gone })], options)
    return gone.length
  }

  return { create, get, find, resolve, list, setPinned, delete: remove }
}

function createdData({ id, number, trigger, name }: Pick<Checkpoint, "id" | "number" | "trigger" | "name">) {
  return { checkpointId: id, number, trigger, name } satisfies EventData<"checkpoint:created">
}

/** The entry that a checkpoint stands at, as it was kept with it. */
export function entryOf(checkpoint: Checkpoint): Entry {
  const { sessionId, entrySeq: seq, createdAt, messageIndex } = checkpoint
  const data = createdData(checkpoint)
  return { sessionId, seq, type: "checkpoint:created", version: 1, data, createdAt, messageIndex, parent: null }
}

function notATrigger(trigger: string): KeepupError {
  return new KeepupError("INVALID_INPUT", `Not a trigger: ${trigger}.`, {
    hint: `Use one of ${checkpointTriggers.join(", ")}.`,
  })
}

/** Bytes of the state values that are new. */
function sizeOf(state: PreparedState, changed: readonly EntryDraft[]): number {
  const isNew = new Set(changed.flatMap(({ data }) => Object.keys((data as EventData<"state:changed">).set)))
  return state.reduce((sum, { key, blob }) => sum + (isNew.has(key) ? (blob?.sizeBytes ?? 0) : 0), 0)
}

/** A restore that is not over yet may need it to go on, or to go back. */
async function refuseUnderWay(tx: SqlRunner, id: CheckpointId): Promise<void> {
  const restore = await tx.get(
    "SELECT id FROM restores WHERE status = 'started' AND (checkpoint_id = ? OR safety_checkpoint_id = ?)",
    [id, id],
  )
  if (restore === undefined) return
  throw new KeepupError("CONFLICT", `Checkpoint ${id} is part of a restore that is not over.`, {
    hint: "The next keepup command finishes the restore or takes it back; delete the checkpoint after that.",
  })
}

async function refuseTakenName(tx: SqlRunner, sessionId: SessionId, name: string): Promise<void> {
  const taken = await tx.get("SELECT number FROM session_checkpoints WHERE session_id = ? AND name = ?", [
    sessionId,
    name,
  ])
  if (taken === undefined) return
  throw new KeepupError(
    "CONFLICT",
    `This session has a checkpoint named ${JSON.stringify(name)} already: #${taken["number"]}.`,
    {
      hint: "Choose another name.",
    },
  )
}

/** A name for a new checkpoint: one that can be written again, and that means no other one. */
export function parseNewName(name: string): string {
  const clean = parseCheckpointName(name)
  if (/[\p{Cc}\p{Zl}\p{Zp}\p{Surrogate}]/u.test(name.trim())) throw notAName(name)
  const what = /^[0-9]+$/.test(clean) ? "the number of a checkpoint" : isWholeId(clean) ? "an id" : undefined
  if (what === undefined) return clean
  throw new KeepupError("INVALID_INPUT", `Not a name for a checkpoint: ${JSON.stringify(name)} means ${what}.`, {
    hint: `Put a word before it, like ${JSON.stringify(`before-${clean.slice(0, 8)}`)}.`,
  })
}

function isWholeId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
}

/** Names that were ever kept: not empty, not `latest`, no # in front, no control characters. */
export function parseCheckpointName(name: string): string {
  const clean = plainText(name).trim()
  const isBad =
    clean === "" || clean.length > 200 || clean === "latest" || clean.startsWith("#") || /\p{Cc}/u.test(clean)
  if (!isBad) return clean
  throw notAName(name)
}

function notAName(name: string): KeepupError {
  const shown = JSON.stringify(name.length > 80 ? `${name.slice(0, 79)}…` : name)
  return new KeepupError("INVALID_INPUT", `Not a name for a checkpoint: ${shown}.`, {
    hint: "Use 1 to 200 characters on one line, not `latest`, and no # in front.",
  })
}

/** Only the row: its entry is written in the same transaction, by whoever calls. */
export async function insertCheckpoint(tx: SqlRunner, record: Checkpoint): Promise<void> {
  const place = [record.id, record.sessionId, record.number, record.name, record.note, record.entrySeq]
  const files = record.snapshot === null ? null : toJson(record.snapshot, "snapshot of the checkpoint")
  const plain = (text: string | null | undefined) => (text == null ? null : plainText(text))
  const facts = [
    record.trigger,
    plain(record.git?.branch),
    plain(record.git?.head),
    record.git?.uncommitted ?? null,
    record.git?.untracked ?? null,
    plain(record.git?.operation),
    files,
    record.host,
  ]
  const rest = [record.sizeBytes, toJson(record.metadata, "metadata of the checkpoint"), record.createdAt]
  const checksum = checksumOf([...place, ...facts, ...rest])
  await tx.run(insertRow, [...place, record.messageIndex, ...facts, record.pinned ? 1 : 0, ...rest, checksum])
}
