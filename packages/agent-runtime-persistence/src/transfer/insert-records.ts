/**
 * Writes the records of a verified file into the database: in many short transactions, so that others can write in
 * between, under sessions that nobody sees; the last one makes them count, all at once.
 */
import {
  type Checkpoint,
  type CheckpointId,
  type EntryDraft,
  event,
  KeepupError,
  type Session,
  type SessionId,
} from "@ku0/agent-runtime-core"
import { insertArtifact } from "../artifact/artifact-store.js"
import { insertCheckpoint } from "../checkpoint/checkpoint-store.js"
import { appendEntries } from "../session/append-entries.js"
import { readFixedColumns } from "../session/fixed-columns.js"
import { loadEntry } from "../session/load-entry.js"
import { importedMark, importMark, withoutMarks } from "../session/session-marks.js"
import { cutSessionName } from "../session/session-name.js"
import { type EncodedBlob, encodeBlob, putBlob } from "../state/blob-store.js"
import { plainText, toJson, toSession } from "../store/rows.js"
import type { SqlRunner } from "../store/sql-driver.js"
import type { StoreContext } from "../store/store-context.js"
import { createImportMark, removeImported } from "./import-mark.js"
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

type Write = (work: (tx: SqlRunner) => Promise<void>) => Promise<void>

/** What one transaction writes at most. */
const batchRecords = 200
const batchBytes = 4_000_000

/** `records` in the order of the format, but artifacts before entries. Returns the sessions that are shown, by their old ids. */
export async function insertRecords(
  records: Iterable<StoredRecord>,
  options: InsertRecordsOptions,
): Promise<SessionId[]> {
  const { context, ids } = options
  const mark = await createImportMark(context)
  const sessions: SessionRecord[] = []
  const counts = new Map<string, number>()
  let batch: Exclude<StoredRecord, SessionRecord>[] = []
  let size = 0

  const write: Write = (work) => context.driver.transaction("import", work)

  async function flush(): Promise<void> {
    if (batch.length === 0) return
    const rest = batch
    batch = []
    size = 0
    await write((tx) => insertBatch(tx, rest, options))
  }

  try {
    await insertBlobs(write, options)
    for (const record of records) {
      if (record.record === "session") {
        sessions.push(record)
        await write((tx) => insertSession(tx, record, mark, options))
        continue
      }
      if (record.record === "checkpoint") counts.set(record.sessionId, (counts.get(record.sessionId) ?? 0) + 1)
      batch.push(record)
      size += sizeOf(record)
      if (batch.length >= batchRecords || size > batchBytes) await flush()
    }
    await flush()
    await insertBlobs(write, options, true) // a `gc` may have taken one before anything named it
    await write(async (tx) => {
      for (const session of sessions) await finishSession(tx, session, counts.get(session.id) ?? 0, options)
    })
  } catch (error) {
    const begun = sessions.map(({ id }) => ids.id(id))
    await removeImported(context, begun).catch(() => undefined) // nobody sees them; the next start tries again
    throw error
  }
  return sessions.filter(({ id }) => options.isShown(id)).map(({ id }) => ids.id(id) as SessionId)
}

function sizeOf(record: StoredRecord): number {
  if (record.record !== "entry") return 500
  return record.dataHash === undefined ? JSON.stringify(record.data ?? null).length : batchBytes / 4
}

/** All of them, or only those that are not there. Nobody waits for compression inside a transaction. */
async function insertBlobs(write: Write, options: InsertRecordsOptions, onlyMissing = false): Promise<void> {
  const { context, readContent, blobHashes } = options
  let blobs: EncodedBlob[] = []
  let size = 0
  const flush = () => {
    const some = blobs
    blobs = []
    size = 0
    return write(async (tx) => {
      for (const blob of some) await putBlob(tx, blob, context.clock.now())
    })
  }
  for (const hash of blobHashes) {
    if (onlyMissing && (await context.driver.get("SELECT 1 FROM blobs WHERE hash = ?", [hash])) !== undefined) continue
    const blob = await encodeBlob(readContent(hash))
    blobs.push(blob)
    size += blob.data.length
    if (blobs.length >= batchRecords || size > batchBytes) await flush()
  }
  if (blobs.length > 0) await flush()
}

