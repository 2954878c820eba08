import { EventEmitter } from "node:events"
import { createEventBus, type Session } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { user } from "../testing/contract/samples.js"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import { AutoSaveMiddleware, type AutoSaveOptions, type SignalSource } from "./auto-save.js"
import { CheckpointService } from "./checkpoint-service.js"

let travel: TimeTravelFixture
let session: Session
let signals: EventEmitter
let warnings: string[]
beforeEach(async () => {
  travel = await openFixture()
  session = await travel.createSession()
  signals = new EventEmitter()
  warnings = []
})
afterEach(async () => {
  vi.useRealTimers()
  await travel.close()
})

function autoSave(more: Partial<AutoSaveOptions> & { take?: CheckpointService["take"] } = {}) {
  const { take, ...options } = more
  const eventBus = createEventBus({
    record: (events) => travel.store.log.append(session.id, events),
    onListenerError: (error) => warnings.push(String(error)),
  })
  const service = new CheckpointService({
    ...{ eventBus, manager: travel.manager, store: travel.store, sessionId: session.id },
    onWarning: (message) => warnings.push(message),
  })
  if (take !== undefined) service.take = take
  const middleware = new AutoSaveMiddleware({
    ...{ service, eventBus, signals: signals as SignalSource },
    onWarning: (message) => warnings.push(message),
    ...options,
  })
  return { middleware, service, eventBus }
}

const triggers = async () => (await travel.store.checkpoints.list(session.id)).reverse().map(({ trigger }) => trigger)

/** Something to wait for. */
function createMoment() {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve: () => resolve() }
}

/** A save that ends when told. */
function heldSave() {
  const calls: { trigger: string; end: (error?: Error) => void }[] = []
  const take = ((trigger: string) =>
    new Promise<undefined>((resolve, reject) => {
      calls.push({ trigger, end: (error) => (error === undefined ? resolve(undefined) : reject(error)) })
    })) as CheckpointService["take"]
  return { calls, take }
}

/** As long as the test has, however busy the machine is. */
const until = (check: () => void) => vi.waitFor(check, { timeout: 25_000, interval: 5 })

describe("saving every now and then", () => {
  it("saves when the log, the files or the teller say that something changed, and only then", async () => {
    const { middleware, service } = autoSave()
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
    middleware.start()
    const beat = async () => {
      vi.advanceTimersByTime(30_000)
      await new Promise(setImmediate)
      await service.stop()
    }
    await beat()
    expect(await triggers()).toEqual(["interval"])
    await beat()
    await beat()
    expect(await triggers()).toHaveLength(1)
    await travel.store.log.append(session.id, [user("said")])
    await beat()
    expect(await triggers()).toHaveLength(2)
    travel.write({ "a.txt": "new" })
    await beat()
    expect(await triggers()).toHaveLength(3)
    middleware.trackChange()
    expect(middleware.pendingChanges).toBe(1)
    await beat()
    expect(await triggers()).toHaveLength(4)
    expect(middleware.pendingChanges).toBe(0)
    await beat()
    expect(await triggers()).toHaveLength(4)
    await middleware.stop()
    expect(warnings).toEqual([])
  })

  it("looks every 30 seconds unless told", async () => {
    const { calls, take } = heldSave()
    const { middleware } = autoSave({ take })
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
    middleware.start()
    vi.advanceTimersByTime(29_999)
    await new Promise(setImmediate)
    expect(calls).toHaveLength(0)
    vi.advanceTimersByTime(1)
    await new Promise(setImmediate)
    expect(calls).toHaveLength(1)
    calls[0]?.end()
    const stopped = middleware.stop()
    await until(() => expect(calls).toHaveLength(2))
    calls[1]?.end()
    await stopped
  })

  it("never runs two saves at once, and does not queue one for each beat of a slow save", async () => {
    const { calls, take } = heldSave()
    const { middleware } = autoSave({ take, intervalMs: 10 })
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
    middleware.start()
    for (let i = 0; i < 20; i++) {
      vi.advanceTimersByTime(10)
      await new Promise(setImmediate)
    }
    expect(calls).toHaveLength(1)
    calls[0]?.end()
    const stopped = middleware.stop()
    await until(() => expect(calls).toHaveLength(2))
    calls[1]?.end()
    await stopped
    expect(calls.map(({ trigger }) => trigger)).toEqual(["interval", "exit"])
  })

  it("keeps what changed during a save, and everything of a save that failed, for the next one", async () => {
    const { calls, take } = heldSave()
    const { middleware } = autoSave({ take })
    middleware.trackChange()
    const saving = middleware.forceSave()
    await until(() => expect(calls).toHaveLength(1))
    middleware.trackChange()
    middleware.trackChange()
    calls[0]?.end()
    await saving
    expect(middleware.pendingChanges).toBe(2)
    const failing = middleware.forceSave()
    await until(() => expect(calls).toHaveLength(2))
    calls[1]?.end(new Error("full"))
    await expect(failing).rejects.toThrow("full")
    expect(middleware.pendingChanges).toBe(2)
  })
})

