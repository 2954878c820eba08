/** Every workspace whose snapshots lie on this machine, with the checkpoints that need them. */
import type { Checkpoint, SessionId } from "@ku0/agent-runtime-core"
import { isKeepupError } from "@ku0/agent-runtime-core"
import type { Store } from "../store/open-store.js"
import { isAsWritten } from "../store/row-checksum.js"
import { toCheckpoint } from "../store/rows.js"
import { listLost } from "./derive-session.js"

export interface SnapshotRow {
  readonly id: string
  readonly number: number
  readonly sessionId: string
  readonly commit: string
}

export interface KnownWorkspace {
  readonly path: string
  readonly rows: readonly SnapshotRow[]
  /** Checkpoints whose rows were lost or changed: their snapshots are the last that is left of them. */
  readonly lost: readonly string[]
}

export async function listWorkspaces(store: Store): Promise<KnownWorkspace[]> {
  const { driver, host } = store.context
  const known = new Map<string, { rows: SnapshotRow[]; lost: string[] }>()
  const at = (path: string) => {
    const one = known.get(path) ?? { rows: [], lost: [] }
    known.set(path, one)
    return one
  }
  const rows = await driver.all(
    `SELECT session_checkpoints.*, sessions.workspace_path AS path FROM session_checkpoints
     JOIN sessions ON sessions.id = session_checkpoints.session_id WHERE snapshot IS NOT NULL AND host = ?
     ORDER BY session_checkpoints.session_id, number`,
    [host.split("/")[0] as string],
  )
  for (const { path, ...row } of rows) {
    const checkpoint = readable(() => toCheckpoint(row))
    if (checkpoint?.snapshot == null || !isAsWritten("session_checkpoints", row))
      at(path as string).lost.push(row["id"] as string)
    else at(path as string).rows.push(pick(checkpoint, checkpoint.snapshot.commit))
  }
  for (const { id, path } of await driver.all("SELECT id, workspace_path AS path FROM sessions")) {
    if (!known.has(path as string)) continue
    const lost = await listLost(driver, id as SessionId).catch(() => []) // unreadable: told by the check of sessions
    at(path as string).lost.push(...lost.map((one) => one.id))
  }
  return [...known].map(([path, one]) => ({ path, ...one }))
}

function pick({ id, number, sessionId }: Checkpoint, commit: string): SnapshotRow {
  return { id, number, sessionId, commit }
}

function readable<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch (error) {
    if (!isKeepupError(error)) throw error
    return undefined // told by the check of checkpoints
  }
}
