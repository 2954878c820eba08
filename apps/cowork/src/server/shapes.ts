/** The JSON shapes of the contract: exactly these keys, whatever else the library knows. */
import type { Artifact, Checkpoint, Entry, FileChange, Lease, Restore, RestorePlan, Session } from "@ku0/agent-runtime"
import type {
  ArtifactJson,
  CheckpointJson,
  EntryJson,
  FileChangeJson,
  Holder,
  ListedSession,
  PlanJson,
  RestoreJson,
  SessionJson,
} from "../api.js"

/** Data of an entry beyond this is not sent along. */
const mostData = 256 << 10

export function sessionToJson(session: Session): SessionJson {
  const { id, name, status, agentType, taskDescription, workspacePath, createdAt, updatedAt } = session
  const { messageCount, checkpointCount, parentSessionId, forkedFromCheckpointId, metadata } = session
  return {
    ...{ id, name, status, agentType, taskDescription, workspacePath, createdAt, updatedAt },
    ...{ messageCount, checkpointCount, parentSessionId, forkedFromCheckpointId, metadata: { ...metadata } },
  }
}

export function listedSession(session: Session, holder: Holder | null): ListedSession {
  return { ...sessionToJson(session), headSeq: session.headSeq, holder }
}

export function holderToJson(lease: Lease | undefined): Holder | null {
  if (lease === undefined) return null
  const { purpose, pid, host, acquiredAt } = lease.holder
  return { purpose, pid, host: host.split("/")[0] as string, since: acquiredAt }
}

export function checkpointToJson(checkpoint: Checkpoint): CheckpointJson {
  const { id, number, name, note, trigger, sessionId, messageIndex, createdAt, pinned, sizeBytes } = checkpoint
  const { snapshot, git, metadata } = checkpoint
  return {
    ...{ id, number, name, note, trigger, sessionId, messageIndex, createdAt, pinned, sizeBytes },
    snapshot: snapshot && {
      commit: snapshot.commit,
      filesChanged: snapshot.filesChanged,
      insertions: snapshot.insertions,
      deletions: snapshot.deletions,
      skipped: snapshot.skipped.map(({ path, reason }) => ({ path, reason })),
    },
    git: git && {
      branch: git.branch,
      head: git.head,
      uncommitted: git.uncommitted,
      untracked: git.untracked,
      operation: git.operation,
    },
    metadata: { ...metadata },
  }
}

export function entryToJson({ sessionId, seq, type, createdAt, messageIndex, parent, data }: Entry): EntryJson {
  const sizeBytes = Buffer.byteLength(JSON.stringify(data) ?? "")
  const shown = sizeBytes > mostData ? { tooLarge: true, sizeBytes } : data
  return { sessionId, seq, type, createdAt, messageIndex, parent: parent && { ...parent }, data: shown }
}

export function changeToJson({ path, status, insertions, deletions, binary, from }: FileChange): FileChangeJson {
  return { path, status, insertions, deletions, binary, ...(from !== undefined && { from }) }
}

export function restoreToJson({ id, checkpointId, safetyCheckpointId, sessionId, mode }: Restore): RestoreJson {
  return { id, checkpointId, safetyCheckpointId, sessionId, mode }
}

export function planToJson(plan: RestorePlan, most = Number.POSITIVE_INFINITY): PlanJson {
  return {
    write: plan.write.slice(0, most),
    delete: plan.delete.slice(0, most),
    untouched: plan.untouched,
    notCaptured: plan.notCaptured.slice(0, most).map(({ path, reason }) => ({ path, reason })),
  }
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
