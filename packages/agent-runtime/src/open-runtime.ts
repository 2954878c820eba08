/** Wires it all: a store, the snapshots of the workspaces, checkpoints and time travel, behind one object. */
import { resolve } from "node:path"
import { type CheckpointId, type Clock, type GitFacts, type Session, toKeepupError } from "@ku0/agent-runtime-core"
import {
  cleanupSessions,
  collectGarbage,
  createArtifactContent,
  createCheckpointManager,
  createHandoffKeeper,
  damagedMark,
  importedMark,
  isTaskCheckpoint,
  isWorkspaceThere,
  listOtherUsers,
  noteSnapshotUser,
  openSnapshotStore,
  openStore,
  type RecoverResult,
  readGitSignature,
  recoverAll,
  type SnapshotStore,
  type Store,
  type SweptSnapshots,
  sweepArtifacts,
  type TimeTravelContext,
} from "@ku0/agent-runtime-persistence"
import { type Config, resolveConfig } from "./config.js"
import { artifactFolder, databaseFile } from "./database-file.js"
import { createGitReader } from "./git-reader.js"
import { placesIn } from "./state-directory.js"

export interface OpenRuntimeOptions {
  readonly stateDirectory: string
  /** The folder the agent works in. */
  readonly workspacePath: string
  /** `sqlite:PATH`, `postgres://…` or `memory:`; by the configuration unless told. */
  readonly db?: string
  readonly config?: Config
  /** Handed to git and to the commands of the built-in agent; nothing else reads it. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly homeDirectory?: string
  readonly clock?: Clock
  /** What the user should know. Must not throw. */
  readonly onWarning?: (message: string) => void
  /** How much is done, of how much, of what: files read for a snapshot unless told. Must not throw. */
  readonly onProgress?: (done: number, total: number, what?: string) => void
  /** False: leave sessions that died as they are. */
  readonly recover?: boolean
  /** A checkpoint of the workspace is taken right away: git tells its facts while the rest is opened. */
  readonly isForCheckpoint?: boolean
}

export interface Runtime extends TimeTravelContext {
  readonly config: Config
  readonly workspacePath: string
  readonly stateDirectory: string
  /** What was handed in: for git, and for the commands of the agent. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** What opening found dead and closed properly. */
  readonly recovered: RecoverResult
  /** The workspace's newest session that is not a finished import. */
  findCurrentSession(): Promise<Session | undefined>
  readGit(workspacePath?: string): Promise<GitFacts | null>
  /** Frees what nothing reaches any more, in the database, the artifacts and the snapshots. */
  /** `signal` stops it between two workspaces, and its reason is thrown; what was freed stays freed. */
  collectGarbage(options?: { dryRun?: boolean; signal?: AbortSignal }): Promise<GarbageReport>
  cleanupSessions(options?: { olderThanMs?: number; dryRun?: boolean }): ReturnType<typeof cleanupSessions>
  close(): Promise<void>
}

/** All bytes are those on the disk, or in the database as they lay there. */
export interface GarbageReport {
  /** Values in the database. */
  readonly values: number
  readonly bytes: number
  readonly artifacts: number
  /** Not told by a dry run, which looks neither at artifacts nor at snapshots. */
  readonly artifactBytes?: number
  /** Of all workspaces that were swept; not told by a dry run. */
  readonly snapshots?: SweptSnapshots
  /** Workspaces whose snapshots were looked at. */
  readonly workspaces: readonly string[]
  /** Workspaces whose snapshots were left as they are, and why. */
  readonly left: readonly { readonly path: string; readonly reason: string }[]
}

