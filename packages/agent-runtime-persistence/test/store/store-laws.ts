/**
 * The laws of the contract, held against a store and against what programs that were killed had been promised:
 * 1 nothing promised is missing, 2 no pointer without its thing, 7 the dead block nobody, 9 one fold, 10 nothing copied.
 */
import { type Checkpoint, type Session, type SessionId, statusOfPhase } from "@ku0/agent-runtime-core"
import { expect } from "vitest"
import { openStore, type Store } from "../../src/store/open-store.js"
import type { SqlValue } from "../../src/store/sql-driver.js"
import { startProgram } from "../../src/testing/start-program.js"
import { describeStore, type SessionDescription, type StoreDescription } from "./describe-store.js"
import { type EntryFacts, hashOf } from "./programs/said.js"
import type { StorySaid } from "./programs/tell-story.js"

type Unfinished = Extract<StorySaid, { begin: string }>

/** Everything that was promised, by all stories told to one store. */
export interface Promises {
  readonly sessions: Map<string, Session>
  readonly entries: Map<string, EntryFacts[]>
  /** How many rows a session must have: those of the calls that returned. */
  readonly counts: Map<string, number>
  readonly states: Map<string, Extract<StorySaid, { state: object }>>
  readonly checkpoints: Map<string, Checkpoint>
  readonly leases: Map<string, number>
  readonly artifacts: Map<string, string>
  readonly logs: { sessionId: string; message: string }[]
  readonly gone: Set<string>
  /** What the last story was doing when it died: not promised, but the whole of it may be there. */
  unfinished: Unfinished | undefined
}

export function createPromises(): Promises {
  return {
    sessions: new Map(),
    entries: new Map(),
    counts: new Map(),
    states: new Map(),
    checkpoints: new Map(),
    leases: new Map(),
    artifacts: new Map(),
    logs: [],
    gone: new Set(),
    unfinished: undefined,
  }
}

/** Adds what one story said before it died. */
export function hear(promises: Promises, said: readonly StorySaid[]): void {
  for (const line of said) {
    if ("step" in line) continue
    if ("begin" in line) {
      promises.unfinished = line
      continue
    }
    const { adds = 0, sessionId = "session" in line ? line.session.id : "" } = promises.unfinished ?? {}
    promises.counts.set(sessionId, (promises.counts.get(sessionId) ?? 0) + adds)
    promises.unfinished = undefined
    keep(promises, line)
  }
}

function keep(promises: Promises, line: StorySaid): void {
  if ("session" in line) promises.sessions.set(line.session.id, line.session)
  else if ("entries" in line) {
    for (const entry of line.entries) {
      promises.entries.set(entry.sessionId, [...(promises.entries.get(entry.sessionId) ?? []), entry])
    }
  } else if ("state" in line) promises.states.set(`${line.at.sessionId} ${line.at.seq}`, line)
  else if ("checkpoint" in line) promises.checkpoints.set(line.checkpoint.id, line.checkpoint)
  else if ("checkpointGone" in line) promises.checkpoints.delete(line.checkpointGone)
  else if ("lease" in line) promises.leases.set(line.lease.resource, line.lease.number)
  else if ("artifact" in line) promises.artifacts.set(line.artifact.id, line.artifact.hash)
  else if ("log" in line) promises.logs.push(line.log)
  else if ("sessionGone" in line) promises.gone.add(line.sessionGone)
}

/** From now on, what the store said after the crash is the promise. */
function settle(promises: Promises, found: StoreDescription): void {
  const there = new Map<string, SessionDescription>(found.sessions.map((one) => [one.session.id, one]))
  for (const id of promises.sessions.keys()) if (!there.has(id)) promises.gone.add(id)
  for (const [id, { session, entries, checkpoints }] of there) {
    promises.sessions.set(id, session)
    promises.counts.set(id, entries.length)
    for (const checkpoint of checkpoints) promises.checkpoints.set(checkpoint.id, checkpoint)
  }
  const kept = new Set(found.sessions.flatMap(({ checkpoints }) => checkpoints.map(({ id }) => String(id))))
  for (const id of promises.checkpoints.keys()) if (!kept.has(id)) promises.checkpoints.delete(id)
  promises.unfinished = undefined
}

