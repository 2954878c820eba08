/** The records of a session, in the order of the format. Read in pages: memory does not grow with the session. */
import { type EventData, type HistoryRange, KeepupError, type Session, type SessionId } from "@ku0/agent-runtime-core"
import { withoutMarks } from "../session/session-marks.js"
import { readBlob } from "../state/blob-store.js"
import { sha256 } from "../store/lazy-crypto.js"
import { toSession } from "../store/rows.js"
import type { SqlRow } from "../store/sql-driver.js"
import { createArtifactSource } from "./artifact-source.js"
import { exportCheckpoints, exportFiles } from "./export-checkpoints.js"
import type { ExportWork } from "./export-work.js"
import { planSegments } from "./plan-segments.js"
import { bytesAsLines, line } from "./record-lines.js"
import {
  type EntryRecord,
  type HeaderRecord,
  limits,
  type SessionRecord,
  transferFormat,
  transferVersion,
} from "./transfer-format.js"

type StateChange = EventData<"state:changed">

interface CleanState {
  readonly key: string
  readonly hash: string
  readonly bytes: Buffer
}

/** Entries can be large, so pages are small. */
const entriesInPage = 100

/** Yields lines without their end. The last line of the file is the caller's. */
export async function* exportRecords(work: ExportWork): AsyncGenerator<string> {
  const { store, options } = work
  const session = await store.sessions.get(options.sessionId)
  const segments = await planSegments(store.context.driver, { sessionId: session.id, seq: session.headSeq })
  const lengths = new Map<SessionId, number>()
  for (const { sessionId, to } of segments) lengths.set(sessionId, to)
  const header: HeaderRecord = {
    format: transferFormat,
    version: transferVersion,
    createdAt: store.context.clock.now(),
    sessionId: session.id,
    redacted: work.redactor !== undefined,
    snapshots: work.withFiles,
  }
  yield JSON.stringify(header)
  const sessions: Session[] = []
  for (const [id, length] of lengths) {
    const row = id === session.id ? await getRow(work, id, session) : await getRow(work, id)
    sessions.push(row.session)
    yield line(work, toSessionRecord(work, row, length))
  }
  const artifacts = createArtifactSource(work, session.id)
  const sent = new Set<string>()
  for (const segment of segments) yield* exportEntries(work, segment, artifacts, sent)
  for (const one of sessions) yield* exportCheckpoints(work, one, lengths.get(one.id) as number, session)
  yield* exportLogs(work, session.id)
  for await (const { record, bytes } of artifacts.list()) {
    if (!sent.has(record.hash)) yield* content(work, record.hash, bytes)
    sent.add(record.hash)
    yield line(work, record)
  }
  yield* exportFiles(work, session)
}

interface FoundSession {
  readonly session: Session
  readonly lastCheckpointNumber: number
}

/** Also those that were deleted and whose entries a branch still shares. */
async function getRow({ store }: ExportWork, id: SessionId, known?: Session): Promise<FoundSession> {
  const row = await store.context.driver.get("SELECT * FROM sessions WHERE id = ?", [id])
  if (row === undefined) throw new KeepupError("CORRUPT", `Session ${id} is missing, but its entries are shared.`)
  return { session: known ?? toSession(row), lastCheckpointNumber: Number(row["last_checkpoint_number"]) }
}

function toSessionRecord(work: ExportWork, row: FoundSession, headSeq: number): SessionRecord {
  const { session, lastCheckpointNumber } = row
  const clean = work.redactor ?? { text: (text: string) => text, value: <Value>(value: Value) => value }
  return {
    record: "session",
    id: session.id,
    name: clean.text(session.name),
    agentType: clean.text(session.agentType),
    taskDescription: clean.text(session.taskDescription),
    status: session.status,
    workspacePath: clean.text(session.workspacePath),
    createdAt: session.createdAt,
    updatedAt: session.updatedAt,
    headSeq,
    lastCheckpointNumber,
    parentSessionId: session.parentSessionId,
    forkedFromCheckpointId: session.forkedFromCheckpointId,
    metadata: clean.value(withoutMarks(session.metadata)),
  }
}

