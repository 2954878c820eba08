/** Sessions: make, find, list, rename, delete. Their status changes only through entries in the log. */
import {
  type CreateSessionOptions,
  type EntryDraft,
  KeepupError,
  type ListSessionsOptions,
  type Session,
  type SessionId,
  type SessionStore,
  sessionStatuses,
} from "@ku0/agent-runtime-core"
import { pageLimit } from "../store/page-limit.js"
import { plainText, toJson, toListedSession, toSession, toSessionLogLine } from "../store/rows.js"
import type { SqlRunner, SqlValue } from "../store/sql-driver.js"
import type { StoreContext } from "../store/store-context.js"
import { appendEntries, lockSession, noSession } from "./append-entries.js"
import { checkLease } from "./check-lease.js"
import { cutSessionName, parseSessionName } from "./session-name.js"

const defaultLimit = 50
const largestLimit = 1_000

export function createSessionStore(context: StoreContext): SessionStore {
  const { driver } = context

  async function create(options: CreateSessionOptions): Promise<Session> {
    const id = context.ids.next() as SessionId
    const now = context.clock.now()
    const row = {
      name: cutSessionName(options.name ?? "New session"),
      agentType: plainText(options.agentType ?? "keepup"),
      taskDescription: plainText(options.taskDescription ?? ""),
      workspacePath: plainText(options.workspacePath),
    }
    const metadata = toJson(options.metadata ?? {}, "metadata")
    return await driver.transaction("create-session", async (tx) => {
      await tx.run(
        `INSERT INTO sessions (id, name, agent_type, task_description, status, phase, workspace_path, created_at,
           updated_at, head_seq, message_count, checkpoint_count, last_checkpoint_number, parent_session_id,
           forked_from_checkpoint_id, metadata)
         VALUES (?, ?, ?, ?, 'active', 'idle', ?, ?, ?, 0, 0, 0, 0, ?, ?, ?)`,
        [
          id,
          row.name,
          row.agentType,
          row.taskDescription,
          row.workspacePath,
          now,
          now,
          options.parent?.sessionId ?? null,
          options.forkedFromCheckpointId ?? null,
          metadata,
        ],
      )
      const { parent, forkedFromCheckpointId: checkpointId } = options
      const data = { ...row, ...(parent && { parent }), ...(checkpointId && { checkpointId }) }
      const started: EntryDraft = { type: "session:started", data, ...(parent && { parent }) }
      await appendEntries(context, tx, await lockSession(context, tx, id), [started], {})
      return await getFrom(tx, id)
    })
  }

  async function findIn(runner: SqlRunner, id: SessionId): Promise<Session | undefined> {
    const row = await runner.get("SELECT * FROM sessions WHERE id = ? AND deleted_at IS NULL", [id])
    return row === undefined ? undefined : toSession(row)
  }

  async function getFrom(runner: SqlRunner, id: SessionId): Promise<Session> {
    const session = await findIn(runner, id)
    if (session !== undefined) return session
    throw noSession(id)
  }

  async function resolve(reference: string): Promise<Session> {
    const wanted = reference.trim().toLowerCase()
    if (!/^[0-9a-f-]{4,36}$/.test(wanted)) {
      throw new KeepupError("INVALID_INPUT", `Not a session id: ${JSON.stringify(reference)}.`, {
        hint: "Give an id, or four or more characters of one.",
      })
    }
    const rows = await driver.all(
      "SELECT * FROM sessions WHERE id LIKE ? AND deleted_at IS NULL ORDER BY ordinal DESC LIMIT 5",
      [`%${wanted}%`],
    )
    const [only] = rows
    if (only !== undefined && (rows.length === 1 || only["id"] === wanted)) return toSession(only)
    if (only === undefined) {
      throw new KeepupError("NOT_FOUND", `No session matches ${reference}.`, {
        hint: "`keepup session list` shows what there is.",
      })
    }
    throw new KeepupError(
      "INVALID_INPUT",
      `More than one session matches ${reference}: ${rows.map((r) => r["id"]).join(", ")}.`,
      {
        hint: "Give more characters of the id.",
      },
    )
  }

  async function list(options: ListSessionsOptions = {}): Promise<Session[]> {
    const where = ["deleted_at IS NULL"]
    const params: SqlValue[] = []
    if (options.status !== undefined) {
      const wanted = typeof options.status === "string" ? [options.status] : options.status
      for (const status of wanted) {
        if (!sessionStatuses.includes(status))
          throw new KeepupError("INVALID_INPUT", `Not a session status: ${status}.`)
      }
      if (wanted.length === 0) return []
      where.push(`status IN (${wanted.map(() => "?").join(", ")})`)
      params.push(...wanted)
    }
    if (options.workspacePath !== undefined) {
      where.push("workspace_path = ?")
      params.push(options.workspacePath)
    }
    for (const word of (options.search ?? "").toLowerCase().split(/\s+/).filter(Boolean)) {
      const fields = ["name", "task_description", "workspace_path", "agent_type", "id"]
      where.push(`(${fields.map((field) => `LOWER(${field}) LIKE ? ESCAPE '!'`).join(" OR ")})`)
      params.push(...fields.map(() => `%${word.replace(/[!%_]/g, "!$&")}%`))
    }
    if (options.before !== undefined) {
      const row = await driver.get("SELECT ordinal FROM sessions WHERE id = ?", [options.before])
      if (row === undefined) throw noSession(options.before)
      where.push("ordinal < ?")
      params.push(row["ordinal"] as number)
    }
    params.push(pageLimit(options.limit, defaultLimit, largestLimit))
    const rows = await driver.all(
      `SELECT * FROM sessions WHERE ${where.join(" AND ")} ORDER BY ordinal DESC LIMIT ?`,
      params,
    )
    return rows.map(toListedSession)
  }

  /** Changes one column under the session's lock. */
  async function update(
    id: SessionId,
    change: (session: Session) => { column: string; value: string },
  ): Promise<Session> {
    return await driver.transaction("update-session", async (tx) => {
      await lockSession(context, tx, id)
      const session = await getFrom(tx, id)
      const { column, value } = change(session)
      const now = Math.max(session.updatedAt, context.clock.now())
      await tx.run(`UPDATE sessions SET ${column} = ?, updated_at = ? WHERE id = ?`, [value, now, id])
      return await getFrom(tx, id)
    })
  }

  async function remove(id: SessionId): Promise<void> {
    await driver.transaction("delete-session", async (tx) => {
      await lockSession(context, tx, id)
      await checkLease(context, tx, id, undefined)
      await refuseUnderWay(tx, id)
      await tx.run("UPDATE sessions SET deleted_at = ? WHERE id = ?", [context.clock.now(), id])
      await dropUnshared(context, tx, id)
    })
  }

  async function addLog(...[id, level, message]: Parameters<SessionStore["addLog"]>): Promise<void> {
    await driver.transaction("log", async (tx) => {
      await lockSession(context, tx, id)
      await tx.run("INSERT INTO session_logs (session_id, level, message, created_at) VALUES (?, ?, ?, ?)", [
        id,
        level,
        plainText(message),
        context.clock.now(),
      ])
    })
  }

  async function listLogs(...[id, options = {}]: Parameters<SessionStore["listLogs"]>) {
    const rows = await driver.all(
      "SELECT * FROM session_logs WHERE session_id = ? AND id < ? ORDER BY id DESC LIMIT ?",
      [id, options.before ?? Number.MAX_SAFE_INTEGER, pageLimit(options.limit, defaultLimit, largestLimit)],
    )
    return rows.map(toSessionLogLine)
  }

  return {
    create,
    get: (id) => getFrom(driver, id),
    find: (id) => findIn(driver, id),
    resolve,
    list,
    rename: (id, name) => update(id, () => ({ column: "name", value: parseSessionName(name) })),
    updateMetadata: (id, change) =>
      update(id, ({ metadata }) => ({ column: "metadata", value: toJson({ ...metadata, ...change }, "metadata") })),
    delete: remove,
    addLog,
    listLogs,
  }
}