/** Opens the store as the first one after the crash, and holds every law against it. */
export async function checkLaws(url: string, promises: Promises, describeBundle: string): Promise<void> {
  const fresh = startProgram(describeBundle, [url])
  const store = await openStore(url)
  try {
    const found = await describeStore(store)
    checkPromises(found, promises)
    checkCounts(found, promises)
    await checkPointers(store, found)
    await checkStates(store, promises)
    const inFreshProcess = await fresh.heard<{ description: string }>(() => true)
    expect(inFreshProcess.description, "law 9: another process").toBe(hashOf(JSON.stringify(found)))
    settle(promises, found)
    await checkLeases(store, found, promises)
    if (store.kind === "sqlite") await checkFile(store)
  } finally {
    await store.close()
    await fresh.ended
  }
}

function checkPromises(found: StoreDescription, promises: Promises): void {
  const sessions = new Map<string, SessionDescription>(found.sessions.map((one) => [one.session.id, one]))
  for (const id of promises.gone) expect(sessions.has(id), `law 1: deleted session ${id}`).toBe(false)
  const wasDoing = (what: string) => promises.unfinished?.begin === what
  const isKept = (id: string) =>
    !promises.gone.has(id) && (sessions.has(id) || !wasDoing("delete") || promises.unfinished?.sessionId !== id)
  for (const [id, promised] of promises.sessions) {
    if (!isKept(id)) continue
    const session = sessions.get(id)?.session
    expect(session, `law 1: session ${id}`).toMatchObject({
      createdAt: promised.createdAt,
      parentSessionId: promised.parentSessionId,
      forkedFromCheckpointId: promised.forkedFromCheckpointId,
    })
    if (!wasDoing("rename")) expect(session?.name).toBe(promised.name)
    if (!wasDoing("metadata")) expect(session?.metadata).toEqual(promised.metadata)
  }
  for (const [id, entries] of promises.entries) {
    if (!isKept(id)) continue
    const bySeq = new Map(sessions.get(id)?.entries.map((entry) => [entry.seq, entry]))
    for (const entry of entries) expect(bySeq.get(entry.seq), `law 1: entry ${entry.seq} of ${id}`).toEqual(entry)
  }
  for (const [id, promised] of promises.checkpoints) {
    if (!isKept(promised.sessionId)) continue
    const checkpoint = sessions.get(promised.sessionId)?.checkpoints.find((one) => one.id === id)
    if (checkpoint === undefined && wasDoing("delete-checkpoint")) continue
    const pinned = wasDoing("pin") ? checkpoint?.pinned : promised.pinned
    expect(checkpoint, `law 1: checkpoint ${id}`).toEqual({ ...promised, pinned })
  }
  const artifacts = new Map(found.artifacts.map((artifact) => [artifact.id, artifact]))
  for (const [id, hash] of promises.artifacts) {
    if (!isKept(id.replace("artifact-", ""))) continue
    expect(artifacts.get(id), `law 1: artifact ${id}`).toEqual({ id, hash, contentHash: hash })
  }
  for (const { id, hash, contentHash } of found.artifacts) expect(contentHash, `law 2: artifact ${id}`).toBe(hash)
  for (const { sessionId, message } of promises.logs) {
    if (isKept(sessionId)) expect(sessions.get(sessionId)?.logs, "law 1: log line").toContain(message)
  }
}

