/**
 * Artifacts: a record in the database, content by its hash. Content goes to files where the store has a folder for it,
 * else into the database, where other hosts see it too. Content first, then the record that names it.
 */
import {
  type Artifact,
  type ArtifactId,
  type ArtifactStore,
  describeValue,
  KeepupError,
  type SessionId,
} from "@ku0/agent-runtime-core"
import { lockSession } from "../session/append-entries.js"
import { encodeBlob, putBlob, readBlob } from "../state/blob-store.js"
import { largestTime } from "../store/largest-time.js"
import { sha256 } from "../store/lazy-crypto.js"
import { pageLimit } from "../store/page-limit.js"
import { plainText, toJson } from "../store/rows.js"
import type { SqlRow, SqlRunner, SqlValue } from "../store/sql-driver.js"
import type { StoreContext } from "../store/store-context.js"

/** Where content lies, if not in the database. */
export interface ArtifactContent {
  /** Durable when it resolves; the same content twice is kept once. */
  put(content: Uint8Array): Promise<{ hash: string }>
  /** Throws `NOT_FOUND` if it is not there, `CORRUPT` if it is not what its name says. */
  read(hash: string): Promise<Uint8Array>
  has(hash: string): Promise<boolean>
}

const defaultLimit = 50
const largestLimit = 1_000
export const longestArtifactId = 1_000

export function createArtifactStore(context: StoreContext, content: ArtifactContent | undefined): ArtifactStore {
  const { driver } = context

  async function put(...[artifact, bytes]: Parameters<ArtifactStore["put"]>): Promise<Artifact> {
    requireKeepable(artifact)
    const hash = sha256(bytes)
    const record: Artifact = { ...artifact, hash, sizeBytes: bytes.byteLength }
    await content?.put(bytes)
    context.onStep("artifact:content-kept")
    const blob = content === undefined ? await encodeBlob(bytes) : undefined
    return await driver.transaction("artifact", async (tx) => {
      const known = await findRecord(tx, record.id)
      if (known !== undefined) return acceptSame(known, record)
      const sameKey = await findByKey(tx, record)
      if (sameKey !== undefined) return sameKey
      if (record.sessionId !== null) await lockSession(context, tx, record.sessionId)
      if (blob !== undefined) await putBlob(tx, blob, context.clock.now())
      if (await insertArtifact(tx, record)) return record
      return acceptSame((await findRecord(tx, plainText(record.id))) as Artifact, record) // someone was faster
    })
  }

  async function find(id: string): Promise<Artifact | undefined> {
    return await findRecord(driver, id)
  }

  async function get(id: string): Promise<Artifact> {
    const artifact = await find(id)
    if (artifact !== undefined) return artifact
    throw new KeepupError("NOT_FOUND", `There is no artifact ${id}.`)
  }

  async function read(id: string): Promise<Uint8Array> {
    const { hash } = await get(id)
    if (content !== undefined && (await content.has(hash))) return await content.read(hash)
    const inDatabase = await driver.get("SELECT 1 FROM blobs WHERE hash = ?", [hash])
    if (inDatabase !== undefined) return await readBlob(driver, hash)
    throw new KeepupError("UNAVAILABLE", `The content ${hash} of artifact ${id} is not on this machine.`, {
      hint: "It may lie on the host that made it. Run `keepup doctor` to see what is missing.",
      details: { id, hash },
    })
  }

  async function list(options: Parameters<ArtifactStore["list"]>[0] = {}): Promise<Artifact[]> {
    const where = ["1 = 1"]
    const params: SqlValue[] = []
    if (options.sessionId !== undefined) {
      where.push("session_id = ?")
      params.push(options.sessionId)
    }
    if (options.quarantined !== undefined) where.push(`quarantine IS ${options.quarantined ? "NOT " : ""}NULL`)
    if (options.before !== undefined) {
      where.push("ordinal < (SELECT ordinal FROM artifacts WHERE id = ?)")
      params.push(options.before)
    }
    params.push(pageLimit(options.limit, defaultLimit, largestLimit))
    const rows = await driver.all(
      `SELECT * FROM artifacts WHERE ${where.join(" AND ")} ORDER BY ordinal DESC LIMIT ?`,
      params,
    )
    return rows.map(toArtifact)
  }

  return { put, get, find, read, list }
}