describe("stopping", () => {
  it("finishes the save under way, saves what changed since, and leaves no timer and no handler", async () => {
    const { calls, take } = heldSave()
    const { middleware } = autoSave({ take })
    expect(signals.eventNames()).toEqual([])
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] })
    middleware.start()
    middleware.start()
    expect(vi.getTimerCount()).toBe(1)
    expect(middleware.isActive).toBe(true)
    expect([signals.listenerCount("SIGINT"), signals.listenerCount("SIGTERM")]).toEqual([1, 1])
    const saving = middleware.forceSave()
    let hasStopped = false
    const stopped = middleware.stop().then(() => {
      hasStopped = true
    })
    await until(() => expect(calls).toHaveLength(1))
    expect([signals.listenerCount("SIGINT"), middleware.isActive]).toEqual([0, false])
    calls[0]?.end()
    await saving
    await until(() => expect(calls).toHaveLength(2))
    expect(hasStopped).toBe(false)
    calls[1]?.end()
    await stopped
    await middleware.stop()
    expect(calls.map(({ trigger }) => trigger)).toEqual(["interval", "exit"])
    expect(signals.eventNames()).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })

  it("takes an exit checkpoint only if something changed since the last one", async () => {
    const { middleware } = autoSave()
    middleware.start()
    await middleware.forceSave()
    await middleware.stop()
    expect(await triggers()).toEqual(["interval"])
    middleware.start()
    await travel.store.log.append(session.id, [user("last words")])
    await middleware.stop()
    expect(await triggers()).toEqual(["interval", "exit"])
  })

  it("throws when the last save fails, with nothing left behind all the same", async () => {
    const take = (() => Promise.reject(new Error("full"))) as CheckpointService["take"]
    const { middleware } = autoSave({ take })
    middleware.start()
    await expect(middleware.stop()).rejects.toThrow("full")
    expect(signals.eventNames()).toEqual([])
  })
})

describe("a signal", () => {
  it("saves, pauses, and then calls the last step once, however often it comes", async () => {
    const order: string[] = []
    const done = createMoment()
    const onExit = async (signal: string) => {
      order.push(signal, (await travel.store.sessions.get(session.id)).status, ...(await triggers()))
      done.resolve()
    }
    const { middleware } = autoSave({ onExit })
    middleware.start()
    signals.emit("SIGTERM")
    signals.emit("SIGINT")
    signals.emit("SIGTERM")
    await done.promise
    await middleware.stop()
    expect(order).toEqual(["SIGTERM", "paused", "exit"])
    expect(signals.eventNames()).toEqual([])
    expect(await travel.store.log.read(session.id)).toHaveLength(3)
  })

  it("still calls the last step when the session can't be paused, and says why", async () => {
    await travel.store.log.append(session.id, [{ type: "session:ended", data: { outcome: "completed" } }])
    const done = createMoment()
    const { middleware } = autoSave({ onExit: () => done.resolve() })
    middleware.start()
    signals.emit("SIGINT")
    await done.promise
    expect(warnings).toEqual([expect.stringContaining("could not be paused")])
    expect((await travel.store.sessions.get(session.id)).status).toBe("completed")
  })

  it("pauses the session also when the last save fails", async () => {
    const done = createMoment()
    const take = (() => Promise.reject(new Error("full"))) as CheckpointService["take"]
    const { middleware } = autoSave({ take, onExit: () => done.resolve() })
    middleware.start()
    signals.emit("SIGINT")
    await done.promise
    expect((await travel.store.sessions.get(session.id)).status).toBe("paused")
  })
})
