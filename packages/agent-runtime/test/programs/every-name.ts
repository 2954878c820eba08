/** A small program as anyone would write it on the built packages: every library name that stays, used once. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import {
  ArtifactPipeline,
  ArtifactRegistry,
  AutoSaveMiddleware,
  type CheckpointManager,
  CheckpointRepository,
  CheckpointService,
  createCheckpointManager,
  createEventBus,
  createFileContextTracker,
  createSession,
  listCheckpoints,
  loadCheckpoint,
  type Message,
  MessageRewindManager,
  openRuntime,
  resumeSession,
  ShadowCheckpointService,
  SQLiteExecutionStateStore,
  saveCheckpoint,
  TimeTravelNavigator,
} from "@ku0/agent-runtime"

const root = process.argv[2] as string
const workspacePath = join(root, "workspace")
mkdirSync(workspacePath)
const file = join(workspacePath, "a.txt")
writeFileSync(file, "one")

const service = new ShadowCheckpointService({ taskId: "task-1", workspacePath, storagePath: join(root, "shadow") })
await service.init()
await service.saveCheckpoint("checkpoint message")
writeFileSync(file, "two")
const diff = await service.getDiff()
await service.restoreCheckpoint(diff[0]?.commit ?? "")
const shadow = [readFileSync(file, "utf8"), diff[0]?.path.relative, diff[0]?.content.after]
await service.close()

const messages: Message[] = Array.from({ length: 12 }, (_, index) => ({ role: "user", content: `${index}` }))
const { removedCount } = new MessageRewindManager().rewindToIndex(messages, 10)

const tracker = createFileContextTracker({ workspacePath })
const handle = tracker.getHandle("ctx-1")
handle.markRead("a.txt")
writeFileSync(file, "three")
const stale = handle.listStale().map(({ path }) => path)
await tracker.dispose()

const stateDirectory = join(root, "state")
const runtime = await openRuntime({ workspacePath, stateDirectory, environment: process.env })
const session = await createSession(runtime, { agentType: "implementer", taskDescription: "a task" })
await saveCheckpoint(runtime, session.id, "one", { taskState: { step: 1 }, progress: 0.5 })
const { progress } = await loadCheckpoint(runtime, session.id, "one")
const resumed = await resumeSession(runtime, session.id, "one")
const eventBus = createEventBus({
  record: (events, state) => runtime.store.log.append(session.id, events, state === undefined ? {} : { state }),
  onListenerError(error) {
    throw error
  },
})
const { store, manager } = runtime
const checkpoints = new CheckpointService({ eventBus, manager, store, sessionId: session.id })
const autoSave = new AutoSaveMiddleware({ service: checkpoints, eventBus })
autoSave.start()
autoSave.trackChange()
await autoSave.forceSave()
await autoSave.stop()
const triggers = (await listCheckpoints(runtime, session.id)).map(({ trigger }) => trigger)
const repository = new CheckpointRepository({ store, manager })
const own: CheckpointManager = createCheckpointManager({ store })
const first = await own.resolve(session.id, "one")
const navigator = new TimeTravelNavigator(runtime)
const { availableActions } = await navigator.navigateTo(first.id)
const registry = new ArtifactRegistry({ store: store.artifacts })
const pipeline = new ArtifactPipeline({ registry, eventBus, sessionId: session.id })
const envelope = { schemaVersion: "1.0.0", title: "Plan", taskNodeId: "t", createdAt: new Date().toISOString() }
const emitted = await pipeline.emit({ ...envelope, id: "u", type: "Unknown", payload: {} })
const execution = new SQLiteExecutionStateStore({ databasePath: join(root, "execution.db") })
const leases = await execution.listLeases()
await execution.close()
const listed = (await repository.listForSession(session.id)).map(({ number }) => number)
await runtime.close()
const found = {
  ...{ shadow, removedCount, stale, progress, resumed: resumed.checkpoint?.name, triggers, listed },
  actions: availableActions.map(({ type }) => type),
  artifact: [emitted.stored, emitted.valid],
  leases,
}
process.stdout.write(JSON.stringify(found))