/** What no file could take elsewhere is not let in. */
function requireKeepable({ id, createdAt }: Pick<Artifact, "id" | "createdAt">): void {
  if (id === "" || id.length > longestArtifactId) {
    throw new KeepupError("INVALID_INPUT", "The id of an artifact has 1 to 1,000 characters.", {
      hint: "Nothing was kept. Give it a shorter id, and say the rest in its title.",
    })
  }
  if (Number.isSafeInteger(createdAt) && Math.abs(createdAt) <= largestTime) return
  throw new KeepupError(
    "INVALID_INPUT",
    `The time of artifact ${describeValue(id)} must be a whole number, and possible.`,
  )
}

async function findRecord(runner: SqlRunner, id: string): Promise<Artifact | undefined> {
  const row = await runner.get("SELECT * FROM artifacts WHERE id = ?", [id])
  return row === undefined ? undefined : toArtifact(row)
}

async function findByKey(tx: SqlRunner, { sessionId, idempotencyKey }: Artifact): Promise<Artifact | undefined> {
  if (idempotencyKey === null) return undefined
  const row = await tx.get("SELECT * FROM artifacts WHERE COALESCE(session_id, '') = ? AND idempotency_key = ?", [
    sessionId ?? "",
    plainText(idempotencyKey),
  ])
  return row === undefined ? undefined : toArtifact(row)
}

function acceptSame(known: Artifact, offered: Artifact): Artifact {
  const same: (keyof Artifact)[] = ["hash", "type", "schemaVersion", "sessionId"]
  if (same.every((key) => known[key] === offered[key])) return known
  throw new KeepupError("CONFLICT", `There is another artifact ${known.id} already.`, { hint: "Give it a new id." })
}

/** Only the record: its content is kept already. False if there is another one of its id. */
export async function insertArtifact(tx: SqlRunner, artifact: Artifact): Promise<boolean> {
  const inserted = await tx.run(
    `INSERT INTO artifacts (id, session_id, type, schema_version, title, task_node_id, hash, media_type, size_bytes,
       quarantine, render_hints, idempotency_key, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING`,
    [
      plainText(artifact.id),
      artifact.sessionId,
      plainText(artifact.type),
      plainText(artifact.schemaVersion),
      plainText(artifact.title),
      artifact.taskNodeId === null ? null : plainText(artifact.taskNodeId),
      artifact.hash,
      plainText(artifact.mediaType),
      artifact.sizeBytes,
      artifact.quarantine === null ? null : JSON.stringify(artifact.quarantine),
      artifact.renderHints === null ? null : toJson(artifact.renderHints, "field renderHints of the artifact"),
      artifact.idempotencyKey === null ? null : plainText(artifact.idempotencyKey),
      artifact.createdAt,
    ],
  )
  return inserted > 0
}

function toArtifact(row: SqlRow): Artifact {
  return {
    id: row["id"] as ArtifactId,
    sessionId: row["session_id"] as SessionId | null,
    type: String(row["type"]),
    schemaVersion: String(row["schema_version"]),
    title: String(row["title"]),
    taskNodeId: row["task_node_id"] as string | null,
    hash: String(row["hash"]),
    mediaType: String(row["media_type"]),
    sizeBytes: Number(row["size_bytes"]),
    createdAt: Number(row["created_at"]),
    quarantine: row["quarantine"] === null ? null : JSON.parse(row["quarantine"] as string),
    renderHints: row["render_hints"] === null ? null : JSON.parse(row["render_hints"] as string),
    idempotencyKey: row["idempotency_key"] as string | null,
  }
}