export async function openRuntime(options: OpenRuntimeOptions): Promise<Runtime> {
  const config = options.config ?? resolveConfig().config
  const workspacePath = resolve(options.workspacePath)
  const { environment, stateDirectory } = options
  const clock = options.clock ?? { now: () => Date.now() }
  const { db, artifacts } = placesIn(stateDirectory, {
    ...(options.db && { db: options.db }),
    storage: config.storage,
    workspacePath,
  })
  // a folder for each database: what one does not know of, its sweep would take away from the other
  const file = databaseFile(db)
  const content =
    file === undefined
      ? undefined
      : createArtifactContent({ folder: artifactFolder(artifacts, file, stateDirectory), clock })
  const git = createGitReader({ workspacePath, environment, isEarly: options.isForCheckpoint === true })
  const store: Store = await openStore(db, { clock, ...(content && { artifactContent: content }) }).catch((error) => {
    git.stop()
    throw error
  })
  const opened = new Map<string, Promise<SnapshotStore>>()
  /** Opened while their workspace was gone. */
  const gone = new Map<string, Promise<SnapshotStore>>()
  const outdated: Promise<SnapshotStore>[] = []

  function snapshots(path: string): Promise<SnapshotStore> {
    const known = opened.get(path)
    if (known !== undefined && !(gone.get(path) === known && isWorkspaceThere(path))) return known
    if (known !== undefined) outdated.push(known) // someone may still be reading
    const fresh = openSnapshotStore({
      workspacePath: path,
      stateDirectory,
      environment,
      clock,
      capture: { include: config["capture.include"], maxFileSize: config["capture.maxFileSize"] },
      databases: file === undefined ? [] : [file],
      ...(options.homeDirectory !== undefined && { homeDirectory: options.homeDirectory }),
      ...(options.onProgress && { onProgress: options.onProgress }),
    })
    const noted = fresh.then((snapshotStore) => {
      noteSnapshotUser(snapshotStore.directory, store)
      if (snapshotStore.isGone) gone.set(path, noted)
      return snapshotStore
    })
    opened.set(path, noted)
    noted.catch(() => opened.delete(path))
    return noted
  }

  const told = options.onWarning && { onWarning: options.onWarning }
  const manager = createCheckpointManager({
    store,
    snapshots,
    gitFacts: git.takeFacts,
    gitSignature: readGitSignature,
    retention: { keep: config["checkpoint.retention"] },
    ...(config["handoff.path"] !== "" && {
      handoff: createHandoffKeeper({ store, template: config["handoff.path"], ...told }),
    }),
    ...told,
  })
  const context: TimeTravelContext = { store, manager, snapshots }

  async function findCurrentSession(): Promise<Session | undefined> {
    const sessions = await store.sessions.list({ workspacePath, limit: 200 })
    const isUsable = ({ metadata, status }: Session) =>
      !(metadata[importedMark] === true && status === "completed") && metadata[damagedMark] === undefined
    return sessions.find(isUsable)
  }

  async function collect(request: { dryRun?: boolean; signal?: AbortSignal } = {}): Promise<GarbageReport> {
    const { values, bytes } = await collectGarbage(store.context, request)
    const artifactsSwept =
      content === undefined || request.dryRun === true ? undefined : await sweepArtifacts(store.context, content)
    const workspaces = await listWorkspaces(store)
    const kept = new Set([...workspaces.values()].flatMap((ids) => [...ids]))
    const left: { path: string; reason: string }[] = []
    const swept: SweptSnapshots[] = []
    let looked = 0
    for (const [path, ids] of request.dryRun === true ? [] : workspaces) {
      request.signal?.throwIfAborted()
      options.onProgress?.(looked++, workspaces.size, "Sweeping snapshots of workspaces")
      const outcome = await sweepSnapshots(path, kept, ids).catch((error) => toKeepupError(error).message)
      if (typeof outcome === "string") left.push({ path, reason: outcome })
      else swept.push(outcome)
    }
    const sum = (key: keyof SweptSnapshots) => swept.reduce((total, one) => total + one[key], 0)
    const snapshotsSwept = { dropped: sum("dropped"), bytesBefore: sum("bytesBefore"), bytesAfter: sum("bytesAfter") }
    return {
      ...{ values, bytes, artifacts: artifactsSwept?.removed ?? 0 },
      ...(request.dryRun !== true && { artifactBytes: artifactsSwept?.freedBytes ?? 0, snapshots: snapshotsSwept }),
      workspaces: [...workspaces.keys()].filter((path) => !left.some((one) => one.path === path)),
      left,
    }
  }

  /**
   * Or why they were left alone: a workspace that is gone is no reason to keep the rubbish of all others. `ids` are
   * those of all checkpoints, whatever workspace their sessions name, so that a damaged row costs no snapshot; `mine`
   * those of this one: what only lost its ref is no rubbish.
   */
  async function sweepSnapshots(
    path: string,
    ids: ReadonlySet<string>,
    mine: ReadonlySet<CheckpointId>,
  ): Promise<SweptSnapshots | string> {
    const own = await snapshots(path)
    const refs = own.listCheckpoints()
    for (const id of mine) {
      if (refs.has(id)) continue
      const commit = (await store.checkpoints.get(id)).snapshot?.commit
      const isThere = commit !== undefined && (await own.describe(commit).catch(() => undefined)) !== undefined
      if (isThere) return "A snapshot has lost what keeps it; run `keepup doctor --repair` first."
    }
    const [other] = listOtherUsers(own.directory, store)
    if (other !== undefined) return `Another database, ${other}, keeps checkpoints of this workspace too.`
    // Those of tasks belong to whoever uses the snapshots without a database.
    return await own.gc([...ids, ...[...refs.keys()].filter(isTaskCheckpoint)])
  }

  async function close(): Promise<void> {
    git.stop()
    const results = await Promise.allSettled([...opened.values(), ...outdated].map(async (one) => (await one).close()))
    await store.close()
    for (const result of results) if (result.status === "rejected") throw result.reason
  }

  try {
    const recovered =
      options.recover === false ? { restores: [], sessions: [], branches: [], imports: [] } : await recoverAll(context)
    return {
      ...context,
      config,
      workspacePath,
      stateDirectory,
      environment,
      recovered,
      findCurrentSession,
      readGit: git.readFacts,
      collectGarbage: collect,
      cleanupSessions: (request) => cleanupSessions(store, request),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * Every workspace with checkpoints that have files, and their ids, whatever the machine was called when it took them: a
 * name that changed makes no rubbish. Of those in a database on a server only the ones this machine works in.
 */
async function listWorkspaces(store: Store): Promise<Map<string, Set<CheckpointId>>> {
  const { driver, host } = store.context
  const rows = await driver.all(
    `SELECT sessions.workspace_path AS path, session_checkpoints.id AS id, host FROM session_checkpoints
     JOIN sessions ON sessions.id = session_checkpoints.session_id WHERE snapshot IS NOT NULL`,
  )
  const here = new Set(rows.filter((row) => row["host"] === host.split("/")[0]).map((row) => row["path"]))
  const workspaces = new Map<string, Set<CheckpointId>>()
  for (const row of rows) {
    const ids = workspaces.get(row["path"] as string) ?? new Set()
    if (driver.dialect === "sqlite" || here.has(row["path"]))
      workspaces.set(row["path"] as string, ids.add(row["id"] as CheckpointId))
  }
  return workspaces
}
