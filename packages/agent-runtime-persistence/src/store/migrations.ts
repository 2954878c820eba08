/**
 * The tables. Position in the list is the schema's version, so steps are only ever added at the end. One text serves
 * both databases; `{key}`, `{integer}` and `{bytes}` stand for the types whose names differ.
 */

export interface Migration {
  readonly name: string
  readonly statements: readonly string[]
}

export const migrations: readonly Migration[] = [
  {
    name: "sessions, entries, checkpoints, logs, leases, restores, blobs, artifacts",
    statements: [
      `CREATE TABLE sessions (
        ordinal {key},
        id TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        agent_type TEXT NOT NULL,
        task_description TEXT NOT NULL,
        status TEXT NOT NULL,
        phase TEXT NOT NULL,
        workspace_path TEXT NOT NULL,
        created_at {integer} NOT NULL,
        updated_at {integer} NOT NULL,
        deleted_at {integer},
        head_seq {integer} NOT NULL,
        message_count {integer} NOT NULL,
        checkpoint_count {integer} NOT NULL,
        last_checkpoint_number {integer} NOT NULL,
        parent_session_id TEXT,
        forked_from_checkpoint_id TEXT,
        metadata TEXT NOT NULL
      )`,
      "CREATE INDEX sessions_by_workspace ON sessions (workspace_path, ordinal)",
      `CREATE TABLE blobs (
        hash TEXT PRIMARY KEY,
        codec TEXT NOT NULL,
        size_bytes {integer} NOT NULL,
        data {bytes} NOT NULL,
        created_at {integer} NOT NULL
      )`,
      `CREATE TABLE entries (
        session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        seq {integer} NOT NULL,
        type TEXT NOT NULL,
        version {integer} NOT NULL,
        data TEXT,
        blob_hash TEXT REFERENCES blobs (hash),
        created_at {integer} NOT NULL,
        message_index {integer} NOT NULL,
        parent_session_id TEXT,
        parent_seq {integer},
        PRIMARY KEY (session_id, seq)
      )`,
      "CREATE INDEX entries_messages ON entries (session_id, seq) WHERE type = 'message:added'",
      "CREATE INDEX entries_state ON entries (session_id, seq) WHERE type = 'state:changed'",
      "CREATE INDEX entries_jumps ON entries (session_id, seq) WHERE parent_seq IS NOT NULL",
      "CREATE INDEX entries_branches ON entries (parent_session_id) WHERE parent_session_id IS NOT NULL",
      "CREATE INDEX entries_blobs ON entries (blob_hash) WHERE blob_hash IS NOT NULL",
      `CREATE TABLE session_checkpoints (
        id TEXT PRIMARY KEY,
        session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        number {integer} NOT NULL,
        name TEXT,
        note TEXT,
        entry_seq {integer} NOT NULL,
        message_index {integer} NOT NULL,
        trigger_event TEXT NOT NULL,
        git_branch TEXT,
        git_head TEXT,
        git_uncommitted {integer},
        git_untracked {integer},
        git_operation TEXT,
        snapshot TEXT,
        host TEXT NOT NULL,
        pinned {integer} NOT NULL,
        size_bytes {integer} NOT NULL,
        metadata TEXT NOT NULL,
        created_at {integer} NOT NULL,
        UNIQUE (session_id, name),
        UNIQUE (session_id, number)
      )`,
      `CREATE INDEX checkpoints_automatic ON session_checkpoints (session_id, number)
        WHERE pinned = 0 AND name IS NULL AND trigger_event <> 'manual'`,
      `CREATE TABLE session_logs (
        id {key},
        session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        level TEXT NOT NULL,
        message TEXT NOT NULL,
        created_at {integer} NOT NULL
      )`,
      "CREATE INDEX session_logs_by_session ON session_logs (session_id, id)",
      `CREATE TABLE leases (
        resource TEXT PRIMARY KEY,
        number {integer} NOT NULL,
        holder_id TEXT,
        host TEXT NOT NULL,
        pid {integer} NOT NULL,
        process_start TEXT NOT NULL,
        purpose TEXT NOT NULL,
        acquired_at {integer} NOT NULL,
        renewed_at {integer} NOT NULL
      )`,
      `CREATE TABLE restores (
        ordinal {key},
        id TEXT NOT NULL UNIQUE,
        session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        workspace_path TEXT NOT NULL,
        checkpoint_id TEXT NOT NULL,
        safety_checkpoint_id TEXT NOT NULL,
        mode TEXT NOT NULL,
        paths TEXT,
        status TEXT NOT NULL,
        undoes TEXT,
        host TEXT NOT NULL,
        created_at {integer} NOT NULL
      )`,
      "CREATE INDEX restores_by_workspace ON restores (workspace_path, ordinal)",
      "CREATE INDEX restores_unfinished ON restores (status) WHERE status = 'started'",
      `CREATE TABLE artifacts (
        ordinal {key},
        id TEXT NOT NULL UNIQUE,
        session_id TEXT REFERENCES sessions (id) ON DELETE CASCADE,
        type TEXT NOT NULL,
        schema_version TEXT NOT NULL,
        title TEXT NOT NULL,
        task_node_id TEXT,
        hash TEXT NOT NULL,
        media_type TEXT NOT NULL,
        size_bytes {integer} NOT NULL,
        quarantine TEXT,
        render_hints TEXT,
        idempotency_key TEXT,
        created_at {integer} NOT NULL
      )`,
      "CREATE UNIQUE INDEX artifacts_once ON artifacts (COALESCE(session_id, ''), idempotency_key)",
      "CREATE INDEX artifacts_by_session ON artifacts (session_id, ordinal)",
      "CREATE INDEX artifacts_by_hash ON artifacts (hash)",
    ],
  },
  {
    name: "execution leases and task snapshots",
    statements: [
      `CREATE TABLE execution_leases (
        lease_id TEXT PRIMARY KEY,
        task_id TEXT NOT NULL,
        worker_id TEXT NOT NULL,
        status TEXT NOT NULL,
        acquired_at {integer} NOT NULL,
        expires_at {integer} NOT NULL,
        last_heartbeat_at {integer} NOT NULL,
        attempt {integer} NOT NULL
      )`,
      "CREATE INDEX execution_leases_by_task ON execution_leases (task_id)",
      `CREATE TABLE execution_task_snapshots (
        task_id TEXT NOT NULL,
        sequence {integer} NOT NULL,
        status TEXT NOT NULL,
        queue_class TEXT NOT NULL,
        task_type TEXT NOT NULL,
        attempt {integer} NOT NULL,
        created_at {integer} NOT NULL,
        payload TEXT NOT NULL,
        worker_id TEXT,
        result TEXT,
        error TEXT,
        model_id TEXT,
        tool_name TEXT,
        metadata TEXT,
        PRIMARY KEY (task_id, sequence)
      )`,
      "CREATE INDEX execution_task_snapshots_by_sequence ON execution_task_snapshots (sequence, task_id)",
    ],
  },
  {
    name: "checksums of entries and checkpoints",
    statements: [
      "ALTER TABLE entries ADD COLUMN checksum TEXT",
      "ALTER TABLE session_checkpoints ADD COLUMN checksum TEXT",
    ],
  },
]

const types = {
  sqlite: { "{key}": "INTEGER PRIMARY KEY AUTOINCREMENT", "{integer}": "INTEGER", "{bytes}": "BLOB" },
  postgres: { "{key}": "BIGSERIAL PRIMARY KEY", "{integer}": "BIGINT", "{bytes}": "BYTEA" },
} as const

/** A statement in the words of one database. */
export function translateTypes(statement: string, dialect: keyof typeof types): string {
  const words: Readonly<Record<string, string>> = types[dialect]
  return statement.replace(/\{(?:key|integer|bytes)\}/g, (word) => words[word] as string)
}