/** Law 2, in the words of the tables. Also for sessions that are deleted but shared. */
async function checkPointers(store: Store, found: StoreDescription): Promise<void> {
  const none = async (what: string, sql: string) =>
    expect(await store.context.driver.all(sql), `law 2: ${what}`).toEqual([])
  await none(
    "a checkpoint without its entry",
    `SELECT c.id FROM session_checkpoints c LEFT JOIN entries e ON e.session_id = c.session_id
       AND e.seq = c.entry_seq AND e.type = 'checkpoint:created' AND e.data LIKE '%' || c.id || '%'
       AND e.message_index = c.message_index WHERE e.seq IS NULL`,
  )
  await none(
    "an entry without its value",
    `SELECT e.seq FROM entries e LEFT JOIN blobs b ON b.hash = e.blob_hash
     WHERE (e.blob_hash IS NOT NULL AND b.hash IS NULL) OR (e.blob_hash IS NULL) = (e.data IS NULL)`,
  )
  await none(
    "a gap, or a head that is not the newest entry",
    `SELECT s.id FROM sessions s LEFT JOIN entries e ON e.session_id = s.id GROUP BY s.id, s.head_seq
     HAVING COUNT(e.seq) <> s.head_seq OR MAX(e.seq) <> s.head_seq OR MIN(e.seq) <> 1`,
  )
  await none(
    "a wrong count of messages",
    `SELECT s.id FROM sessions s JOIN entries e ON e.session_id = s.id AND e.seq = s.head_seq
     WHERE e.message_index <> s.message_count`,
  )
  await none(
    "a wrong count of checkpoints",
    `SELECT s.id FROM sessions s WHERE s.checkpoint_count <>
       (SELECT COUNT(*) FROM session_checkpoints c WHERE c.session_id = s.id)`,
  )
  await none(
    "a checkpoint number used twice or skipped",
    `SELECT s.id FROM sessions s WHERE s.last_checkpoint_number <>
       (SELECT COUNT(*) FROM entries e WHERE e.session_id = s.id AND e.type = 'checkpoint:created')`,
  )
  await none(
    "a history that continues from nothing",
    `SELECT e.seq FROM entries e LEFT JOIN entries p ON p.session_id = e.parent_session_id AND p.seq = e.parent_seq
     WHERE e.parent_seq IS NOT NULL AND p.seq IS NULL`,
  )
  for (const { session, fold } of found.sessions) {
    expect(fold.messages.length, `law 2: messages of ${session.id}`).toBe(session.messageCount)
    expect(fold.phase, `law 9: phase of ${session.id}`).toBe(session.phase)
    expect(session.status).toBe(statusOfPhase(session.phase))
  }
}

/** Laws 2 and 10: beyond the promises there is at most one whole unfinished call, and a branch has only its own rows. */
function checkCounts(found: StoreDescription, promises: Promises): void {
  const { unfinished } = promises
  for (const { session, entries } of found.sessions) {
    const promised = promises.counts.get(session.id)
    if (promised === undefined) {
      expect(["create", "branch"], `a session nobody made: ${session.id}`).toContain(unfinished?.begin)
      expect(entries.length, "law 2: part of a new session").toBe(1)
      continue
    }
    const more = unfinished?.sessionId === session.id ? (unfinished.adds ?? 0) : 0
    expect([promised, promised + more], `laws 2 and 10: entries of ${session.id}`).toContain(entries.length)
  }
  const unknown = found.sessions.filter(({ session }) => !promises.counts.has(session.id))
  expect(unknown.length).toBeLessThanOrEqual(1)
}

async function checkStates(store: Store, promises: Promises): Promise<void> {
  for (const { at, state } of promises.states.values()) {
    const ref = { sessionId: at.sessionId as SessionId, seq: at.seq }
    if ((await store.sessions.find(ref.sessionId)) === undefined) continue
    expect({ ...(await store.state.get(ref)) }, `law 1: state at ${at.seq} of ${at.sessionId}`).toEqual(state)
  }
}

/** Law 7, and life goes on: every session can be taken and written to at once. */
async function checkLeases(store: Store, found: StoreDescription, promises: Promises): Promise<void> {
  for (const { session } of found.sessions) {
    const resource = `session:${session.id}`
    expect(await store.leases.find(resource), "law 7: a dead holder").toBeUndefined()
    const lease = await store.leases.take(resource, { purpose: "recover" })
    expect(lease.number, "lease numbers only grow").toBeGreaterThan(promises.leases.get(resource) ?? 0)
    promises.leases.set(resource, lease.number)
    const head = await store.log.head(session.id)
    const [entry] = await store.log.append(session.id, [{ type: "test:after", data: {} }], { lease })
    expect(entry?.seq).toBe(head.seq + 1)
    promises.counts.set(session.id, head.seq + 1)
    await lease.release()
  }
}

async function checkFile(store: Store): Promise<void> {
  const ask = async (pragma: string): Promise<SqlValue[][]> =>
    (await store.context.driver.all(`PRAGMA ${pragma}`)).map((row) => Object.values(row))
  expect(await ask("integrity_check")).toEqual([["ok"]])
  expect(await ask("foreign_key_check")).toEqual([])
  expect(await ask("journal_mode")).toEqual([["wal"]])
  expect(await ask("synchronous"), "FULL").toEqual([[2]])
}
