/** What the page is told beside the shapes every program gets. */
import { type Artifact, type Entry, type Lease, type Session, sessionToJson } from "@ku0/agent-runtime"
import type { ArtifactJson, EntryJson, Holder, ListedSession } from "../api.js"

/** Data of an entry beyond this is not sent along. */
const mostData = 256 << 10

export function listedSession(session: Session, holder: Holder | null): ListedSession {
  return { ...sessionToJson(session), headSeq: session.headSeq, holder }
}

export function holderToJson(lease: Lease | undefined): Holder | null {
  if (lease === undefined) return null
  const { purpose, pid, host, acquiredAt } = lease.holder
  return { purpose, pid, host: host.split("/")[0] as string, since: acquiredAt }
}

export function entryToJson({ sessionId, seq, type, createdAt, messageIndex, parent, data }: Entry): EntryJson {
  const sizeBytes = Buffer.byteLength(JSON.stringify(data) ?? "")
  const shown = sizeBytes > mostData ? { tooLarge: true, sizeBytes } : data
  return { sessionId, seq, type, createdAt, messageIndex, parent: parent && { ...parent }, data: shown }
}

export function artifactToJson(artifact: Artifact): ArtifactJson {
  const { id, sessionId, type, title, mediaType, sizeBytes, hash, createdAt, quarantine } = artifact
  return {
    id,
    sessionId,
    type,
    title,
    mediaType,
    sizeBytes,
    hash,
    createdAt,
    quarantine: quarantine && [...quarantine],
  }
}
