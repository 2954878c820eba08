/** Checkpoints and, if wanted, the objects that hold their files. A checkpoint whose files do not travel says so. */
import type { Checkpoint, Session } from "@ku0/agent-runtime-core"
import { toCheckpoint } from "../store/rows.js"
import type { ExportWork } from "./export-work.js"
import { bytesAsLines, line } from "./record-lines.js"
import type { CheckpointRecord } from "./transfer-format.js"

const pageSize = 500

/** The checkpoints of one session up to an entry. `root` is the session the export is about. */
export async function* exportCheckpoints(
  work: ExportWork,
  session: Session,
  upTo: number,
  root: Session,
): AsyncGenerator<string> {
  const missing = new Map<string, number>()
  const names = new Set<string>()
  const kept = work.withFiles ? (await work.snapshots?.(root.workspacePath))?.listCheckpoints() : undefined
  for (let after = 0; ; ) {
    const rows = await work.store.context.driver.all(
      `SELECT * FROM session_checkpoints WHERE session_id = ? AND entry_seq <= ? AND number > ?
       ORDER BY number LIMIT ${pageSize}`,
      [session.id, upTo, after],
    )
    for (const checkpoint of rows.map(toCheckpoint)) {
      after = checkpoint.number
      const reason = checkpoint.snapshot === null ? undefined : whyNoFiles(work, checkpoint, session, root, kept)
      if (reason !== undefined) missing.set(reason, (missing.get(reason) ?? 0) + 1)
      else if (checkpoint.snapshot !== null) work.commits.add(checkpoint.snapshot.commit)
      yield line(work, clean(work, toRecord(checkpoint, reason), names))
    }
    if (rows.length < pageSize) break
  }
  for (const [reason, count] of missing) {
    work.report.leftOut.push({ what: count === 1 ? "files of 1 checkpoint" : `files of ${count} checkpoints`, reason })
  }
}

export async function* exportFiles(work: ExportWork, root: Session): AsyncGenerator<string> {
  if (work.commits.size === 0 || work.snapshots === undefined) return
  const snapshots = await work.snapshots(root.workspacePath)
  for await (const { id, type, data } of snapshots.exportObjects([...work.commits])) {
    yield* bytesAsLines(work, { record: "object", id, type, sizeBytes: data.length }, data)
  }
}

function whyNoFiles(
  { redactor, withFiles, store }: ExportWork,
  checkpoint: Checkpoint,
  session: Session,
  root: Session,
  kept: ReadonlyMap<string, string> | undefined,
): string | undefined {
  if (redactor !== undefined) return "Files are not part of a redacted export."
  if (!withFiles) return "The export was made without files."
  if (session.workspacePath !== root.workspacePath) return `The files belong to ${session.workspacePath}.`
  if (kept?.get(checkpoint.id) === checkpoint.snapshot?.commit) return undefined
  const isElsewhere = checkpoint.host !== store.context.host.split("/")[0]
  return isElsewhere
    ? `The files are on ${checkpoint.host}.`
    : "The snapshot was missing when the session was exported."
}

function toRecord({ host: _, ...checkpoint }: Checkpoint, reason: string | undefined): CheckpointRecord {
  if (reason === undefined) return { record: "checkpoint", ...checkpoint }
  const { shadowCheckpoint: _dropped, ...metadata } = checkpoint.metadata
  const snapshotError = { code: "UNAVAILABLE", message: reason }
  return { record: "checkpoint", ...checkpoint, snapshot: null, metadata: { ...metadata, snapshotError } }
}

/** Two names that look the same without their secrets can't both stay. */
function clean({ redactor }: ExportWork, record: CheckpointRecord, names: Set<string>): CheckpointRecord {
  if (redactor === undefined) return record
  const name = record.name === null ? null : redactor.text(record.name)
  const isFree = name !== null && !names.has(name)
  if (isFree) names.add(name)
  return {
    ...record,
    name: isFree ? name : null,
    note: record.note === null ? null : redactor.text(record.note),
    git: redactor.value(record.git),
    metadata: redactor.value(record.metadata),
  }
}
