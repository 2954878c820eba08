/** The artifacts of an export: all of the session, and those its history names, each with the content it leaves with. */
import { type Artifact, isKeepupError, type SessionId } from "@ku0/agent-runtime-core"
import { sha256 } from "../store/lazy-crypto.js"
import type { ExportWork, LeftOut } from "./export-work.js"
import { createRedactor, type Redactor } from "./redactor.js"
import type { ArtifactRecord } from "./transfer-format.js"

export interface ExportedArtifact {
  readonly record: ArtifactRecord
  readonly bytes: Uint8Array
}

export function createArtifactSource(work: ExportWork, sessionId: SessionId) {
  const { store, redactor, report } = work
  const named = new Set<string>()
  /** Facts of contents that redaction changes. */
  const changed = new Map<string, { hash: string; sizeBytes: number }>()

  /** Remembers which artifacts an entry names. */
  async function note(type: string, data: unknown): Promise<void> {
    if (type === "message:added") {
      const { artifactIds } = (data as { message: { artifactIds?: unknown } }).message
      for (const id of Array.isArray(artifactIds) ? artifactIds : []) if (typeof id === "string") named.add(id)
    } else if (type === "artifact:emitted" || type === "artifact:quarantined") {
      const artifactId = (data as { artifactId?: unknown } | null)?.artifactId
      if (typeof artifactId !== "string") return // whoever emitted it did not say
      named.add(artifactId)
      if (redactor === undefined) return
      const artifact = await store.artifacts.find(artifactId)
      // counted when it is listed
      if (artifact !== undefined) await read(artifact, createRedactor(), [])
    }
  }

  /** The content as it leaves, or `undefined` if it can't be read. */
  async function read(artifact: Artifact, by: Redactor | undefined, leftOut: LeftOut[]) {
    try {
      const bytes = await store.artifacts.read(artifact.id)
      if (by === undefined) return bytes
      if (by.isSecretInBytes(bytes)) {
        leftOut.push({
          what: `artifact ${nameOf(artifact)}`,
          reason: "It is no text, and holds what looks like a secret.",
        })
        return undefined
      }
      const clean = by.content(bytes, artifact.mediaType)
      changed.set(artifact.id, { hash: sha256(clean), sizeBytes: clean.byteLength })
      return clean
    } catch (error) {
      if (!isKeepupError(error)) throw error
      leftOut.push({ what: `artifact ${nameOf(artifact)}`, reason: error.message })
      return undefined
    }
  }

  function nameOf({ id }: Artifact): string {
    return redactor?.text(id) ?? id
  }

  function withNewContent(data: unknown): unknown {
    const facts = changed.get((data as { artifactId?: string } | null)?.artifactId as string)
    return facts === undefined ? data : { ...(data as object), ...facts }
  }

  async function* list(): AsyncGenerator<ExportedArtifact> {
    const rows = await store.context.driver.all("SELECT id FROM artifacts WHERE session_id = ? ORDER BY ordinal", [
      sessionId,
    ])
    const ids = new Set([...rows.map(({ id }) => id as string), ...named])
    const taken = new Set<string>()
    for (const id of ids) {
      const artifact = await store.artifacts.find(id)
      if (artifact === undefined) continue // named by the history, and gone since
      const bytes = await read(artifact, redactor, report.leftOut)
      if (bytes === undefined) continue
      const record = toRecord(artifact, bytes)
      if (taken.has(record.id)) {
        report.leftOut.push({
          what: `artifact ${record.id}`,
          reason: "Without its secret, another one has the same id.",
        })
        continue
      }
      taken.add(record.id)
      const { idempotencyKey: key } = record
      const isFree = key === null || !taken.has(JSON.stringify(key))
      if (key !== null) taken.add(JSON.stringify(key))
      yield { record: isFree ? record : { ...record, idempotencyKey: null }, bytes }
    }
  }

  /** What other sessions made, or none, comes along as this session's; a key for emitting it again is then of no use. */
  function toRecord(artifact: Artifact, bytes: Uint8Array): ArtifactRecord {
    const isOwn = artifact.sessionId === sessionId
    const content = { hash: artifact.hash, sizeBytes: bytes.byteLength, ...changed.get(artifact.id) }
    const { hash: _hash, sizeBytes: _size, sessionId: _session, ...facts } = artifact
    const clean = (redactor?.value(facts) ?? facts) as typeof facts
    const idempotencyKey = isOwn ? clean.idempotencyKey : null
    return { record: "artifact", ...clean, ...content, sessionId, idempotencyKey }
  }

  return { note, withNewContent, list }
}
