/**
 * A session in our hands: its lease and its workspace's, a bus whose durable events are entries before anyone hears
 * them, checkpoints by policy, automatic saves, and one way out.
 */
import {
  createEventBus,
  type Emit,
  type EventBus,
  type HeldLease,
  type Session,
  type SessionId,
} from "@ku0/agent-runtime-core"
import {
  AutoSaveMiddleware,
  CheckpointService,
  createCheckpointPolicy,
  type SignalSource,
} from "@ku0/agent-runtime-persistence"
import type { Runtime } from "./open-runtime.js"

export interface HoldSessionOptions {
  readonly sessionId: SessionId
  /** What it is held for, shown to whoever is refused. */
  readonly purpose: string
  /** Shows what the user should know. Must not throw. */
  readonly onWarning?: (message: string) => void
  /** Hears SIGINT and SIGTERM: a checkpoint is taken and the session paused, then `onExit` is called. */
  readonly signals?: SignalSource
  readonly onExit?: (signal: "SIGINT" | "SIGTERM") => void | Promise<void>
  /** A workspace lease the caller holds already: that of the session that spawned this one. */
  readonly workspaceLease?: HeldLease
}

export interface HeldSession {
  readonly id: SessionId
  readonly lease: HeldLease
  readonly workspaceLease: HeldLease
  readonly bus: EventBus
  readonly checkpoints: CheckpointService
  readonly emit: Emit
  /** Waits for what is under way and lets go. Safe to call twice. */
  release(): Promise<void>
}

export async function holdSession(runtime: Runtime, options: HoldSessionOptions): Promise<HeldSession> {
  const { store, manager, config } = runtime
  const { sessionId, purpose } = options
  const onWarning = options.onWarning ?? (() => undefined)
  const session = await store.sessions.get(sessionId)
  const lease = await store.leases.take(`session:${sessionId}`, { purpose })
  const workspaceLease = options.workspaceLease ?? (await takeWorkspace(runtime, session, purpose, lease))
  const bus = createEventBus({
    record: async (events, state) => store.log.append(sessionId, events, { lease, ...(state && { state }) }),
    onListenerError: (error, { type }) => onWarning(`A listener of ${type} failed: ${String(error)}`),
  })
  const policy = createCheckpointPolicy(config["checkpoint.on"])
  const checkpoints = new CheckpointService({ eventBus: bus, manager, store, sessionId, policy, lease, onWarning })
  const autoSave = new AutoSaveMiddleware({
    service: checkpoints,
    eventBus: bus,
    intervalMs: config["checkpoint.interval"],
    onWarning,
    ...(options.signals && { signals: options.signals }),
    ...(options.onExit && { onExit: options.onExit }),
  })
  const watching = watchFiles(runtime, session.workspacePath)
  checkpoints.start()
  autoSave.start()
  let released: Promise<void> | undefined

  async function letGo(): Promise<void> {
    try {
      await watching
      await bus.flush()
      await autoSave.stop().catch(() => undefined) // the service has told the user; the run's result stands
      await checkpoints.stop()
      await bus.flush()
    } finally {
      if (options.workspaceLease === undefined) await workspaceLease.release()
      await lease.release()
    }
  }

  return {
    id: sessionId,
    lease,
    workspaceLease,
    bus,
    checkpoints,
    emit: (events, state) => bus.emitAll(events, state),
    release() {
      released ??= letGo()
      return released
    },
  }
}

/** With a watcher a checkpoint looks only where something happened. Without one it is slower, and as exact. */
async function watchFiles(runtime: Runtime, workspacePath: string): Promise<void> {
  try {
    await (await runtime.snapshots(workspacePath)).watch()
  } catch {
    // Whatever is wrong with the snapshots, the first checkpoint meets it too and says so.
  }
}

async function takeWorkspace(
  runtime: Runtime,
  session: Session,
  purpose: string,
  lease: HeldLease,
): Promise<HeldLease> {
  try {
    return await runtime.store.leases.take(`workspace:${session.workspacePath}`, { purpose })
  } catch (error) {
    await lease.release()
    throw error
  }
}
