/** Writes the records of a verified file into the database, inside one transaction of the caller. Waits for nothing else. */
import { type Checkpoint, type CheckpointId, type EntryDraft, event, type SessionId } from "@ku0/agent-runtime-core"
import { insertArtifact } from "../artifact/artifact-store.js"
import { insertCheckpoint } from "../checkpoint/checkpoint-store.js"
import { appendEntries, lockSession } from "../session/append-entries.js"
import { encodeBlob, putBlob } from "../state/blob-store.js"
import { plainText } from "../store/rows.js"
import type { SqlRunner } from "../store/sql-driver.js"
import type { StoreContext } from "../store/store-context.js"
import type { IdMap } from "./map-ids.js"
import type { ArtifactRecord, CheckpointRecord, EntryRecord, LogRecord, SessionRecord } from "./transfer-format.js"

export type StoredRecord = SessionRecord | EntryRecord | CheckpointRecord | LogRecord | ArtifactRecord

export interface InsertRecordsOptions {
  readonly context: StoreContext
  readonly ids: IdMap
  readonly workspacePath: string
  /** Sessions that are there for themselves; others are hidden like deleted ones whose entries are shared. */
  readonly isShown: (oldId: string) => boolean
  /** Says why a shown session that was in the middle of something is not any more. */
  readonly interruption: string
  readonly readContent: (hash: string) => Buffer
  /** Values to keep in the database. */
  readonly blobHashes: Iterable<string>
}

/** Entries appended at once. */
const batchEntries = 200
const batchCharacters = 4_000_000

/** `records` in the order of the format. Returns the sessions that are shown, by their old ids. */
export async function insertRecords(
  tx: SqlRunner,
  records: Iterable<StoredRecord>,
  options: InsertRecordsOptions,
): Promise<SessionId[]> {
  const { context, ids } = options
  const sessions: SessionRecord[] = []
  for (const hash of options.blobHashes) {
    await putBlob(tx, await encodeBlob(options.readContent(hash)), context.clock.now())
  }
  let batch: EntryDraft[] = []
  let batchSession = ""
  let size = 0

  async function flush(): Promise<void> {
    if (batch.length === 0) return
    const session = await lockSession(context, tx, ids.id(batchSession) as SessionId)
    await appendEntries(context, tx, session, batch, {})
    batch = []
    size = 0
  }

  async function addEntry(entry: EntryRecord): Promise<void> {
    if (entry.sessionId !== batchSession || batch.length >= batchEntries || size > batchCharacters) await flush()
    batchSession = entry.sessionId
    const text = entry.dataHash === undefined ? undefined : options.readContent(entry.dataHash).toString("utf8")
    size += text?.length ?? 2_000
    const data = text === undefined ? entry.data : JSON.parse(text)
    const { type, version, createdAt, parent } = entry
    batch.push({
      type,
      data: ids.data(type, data),
      version,
      createdAt,
      ...(parent && { parent: { sessionId: ids.id(parent.sessionId) as SessionId, seq: parent.seq } }),
    })
  }

  const counts = new Map<string, number>()
  for (const record of records) {
    if (record.record === "session") {
      sessions.push(record)
      await insertSession(tx, record, options)
    } else if (record.record === "entry") await addEntry(record)
    else {
      await flush()
      if (record.record === "checkpoint") {
        await insertCheckpoint(tx, toCheckpoint(record, options))
        counts.set(record.sessionId, (counts.get(record.sessionId) ?? 0) + 1)
      } else if (record.record === "log") await insertLog(tx, record, ids)
      else await insertArtifact(tx, toArtifact(record, ids))
    }
  }
  await flush()
  for (const session of sessions) await finishSession(tx, session, counts.get(session.id) ?? 0, options)
  return sessions.filter(({ id }) => options.isShown(id)).map(({ id }) => ids.id(id) as SessionId)
}

async function insertSession(tx: SqlRunner, record: SessionRecord, options: InsertRecordsOptions): Promise<void> {
  const { ids, context, workspacePath } = options
  const metadata = options.isShown(record.id) ? { ...record.metadata, imported: true } : record.metadata
  await tx.run(
    `INSERT INTO sessions (id, name, agent_type, task_description, status, phase, workspace_path, created_at,
       updated_at, head_seq, message_count, checkpoint_count, last_checkpoint_number, parent_session_id,
       forked_from_checkpoint_id, metadata)
     VALUES (?, ?, ?, ?, 'active', 'idle', ?, ?, ?, 0, 0, 0, 0, ?, ?, ?)`,
    [
      ids.id(record.id),
      plainText(record.name),
      plainText(record.agentType),
      plainText(record.taskDescription),
      plainText(workspacePath),
      record.createdAt,
      context.clock.now(),
      record.parentSessionId === null ? null : ids.id(record.parentSessionId),
      record.forkedFromCheckpointId === null ? null : ids.id(record.forkedFromCheckpointId),
      JSON.stringify(metadata),
    ],
  )
}

async function finishSession(
  tx: SqlRunner,
  record: SessionRecord,
  checkpoints: number,
  options: InsertRecordsOptions,
): Promise<void> {
  const { context, ids } = options
  const id = ids.id(record.id) as SessionId
  const isShown = options.isShown(record.id)
  const session = await lockSession(context, tx, id)
  if (isShown && (session.phase === "running" || session.phase === "restoring")) {
    await appendEntries(context, tx, session, [event("session:interrupted", { reason: options.interruption })], {})
  }
  await tx.run("UPDATE sessions SET checkpoint_count = ?, last_checkpoint_number = ?, deleted_at = ? WHERE id = ?", [
    checkpoints,
    record.lastCheckpointNumber,
    isShown ? null : context.clock.now(),
    id,
  ])
}

/** Its files, if it has any, are on this machine now. */
function toCheckpoint(record: CheckpointRecord, { ids, context }: InsertRecordsOptions): Checkpoint {
  const { record: _, ...checkpoint } = record
  return {
    ...checkpoint,
    id: ids.id(checkpoint.id) as CheckpointId,
    sessionId: ids.id(checkpoint.sessionId) as SessionId,
    note: checkpoint.note === null ? null : plainText(checkpoint.note),
    host: context.host.split("/")[0] as string,
  }
}

function toArtifact({ record: _, ...artifact }: ArtifactRecord, ids: IdMap) {
  return {
    ...artifact,
    id: ids.artifact(artifact.id) as typeof artifact.id,
    sessionId: ids.id(artifact.sessionId) as SessionId,
  }
}

async function insertLog(tx: SqlRunner, log: LogRecord, ids: IdMap): Promise<void> {
  await tx.run("INSERT INTO session_logs (session_id, level, message, created_at) VALUES (?, ?, ?, ?)", [
    ids.id(log.sessionId),
    log.level,
    plainText(log.message),
    log.createdAt,
  ])
}
