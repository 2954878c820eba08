/**
 * A session that runs under auto-save until a signal ends it. Arguments: the folder of a fixture, and a signal that comes
 * twice: once more as soon as it was heard. Says the session's id when it is up, and its last words when it leaves by itself.
 */
import { writeSync } from "node:fs"
import { createEventBus, event } from "@ku0/agent-runtime-core"
import { AutoSaveMiddleware } from "../../../src/checkpoint/auto-save.js"
import { CheckpointService } from "../../../src/checkpoint/checkpoint-service.js"
import { openFixture } from "../../../src/testing/time-travel-fixture.js"

const [root = "", twice] = process.argv.slice(2)
const travel = await openFixture({ root })
const { store } = travel
const session = await travel.createSession("under auto-save")
const lease = await store.leases.take(`session:${session.id}`, { purpose: "run" })
const eventBus = createEventBus({
  record: (events) => store.log.append(session.id, events, { lease }),
  onListenerError: (error) => say({ error: String(error) }),
})
const service = new CheckpointService({ eventBus, manager: travel.manager, store, sessionId: session.id, lease })
const autoSave = new AutoSaveMiddleware({
  service,
  eventBus,
  signals: process,
  async onExit(signal) {
    await service.stop()
    await travel.close()
    say({ left: signal, listeners: process.listenerCount("SIGINT") + process.listenerCount("SIGTERM") })
    process.exitCode = 0
    clearInterval(busy)
  },
})
if (twice !== undefined) process.once(twice, () => process.kill(process.pid, twice))
service.start()
autoSave.start()
const busy = setInterval(() => undefined, 1_000)
await eventBus.emit("run:started", { runId: "r" })
await eventBus.emit("message:added", { message: { role: "user", content: "go" } })
await eventBus.emitAll([event("tool:started", { callId: "call", name: "edit", arguments: { path: "a.txt" } })])
travel.write({ "a.txt": "half done" })
say({ sessionId: session.id })

function say(line: unknown): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}