/** A restore that is not over yet may need its checkpoints to go on, or to go back; with them it would be forgotten. */
async function refuseUnderWay(tx: SqlRunner, id: SessionId): Promise<void> {
  const restore = await tx.get(
    `SELECT id FROM restores WHERE status = 'started' AND (session_id = ?
       OR checkpoint_id IN (SELECT id FROM session_checkpoints WHERE session_id = ?))`,
    [id, id],
  )
  if (restore === undefined) return
  throw new KeepupError("CONFLICT", `Session ${id} is part of a restore that is not over.`, {
    hint: "The next keepup command finishes the restore or takes it back; delete the session after that.",
  })
}

/** Takes a deleted session's rows away unless a branch shares its entries; then the same for those it shared with. */
async function dropUnshared(context: StoreContext, tx: SqlRunner, id: SessionId): Promise<void> {
  const todo = [id]
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    for (const unshared of await findUnshared(context, tx, next)) {
      const parents = await tx.all(
        "SELECT DISTINCT parent_session_id FROM entries WHERE session_id = ? AND parent_session_id <> ?",
        [unshared, unshared],
      )
      todo.push(...parents.map((row) => row["parent_session_id"] as SessionId))
      await tx.run("DELETE FROM leases WHERE resource = ?", [`session:${unshared}`])
      await tx.run("DELETE FROM sessions WHERE id = ?", [unshared])
    }
  }
}

/**
 * A deleted session and the deleted ones that branch from it, however they hang together; none of them if a session
 * that is still there branches from one of them. Locked, so that none does from now on.
 */
async function findUnshared(context: StoreContext, tx: SqlRunner, id: SessionId): Promise<Set<SessionId>> {
  const seen = new Set<SessionId>([id])
  for (const each of seen) {
    const row = await tx.get(`SELECT deleted_at FROM sessions WHERE id = ?${context.driver.forUpdate}`, [each])
    if (row === undefined || row["deleted_at"] === null) return new Set()
    const branches = await tx.all(
      "SELECT DISTINCT session_id FROM entries WHERE parent_session_id = ? AND session_id <> ?",
      [each, each],
    )
    for (const branch of branches) seen.add(branch["session_id"] as SessionId)
  }
  return seen
}