async function* exportEntries(
  work: ExportWork,
  { sessionId, from, to }: HistoryRange,
  artifacts: ReturnType<typeof createArtifactSource>,
  sent: Set<string>,
): AsyncGenerator<string> {
  const { driver } = work.store.context
  for (let after = from - 1; after < to; ) {
    const rows = await driver.all(
      `SELECT * FROM entries WHERE session_id = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ${entriesInPage}`,
      [sessionId, after, to],
    )
    for (const row of rows) {
      if (Number(row["seq"]) !== ++after) break
      const data = await readData(work, row)
      const type = String(row["type"])
      const states = type === "state:changed" ? await cleanStates(work, data as StateChange) : []
      for (const { hash, bytes } of states) {
        if (!sent.has(hash)) yield* content(work, hash, bytes)
        sent.add(hash)
      }
      await artifacts.note(type, data)
      const text = JSON.stringify(cleanData(work, type, data, states, artifacts))
      const record = toEntryRecord(row)
      if (text.length <= limits.inlineCharacters) yield line(work, { ...record, data: JSON.parse(text) })
      else {
        const bytes = Buffer.from(text)
        const dataHash = sha256(bytes)
        if (!sent.has(dataHash)) yield* content(work, dataHash, bytes)
        sent.add(dataHash)
        yield line(work, { ...record, dataHash })
      }
    }
    if (rows.length === 0 || Number(rows.at(-1)?.["seq"]) !== after) {
      throw new KeepupError(
        "CORRUPT",
        `Entry ${after + (rows.length === 0 ? 1 : 0)} of session ${sessionId} is missing.`,
      )
    }
  }
}

function toEntryRecord(row: SqlRow): EntryRecord {
  const parentSeq = row["parent_seq"]
  return {
    record: "entry",
    sessionId: row["session_id"] as SessionId,
    seq: Number(row["seq"]),
    type: String(row["type"]),
    version: Number(row["version"]),
    createdAt: Number(row["created_at"]),
    messageIndex: Number(row["message_index"]),
    parent: parentSeq === null ? null : { sessionId: row["parent_session_id"] as SessionId, seq: Number(parentSeq) },
  }
}

async function readData({ store }: ExportWork, row: SqlRow): Promise<unknown> {
  const hash = row["blob_hash"] as string | null
  const text = hash === null ? (row["data"] as string) : await readText(store.context.driver, hash)
  try {
    return JSON.parse(text)
  } catch (cause) {
    const where = `Entry ${row["seq"]} of session ${row["session_id"]}`
    throw new KeepupError("CORRUPT", `${where} is not JSON.`, { cause, hint: "Run `keepup doctor`." })
  }
}

function cleanData(
  { redactor }: ExportWork,
  type: string,
  data: unknown,
  states: readonly CleanState[],
  artifacts: ReturnType<typeof createArtifactSource>,
): unknown {
  if (redactor === undefined) return data
  if (type === "state:changed") return redactor.stateChange(data as StateChange, states)
  const clean = redactor.value(data)
  return type === "artifact:emitted" ? artifacts.withNewContent(clean) : clean
}

/** The values a state change names, as they leave. */
async function cleanStates(work: ExportWork, change: StateChange): Promise<CleanState[]> {
  const states: CleanState[] = []
  for (const [key, hash] of Object.entries(change.set)) {
    const json = await readText(work.store.context.driver, hash)
    const clean = work.redactor?.state(key, json)
    const bytes = Buffer.from(clean?.json ?? json)
    states.push({ key: clean?.key ?? key, hash: clean === undefined ? hash : sha256(bytes), bytes })
  }
  return states
}

async function* exportLogs(work: ExportWork, sessionId: SessionId): AsyncGenerator<string> {
  for (let after = 0; ; ) {
    const rows = await work.store.context.driver.all(
      "SELECT * FROM session_logs WHERE session_id = ? AND id > ? ORDER BY id LIMIT 500",
      [sessionId, after],
    )
    for (const row of rows) {
      const message = String(row["message"])
      yield line(work, {
        record: "log",
        sessionId,
        level: row["level"] as "info",
        message: work.redactor?.text(message) ?? message,
        createdAt: Number(row["created_at"]),
      })
      after = Number(row["id"])
    }
    if (rows.length < 500) return
  }
}

function* content(work: ExportWork, hash: string, bytes: Uint8Array): Generator<string> {
  yield* bytesAsLines(work, { record: "content", hash, sizeBytes: bytes.byteLength }, bytes)
}

async function readText(driver: Parameters<typeof readBlob>[0], hash: string): Promise<string> {
  return Buffer.from(await readBlob(driver, hash)).toString("utf8")
}
