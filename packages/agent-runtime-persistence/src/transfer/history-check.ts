/**
 * Proves that the records of sessions fit together: sequences without gaps, every entry after the one it continues from
 * (so nothing can run in a circle), phases and message counts as the log has them, checkpoints where their entries are.
 */
import {
  type EventData,
  eventTable,
  findEventProblem,
  isKeepupError,
  isKnownEvent,
  nextPhase,
  type SessionPhase,
  statusOfPhase,
} from "@ku0/agent-runtime-core"
import { deepestJson } from "../store/json-depth.js"
import { plainText } from "../store/rows.js"
import { bad, notUnderstood, requireShallow, tooNew } from "./parse-record.js"
import {
  type ArtifactRecord,
  type CheckpointRecord,
  type EntryRecord,
  type HeaderRecord,
  type LogRecord,
  limits,
  type SessionRecord,
} from "./transfer-format.js"

export interface HistoryFacts {
  /** Checkpoint id → commit, of those that have files. */
  readonly commits: ReadonlyMap<string, string>
  /** Contents that are values of a state. */
  readonly stateHashes: ReadonlySet<string>
  readonly artifactHashes: ReadonlySet<string>
}

export type FindContent = (hash: string) => { readonly size: number; readonly read: () => Buffer } | undefined

interface KnownSession {
  readonly record: SessionRecord
  /** Message counts, entry by entry. */
  readonly messages: number[]
  /** Other sessions whose entries its own continue from. */
  readonly sharesWith: Set<string>
  phase: SessionPhase
}

interface CreatedAt {
  readonly sessionId: string
  readonly seq: number
  readonly number: number
}

