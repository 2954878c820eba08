/**
 * Every workspace whose snapshots lie on this machine, with the checkpoints that need them. A database in a file lies
 * beside its snapshots, whatever the machine was called; one on a server has those of other machines too.
 */
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
  /** Taken on a machine of another name: its snapshot may lie there. */
  readonly isElsewhere: boolean
}

export interface KnownWorkspace {
  readonly path: string
  readonly rows: readonly SnapshotRow[]
  /** Checkpoints whose rows were lost or changed: their snapshots are the last that is left of them. */
  readonly lost: readonly string[]
}

export async function listWorkspaces(store: Store): Promise<KnownWorkspace[]> {
  const { driver } = store.context
  const host = store.context.host.split("/")[0] as string
  const known = new Map<string, { rows: SnapshotRow[]; lost: string[]; isHere: boolean }>()
  const at = (path: string) => {
    const one = known.get(path) ?? { rows: [], lost: [], isHere: driver.dialect === "sqlite" }
    known.set(path, one)
    return one
  }
  const rows = await driver.all(
    `SELECT session_checkpoints.*, sessions.workspace_path AS path FROM session_checkpoints
     JOIN sessions ON sessions.id = session_checkpoints.session_id WHERE snapshot IS NOT NULL
     ORDER BY session_checkpoints.session_id, number`,
  )
  for (const { path, ...row } of rows) {
    const one = at(path as string)
    const checkpoint = readable(() => toCheckpoint(row))
    if (checkpoint?.snapshot == null || !isAsWritten("session_checkpoints", row)) one.lost.push(row["id"] as string)
    else one.rows.push(pick(checkpoint, checkpoint.snapshot.commit, host))
    if (row["host"] === host) one.isHere = true
  }
  for (const { id, path } of await driver.all("SELECT id, workspace_path AS path FROM sessions")) {
    if (!known.has(path as string)) continue
    const lost = await listLost(driver, id as SessionId).catch(() => []) // unreadable: told by the check of sessions
    at(path as string).lost.push(...lost.map((one) => one.id))
  }
  return [...known].filter(([, { isHere }]) => isHere).map(([path, { rows, lost }]) => ({ path, rows, lost }))
}

function pick(checkpoint: Checkpoint, commit: string, here: string): SnapshotRow {
  const { id, number, sessionId, host } = checkpoint
  return { id, number, sessionId, commit, isElsewhere: host !== here }
}

function readable<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch (error) {
    if (!isKeepupError(error)) throw error
    return undefined // told by the check of checkpoints
  }
}
