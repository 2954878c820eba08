/** `sqlite:PATH`, `postgres://…` or `memory:` → a Store. If it can't be opened, it says why; there is no fallback. */
import {
  type ArtifactStore,
  type Clock,
  createIdSource,
  type IdSource,
  KeepupError,
  type SessionLog,
  type SessionStore,
  type StateStore,
} from "@ku0/agent-runtime-core"
import { type ArtifactContent, createArtifactStore } from "../artifact/artifact-store.js"
import { createCheckpointStore, type OpenCheckpointStore } from "../checkpoint/checkpoint-store.js"
import { hostIdentity } from "../session/process-identity.js"
import { createLeaseStore, type OpenLeaseStore } from "../session/session-lease.js"
import { createSessionLog } from "../session/session-log.js"
import { createSessionStore } from "../session/session-store.js"
import { createStateStore } from "../state/state-store.js"
import { fillRandom } from "./lazy-crypto.js"
import { migratePostgres, migrateSqlite } from "./migrate.js"
import type { SqlDriver, StepProbe } from "./sql-driver.js"
import { findSqlitePath } from "./sqlite-address.js"
import { openSqliteDriver } from "./sqlite-driver.js"
import type { StoreContext } from "./store-context.js"

export interface OpenStoreOptions {
  /** Wall clock unless told. */
  readonly clock?: Clock
  readonly ids?: IdSource
  /** Names this machine. Known from the system unless told. */
  readonly host?: string
  /** Where artifact content lies; in the database if not given. */
  readonly artifactContent?: ArtifactContent
  /** How long to wait for another process's write. */
  readonly busyTimeoutMs?: number
  /** Connections to a PostgreSQL server at most. */
  readonly connections?: number
  /** Told of every named step, for crash tests. Must not throw. */
  readonly onStep?: StepProbe
}

export interface Store {
  readonly kind: "sqlite" | "postgres" | "memory"
  readonly schemaVersion: number
  readonly sessions: SessionStore
  readonly log: SessionLog
  readonly checkpoints: OpenCheckpointStore
  readonly state: StateStore
  readonly artifacts: ArtifactStore
  readonly leases: Omit<OpenLeaseStore, "releaseAll">
  /** What the parts share, for the maintenance that lies beside them. */
  readonly context: StoreContext
  /** Gives back leases and closes the database. Safe to call twice. */
  close(): Promise<void>
}

export async function openStore(url: string, options: OpenStoreOptions = {}): Promise<Store> {
  const onStep = options.onStep ?? (() => undefined)
  const { kind, driver, schemaVersion } = await openDriver(url, options, onStep)
  const clock = options.clock ?? { now: () => Date.now() }
  const context: StoreContext = {
    driver,
    clock,
    ids: options.ids ?? createIdSource(clock, fillRandom),
    host: options.host ?? hostIdentity(),
    onStep,
    onAppended: new Set(),
    ...(options.artifactContent && { artifactContent: options.artifactContent }),
  }
  const leases = createLeaseStore(context)
  return {
    kind,
    schemaVersion,
    sessions: createSessionStore(context),
    log: createSessionLog(context),
    checkpoints: createCheckpointStore(context),
    state: createStateStore(context),
    artifacts: createArtifactStore(context, options.artifactContent),
    leases,
    context,
    async close() {
      try {
        await leases.releaseAll()
      } finally {
        await driver.close()
      }
    },
  }
}

async function openDriver(url: string, options: OpenStoreOptions, onStep: StepProbe) {
  if (/^postgres(ql)?:\/\//.test(url)) {
    const { openPostgresDriver } = await import("./postgres-driver.js")
    const driver = await openPostgresDriver({ url, onStep, connections: options.connections ?? 4 })
    return await ready("postgres", driver, () => migratePostgres(driver))
  }
  const path = findSqlitePath(url)
  if (path === undefined) {
    throw new KeepupError("INVALID_INPUT", `Not the address of a store: ${JSON.stringify(withoutSecrets(url))}.`, {
      hint: "Use sqlite:PATH, postgres://user:password@host/database, or memory:.",
    })
  }
  const driver = openSqliteDriver({ path, busyTimeoutMs: options.busyTimeoutMs ?? 10_000, onStep })
  return await ready(path === ":memory:" ? "memory" : "sqlite", driver, () => migrateSqlite(driver))
}

/** Closes the driver again if the schema can't be used. */
async function ready<Kind extends Store["kind"]>(kind: Kind, driver: SqlDriver, migrate: () => Promise<number>) {
  try {
    return { kind, driver, schemaVersion: await migrate() }
  } catch (error) {
    await driver.close()
    throw error
  }
}

/** A path is shown whole; of another kind of address only what it begins with, since a password may be anywhere in it. */
function withoutSecrets(url: string): string {
  return url.startsWith("sqlite:") || !/[@?]/.test(url) ? url : url.replace(/^([\w+.-]{0,20}:)?.*$/s, "$1…")
}