export function createHistoryCheck(header: HeaderRecord, findContent: FindContent) {
  const sessions = new Map<string, KnownSession>()
  const created = new Map<string, CreatedAt>()
  const taken = new Set<string>()
  const commits = new Map<string, string>()
  const stateHashes = new Set<string>()
  const artifactHashes = new Set<string>()

  function getSession(id: string): KnownSession {
    const session = sessions.get(id)
    if (session === undefined) throw bad(`Session ${id} is missing.`)
    return session
  }

  /** Names that must be free: numbers and names of checkpoints, keys of artifacts. */
  function take(...parts: (string | number)[]): void {
    const key = JSON.stringify(parts)
    if (taken.has(key)) throw bad(`${parts[0]} ${parts.at(-1)} is there twice.`)
    taken.add(key)
  }

  function addSession(record: SessionRecord): void {
    take("session", record.id)
    sessions.set(record.id, { record, messages: [], sharesWith: new Set(), phase: "idle" })
  }

  function addEntry(entry: EntryRecord): void {
    const session = getSession(entry.sessionId)
    const where = `Entry ${entry.seq} of session ${entry.sessionId}`
    if (entry.seq !== session.messages.length + 1) throw bad(`${where} is not where it should be.`)
    if ((entry.seq === 1) !== (entry.type === "session:started")) throw bad(`${where} does not begin the session.`)
    requireKnownVersion(entry, where)
    if (entry.seq === 1 && session.record.parentSessionId !== (entry.parent?.sessionId ?? null)) {
      throw bad(`Session ${entry.sessionId} branches from another one than it says.`)
    }
    const data = entry.dataHash === undefined ? entry.data : readJson(entry.dataHash, where)
    let before = session.messages.at(-1) ?? 0
    if (entry.parent !== null) {
      const count = getSession(entry.parent.sessionId).messages[entry.parent.seq - 1]
      if (count === undefined) throw bad(`${where} continues from an entry that is not there yet.`)
      if (entry.parent.sessionId !== entry.sessionId) session.sharesWith.add(entry.parent.sessionId)
      before = count
    }
    if (entry.messageIndex !== before + (entry.type === "message:added" ? 1 : 0)) {
      throw bad(`${where} counts other messages than there are.`)
    }
    const phase = nextPhase(session.phase, entry.type, data)
    if (phase === undefined) throw bad(`${where} (${entry.type}) can't happen while the session is ${session.phase}.`)
    // as the log has it: who goes on from elsewhere is at rest
    session.phase = entry.parent === null ? phase : (nextPhase("idle", entry.type, data) ?? "idle")
    session.messages.push(entry.messageIndex)
    checkData(entry, data, where)
  }

  /** What a newer keepup says in an event that this one knows, nobody here can prove or understand. */
  function requireKnownVersion({ type, version }: EntryRecord, where: string): void {
    const newest = isKnownEvent(type) ? eventTable[type].version : version
    if (version > newest) throw tooNew(`${where} (${type}) has version`, version, newest)
  }

  function checkData(entry: EntryRecord, data: unknown, where: string): void {
    const problem = findEventProblem(entry.type, data)
    if (problem !== undefined) throw notUnderstood(`${where} (${entry.type}) can't be understood (${problem}).`)
    if (entry.type === "state:changed") {
      for (const hash of Object.values((data as EventData<"state:changed">).set)) {
        if (!stateHashes.has(hash)) readJson(hash, where)
        stateHashes.add(hash)
      }
    } else if (entry.type === "checkpoint:created") {
      const { checkpointId, number } = data as EventData<"checkpoint:created">
      const { lastCheckpointNumber } = getSession(entry.sessionId).record
      if (number > lastCheckpointNumber) {
        throw bad(
          `${where} makes checkpoint #${number}; the last one of the session is said to be #${lastCheckpointNumber}.`,
        )
      }
      created.set(checkpointId, { sessionId: entry.sessionId, seq: entry.seq, number })
    }
  }

  function readJson(hash: string, where: string): unknown {
    const bytes = findContent(hash)?.read()
    if (bytes === undefined) throw bad(`${where} names the value ${hash}, which is missing.`)
    try {
      const json = bytes.toString("utf8")
      requireShallow(json, deepestJson)
      return JSON.parse(json)
    } catch (error) {
      throw isKeepupError(error) ? error : bad(`${where} names the value ${hash}, which is not JSON.`)
    }
  }

  function addCheckpoint(checkpoint: CheckpointRecord): void {
    const { messages } = getSession(checkpoint.sessionId)
    const entry = created.get(checkpoint.id)
    take("checkpoint", checkpoint.id)
    take("checkpoint", checkpoint.sessionId, `#${checkpoint.number}`)
    if (checkpoint.name !== null) take("checkpoint", checkpoint.sessionId, checkpoint.name)
    const isRight =
      entry?.sessionId === checkpoint.sessionId &&
      entry.seq === checkpoint.entrySeq &&
      entry.number === checkpoint.number &&
      checkpoint.messageIndex === messages[checkpoint.entrySeq - 1]
    if (!isRight) throw bad(`Checkpoint #${checkpoint.number} does not fit to the log.`)
    if (checkpoint.snapshot !== null) commits.set(checkpoint.id, checkpoint.snapshot.commit)
  }

  function addArtifact(artifact: ArtifactRecord): void {
    getSession(artifact.sessionId)
    take("artifact", artifact.id)
    // as it will be kept: two that differ only in what no database holds are one
    if (artifact.idempotencyKey !== null) take("artifact key", artifact.sessionId, plainText(artifact.idempotencyKey))
    if (findContent(artifact.hash)?.size !== artifact.sizeBytes) {
      throw bad(`The content of artifact ${artifact.id} is missing or has another size.`)
    }
    artifactHashes.add(artifact.hash)
  }

  /** Every session is the one the file is about, or has entries that one shares: what it shares, and so on. */
  function requireShared(): void {
    const shared = new Set<string>([header.sessionId])
    for (const id of shared) for (const other of getSession(id).sharesWith) shared.add(other)
    for (const id of sessions.keys()) if (!shared.has(id)) throw bad(`Session ${id} belongs to nothing in the file.`)
  }

  return {
    add(record: SessionRecord | EntryRecord | CheckpointRecord | LogRecord | ArtifactRecord): void {
      if (record.record === "session") addSession(record)
      else if (record.record === "entry") addEntry(record)
      else if (record.record === "checkpoint") addCheckpoint(record)
      else if (record.record === "artifact") addArtifact(record)
      else getSession(record.sessionId)
    },

    finish(): HistoryFacts {
      for (const { record, messages } of sessions.values()) {
        if (messages.length !== record.headSeq) throw bad(`Session ${record.id} does not have all of its entries.`)
        // each one is an entry of its own: later exports stay as far from the largest number as this file is
        if (record.lastCheckpointNumber > record.headSeq + limits.numberAhead) {
          throw bad(`Session ${record.id} says that it had more checkpoints than it can have had.`)
        }
        if (record.parentSessionId !== null) getSession(record.parentSessionId)
      }
      requireShared()
      const { record, phase } = getSession(header.sessionId)
      if (record.status !== statusOfPhase(phase)) throw bad(`Session ${record.id} is not ${record.status}.`)
      return { commits, stateHashes, artifactHashes }
    },
  }
}