async function insertBatch(
  tx: SqlRunner,
  batch: readonly Exclude<StoredRecord, SessionRecord>[],
  options: InsertRecordsOptions,
): Promise<void> {
  const { context, ids } = options
  let entries: EntryRecord[] = []

  async function append(): Promise<void> {
    const [first] = entries
    if (first === undefined) return
    const session = await lockHidden(context, tx, ids.id(first.sessionId))
    const drafts = entries.map((entry) => toDraft(entry, options))
    entries = []
    await appendEntries(context, tx, session, drafts, {})
  }

  for (const record of batch) {
    if (record.record === "entry") {
      if (entries[0] !== undefined && entries[0].sessionId !== record.sessionId) await append()
      entries.push(record)
      continue
    }
    await append()
    if (record.record === "checkpoint") await insertCheckpoint(tx, toCheckpoint(record, options))
    else if (record.record === "log") await insertLog(tx, record, ids)
    else await insertNamedArtifact(tx, record, ids)
  }
  await append()
}

function toDraft(entry: EntryRecord, { ids, readContent }: InsertRecordsOptions): EntryDraft {
  const { type, version, createdAt, parent, dataHash } = entry
  const data = dataHash === undefined ? entry.data : JSON.parse(readContent(dataHash).toString("utf8"))
  return {
    type,
    data: ids.data(type, data),
    version,
    createdAt,
    ...(parent && { parent: { sessionId: ids.id(parent.sessionId) as SessionId, seq: parent.seq } }),
  }
}

/** A session nobody sees yet. */
async function lockHidden(context: StoreContext, tx: SqlRunner, id: string): Promise<Session> {
  const row = await tx.get(`SELECT * FROM sessions WHERE id = ?${context.driver.forUpdate}`, [id])
  if (row !== undefined) return toSession(row)
  throw new KeepupError("CONFLICT", "The session was taken away while it was being imported.", {
    hint: "Import it again.",
  })
}

async function insertSession(
  tx: SqlRunner,
  record: SessionRecord,
  mark: unknown,
  options: InsertRecordsOptions,
): Promise<void> {
  const { ids, context, workspacePath } = options
  await tx.run(
    `INSERT INTO sessions (id, name, agent_type, task_description, status, phase, workspace_path, created_at,
       updated_at, head_seq, message_count, checkpoint_count, last_checkpoint_number, parent_session_id,
       forked_from_checkpoint_id, metadata, deleted_at)
     VALUES (?, ?, ?, ?, 'active', 'idle', ?, ?, ?, 0, 0, 0, 0, ?, ?, ?, ?)`,
    [
      ids.id(record.id),
      cutSessionName(record.name),
      plainText(record.agentType),
      plainText(record.taskDescription),
      plainText(workspacePath),
      record.createdAt,
      context.clock.now(),
      record.parentSessionId === null ? null : ids.id(record.parentSessionId),
      record.forkedFromCheckpointId === null ? null : ids.id(record.forkedFromCheckpointId),
      toJson({ ...withoutMarks(record.metadata), [importMark]: mark }, "metadata"),
      context.clock.now(),
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
  const session = await lockHidden(context, tx, id)
  if (isShown && (session.phase === "running" || session.phase === "restoring")) {
    await appendEntries(context, tx, session, [event("session:interrupted", { reason: options.interruption })], {})
  }
  const metadata = { ...withoutMarks(record.metadata), [importedMark]: true }
  await tx.run(
    `UPDATE sessions SET checkpoint_count = ?, last_checkpoint_number = ?, metadata = ?, deleted_at = ? WHERE id = ?`,
    [checkpoints, record.lastCheckpointNumber, toJson(metadata, "metadata"), isShown ? null : context.clock.now(), id],
  )
  // the log has the last word
  const columns = { ...(await readFixedColumns(tx, id)), forked_from_checkpoint_id: await readFork(tx, id) }
  for (const [column, value] of Object.entries(columns)) {
    await tx.run(`UPDATE sessions SET ${column} = ? WHERE id = ?`, [value, id])
  }
}

/** The checkpoint a session branches from, as its first entry has it. */
async function readFork(tx: SqlRunner, id: SessionId): Promise<string | null> {
  const started = await loadEntry(tx, { sessionId: id, seq: 1 })
  const { checkpointId } = JSON.parse(started?.text ?? "{}") as Record<string, unknown>
  return typeof checkpointId === "string" ? plainText(checkpointId) : null
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

/** It keeps its name if that is free here: texts may speak of it. Whoever else imports the same file waits for us. */
async function insertNamedArtifact(tx: SqlRunner, record: ArtifactRecord, ids: IdMap): Promise<void> {
  if (await insertArtifact(tx, toArtifact(record, ids))) return
  ids.renameArtifact(record.id)
  await insertArtifact(tx, toArtifact(record, ids))
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
