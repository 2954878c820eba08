/** The JSON shapes other programs rely on: exactly these keys, whatever else the library knows. */
import type { Checkpoint } from "./checkpoint.js"
import type { Restore } from "./restore.js"
import type { Session, SessionLogLine } from "./session.js"
import type { FileChange, RestorePlan } from "./snapshot.js"

export function checkpointToJson(checkpoint: Checkpoint) {
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
    metadata,
  }
}

export function sessionToJson(session: Session) {
  const { id, name, status, agentType, taskDescription, workspacePath, createdAt, updatedAt } = session
  const { messageCount, checkpointCount, parentSessionId, forkedFromCheckpointId, metadata } = session
  return {
    ...{ id, name, status, agentType, taskDescription, workspacePath, createdAt, updatedAt },
    ...{ messageCount, checkpointCount, parentSessionId, forkedFromCheckpointId, metadata },
  }
}

export function restoreToJson(restore: Restore) {
  const { id, checkpointId, safetyCheckpointId, sessionId, mode } = restore
  return { id, checkpointId, safetyCheckpointId, sessionId, mode }
}

/** At most `most` paths of each kind. */
export function planToJson(plan: RestorePlan, most = Number.POSITIVE_INFINITY) {
  return {
    write: plan.write.slice(0, most),
    delete: plan.delete.slice(0, most),
    untouched: plan.untouched,
    notCaptured: plan.notCaptured.slice(0, most).map(({ path, reason }) => ({ path, reason })),
  }
}

export function changeToJson({ path, status, insertions, deletions, binary, from }: FileChange) {
  return { path, status, insertions, deletions, binary, ...(from !== undefined && { from }) }
}

export function logToJson({ id, level, message, createdAt }: SessionLogLine) {
  return { id, level, message, createdAt }
}
