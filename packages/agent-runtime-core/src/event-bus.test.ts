import { describe, expect, test } from "vitest"
import { isKeepupError, KeepupError } from "./errors.js"
import { type BusEvent, createEventBus, type EventBusOptions } from "./event-bus.js"
import type { SessionId } from "./ids.js"
import type { Entry } from "./session.js"

/** A bus whose log and reported failures can be looked at. */
function openBus(options: Partial<EventBusOptions> = {}) {
  const log: string[] = []
  const failures: { error: unknown; type: string; pattern: string }[] = []
  const bus = createEventBus({
    record: oneByOne(async (type, data) => {
      log.push(type)
      return entryOf(type, data, log.length)
    }),
    onListenerError: (error, event, pattern) => failures.push({ error, type: event.type, pattern }),
    ...options,
  })
  return { bus, log, failures }
}

/** A recorder that is asked for one event at a time. */
function oneByOne(record: (type: string, data: unknown) => Promise<Entry>): NonNullable<EventBusOptions["record"]> {
  return async (events) => {
    const entries: Entry[] = []
    for (const { type, data } of events) entries.push(await record(type, data))
    return entries
  }
}

function entryOf(type: string, data: unknown, seq: number): Entry {
  return { sessionId: "s" as SessionId, seq, type, version: 1, data, createdAt: 0, messageIndex: 0, parent: null }
}

/** A door that stays shut until it is opened. */
function createGate() {
  let open = () => {}
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, passed }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

describe("emit", () => {
  test("waits for the listeners it finds free, also asynchronous ones", async () => {
    const { bus } = openBus()
    const heard: unknown[] = []
    bus.on("message:delta", async (event) => {
      await turn()
      heard.push(event.data.text)
    })
    const event = await bus.emit("message:delta", { text: "a" })
    expect(heard).toEqual(["a"])
    expect(event).toEqual({ type: "message:delta", data: { text: "a" }, entry: undefined })
  })

  test("records a durable event before anyone hears it, and hands its entry on", async () => {
    const { bus, log } = openBus()
    const heard: unknown[] = []
    bus.on("*", (event) => {
      heard.push([[...log], event.entry?.seq])
    })
    const event = await bus.emit("run:started", { runId: "r" })
    expect(heard).toEqual([[["run:started"], 1]])
    expect(event.entry).toEqual(entryOf("run:started", { runId: "r" }, 1))
  })

  test("records foreign events and does not record fleeting ones", async () => {
    const { bus, log } = openBus()
    await bus.emit("weather.changed", {})
    await bus.emit("tool:progress", { callId: "c", text: "half" })
    expect(log).toEqual(["weather:changed"])
  })

  test("works without a recorder", async () => {
    const bus = createEventBus({ onListenerError: () => {} })
    const heard: BusEvent[] = []
    bus.on("*", (event) => {
      heard.push(event)
    })
    await bus.emit("run:started", { runId: "r" })
    expect(heard).toEqual([{ type: "run:started", data: { runId: "r" }, entry: undefined }])
  })

  test("rejects when the record fails, lets nobody hear that event, and later ones go on in order", async () => {
    let count = 0
    const { bus } = openBus({
      record: oneByOne(async (type, data) => {
        if (++count === 2) throw new KeepupError("UNAVAILABLE", "No room.")
        return entryOf(type, data, count)
      }),
    })
    const heard: string[] = []
    bus.on("*", (event) => {
      heard.push(event.type)
    })
    const results = await Promise.allSettled([
      bus.emit("one:happened", {}),
      bus.emit("two:happened", {}),
      bus.emit("three:happened", {}),
    ])
    expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "fulfilled"])
    expect(results[1]).toMatchObject({ reason: { code: "UNAVAILABLE" } })
    expect(heard).toEqual(["one:happened", "three:happened"])
    await bus.flush()
  })

  test("survives a recorder that throws instead of rejecting", async () => {
    const { bus } = openBus({
      record: () => {
        throw new Error("at once")
      },
    })
    await expect(bus.emit("run:started", { runId: "r" })).rejects.toThrow("at once")
    await expect(bus.emit("message:delta", { text: "" })).resolves.toBeDefined()
  })

  test("records and delivers in the order of the calls, however long each record takes", async () => {
    const gates = [createGate(), createGate(), createGate()]
    const log: string[] = []
    const { bus } = openBus({
      record: oneByOne(async (type, data) => {
        await gates[log.length]?.passed
        log.push(type)
        return entryOf(type, data, log.length)
      }),
    })
    const heard: string[] = []
    bus.on("*", (event) => {
      heard.push(event.type)
    })
    const all = [
      bus.emit("one:happened", {}),
      bus.emit("message:delta", { text: "fleeting, and still in its place" }),
      bus.emit("two:happened", {}),
      bus.emit("three:happened", {}),
    ]
    for (const gate of gates.reverse()) {
      gate.open()
      await turn()
    }
    await Promise.all(all)
    expect(log).toEqual(["one:happened", "two:happened", "three:happened"])
    expect(heard).toEqual(["one:happened", "message:delta", "two:happened", "three:happened"])
  })

  test.each(["run", "Run:ended", "", "a:b:c", "*", "run:*"])("refuses %j as a name", async (name) => {
    const { bus, log } = openBus()
    const error = await bus.emit(name, {}).catch((thrown: unknown) => thrown)
    expect(isKeepupError(error)).toBe(true)
    expect(error).toMatchObject({ code: "INVALID_INPUT" })
    expect(log).toEqual([])
  })

  test("knows at compile time what a known event carries, and takes any name it does not know", async () => {
    const { bus } = openBus()
    // @ts-expect-error a run:started needs a runId
    await bus.emit("run:started", {})
    const name: string = "weather:changed"
    await bus.emit(name, { degrees: 21 })
    bus.on("run:started", (event) => {
      const runId: string = event.data.runId
      return void runId
    })
  })
})

describe("on", () => {
  test("hears one event, all of a subject, or everything", async () => {
    const { bus } = openBus()
    const heard: Record<string, string[]> = {}
    for (const pattern of ["run:ended", "run.ended", "run:*", "run.*", "*"]) {
      heard[pattern] = []
      bus.on(pattern, (event) => {
        heard[pattern]?.push(event.type)
      })
    }
    for (const type of ["run:started", "run.ended", "runner:ended", "turn:ended"]) await bus.emit(type, {})
    expect(heard).toEqual({
      "run:ended": ["run:ended"],
      "run.ended": ["run:ended"],
      "run:*": ["run:started", "run:ended"],
      "run.*": ["run:started", "run:ended"],
      "*": ["run:started", "run:ended", "runner:ended", "turn:ended"],
    })
  })

  test.each(["", "run", "**", ":*", "*:*", "Run:*", "run:*:*", "a:b:*", "*:ended", "run:e*"])(
    "refuses the pattern %j, which nothing could match",
    (pattern) => {
      const { bus } = openBus()
      expect(() => bus.on(pattern, () => {})).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }))
    },
  )

  test("gives each listener its events one at a time and in order", async () => {
    const { bus } = openBus()
    const steps: string[] = []
    bus.on("*", async (event) => {
      steps.push(`begin ${event.type}`)
      await turn()
      steps.push(`end ${event.type}`)
    })
    await Promise.all([bus.emit("one:happened", {}), bus.emit("two:happened", {})])
    await bus.flush()
    expect(steps).toEqual(["begin one:happened", "end one:happened", "begin two:happened", "end two:happened"])
  })

  test("keeps every one of 10,000 events for a slow listener and does not hold up the others", async () => {
    const { bus } = openBus()
    const gate = createGate()
    const slow: number[] = []
    const quick: number[] = []
    bus.on("count:made", async (event) => {
      await gate.passed
      slow.push(event.data as number)
    })
    bus.on("count:made", (event) => {
      quick.push(event.data as number)
    })
    const numbers = Array.from({ length: 10_000 }, (_, number) => number)
    const first = bus.emit("count:made", 0)
    for (const number of numbers.slice(1)) await bus.emit("count:made", number)
    expect(quick).toEqual(numbers)
    expect(slow).toEqual([])
    gate.open()
    await first
    await bus.flush()
    expect(slow).toEqual(numbers)
  })

  test("reports a failing listener, and it and the others hear all the same", async () => {
    const { bus, failures } = openBus()
    const heard: string[] = []
    bus.on("one:*", () => {
      heard.push("throws")
      throw new Error("at once")
    })
    bus.on("*", async () => {
      heard.push("rejects")
      throw new Error("later")
    })
    bus.on("one:happened", () => {
      heard.push("works")
    })
    await bus.emit("one:happened", {})
    await bus.emit("one:happened", {})
    await bus.flush()
    expect(heard).toEqual(["throws", "rejects", "works", "throws", "rejects", "works"])
    expect(failures.map(({ error, type, pattern }) => [(error as Error).message, type, pattern])).toEqual([
      ["at once", "one:happened", "one:*"],
      ["later", "one:happened", "*"],
      ["at once", "one:happened", "one:*"],
      ["later", "one:happened", "*"],
    ])
  })

  test("goes on when the one who is told of failures fails too", async () => {
    const { bus } = openBus({
      onListenerError: () => {
        throw new Error("the reporter is broken")
      },
    })
    let count = 0
    bus.on("*", () => {
      count++
      throw new Error("broken")
    })
    await Promise.all([bus.emit("one:happened", {}), bus.emit("two:happened", {})])
    await bus.emit("three:happened", {})
    await bus.flush()
    expect(count).toBe(3)
  })

  test("lets a listener emit and wait: its own event comes after, in its turn", async () => {
    const { bus, log } = openBus()
    const heard: string[] = []
    bus.on("*", async (event) => {
      heard.push(`a begins ${event.type}`)
      if (event.type === "run:ended") await bus.emit("checkpoint:pruned", { checkpointIds: [], freedBytes: 0 })
      heard.push(`a ends ${event.type}`)
    })
    bus.on("checkpoint:*", (event) => {
      heard.push(`b hears ${event.type}`)
    })
    await bus.emit("run:ended", { runId: "r", outcome: "completed" })
    await bus.flush()
    expect(log).toEqual(["run:ended", "checkpoint:pruned"])
    expect(heard).toEqual([
      "a begins run:ended",
      "b hears checkpoint:pruned",
      "a ends run:ended",
      "a begins checkpoint:pruned",
      "a ends checkpoint:pruned",
    ])
  })

  test("lets two listeners answer each other and wait without a deadlock", async () => {
    const { bus } = openBus()
    const heard: string[] = []
    bus.on("ping:sent", async (event) => {
      heard.push(`ping ${event.data}`)
      if ((event.data as number) < 5) await bus.emit("pong:sent", event.data)
    })
    bus.on("pong:sent", async (event) => {
      heard.push(`pong ${event.data}`)
      await bus.emit("ping:sent", (event.data as number) + 1)
    })
    await bus.emit("ping:sent", 1)
    await bus.flush()
    expect(heard).toEqual(["ping 1", "pong 1", "ping 2", "pong 2", "ping 3", "pong 3", "ping 4", "pong 4", "ping 5"])
  })

  test("does not let a listener that comes while an event is handed out hear that event", async () => {
    const { bus } = openBus()
    let count = 0
    const listenAgain = () => {
      count++
      bus.on("*", listenAgain)
    }
    bus.on("*", listenAgain)
    await bus.emit("one:happened", {})
    expect(count).toBe(1)
    await bus.emit("two:happened", {})
    expect(count).toBe(3)
  })

  test("lets a listener that comes while a record is under way hear it: after reading the log nothing is missing", async () => {
    const gate = createGate()
    const { bus } = openBus({
      record: oneByOne(async (type, data) => {
        await gate.passed
        return entryOf(type, data, 1)
      }),
    })
    const emitted = bus.emit("one:happened", {})
    const heard: string[] = []
    bus.on("*", (event) => {
      heard.push(event.type)
    })
    gate.open()
    await emitted
    expect(heard).toEqual(["one:happened"])
  })
})

describe("the way to stop", () => {
  test("ends the listening, once and for all, for that listener only", async () => {
    const { bus } = openBus()
    const heard: string[] = []
    const listener = (event: BusEvent) => {
      heard.push(event.type)
    }
    const stop = bus.on("*", listener)
    bus.on("*", listener)
    await bus.emit("one:happened", {})
    stop()
    stop()
    await bus.emit("two:happened", {})
    expect(heard).toEqual(["one:happened", "one:happened", "two:happened"])
  })

  test("still delivers what was recorded before, and flush waits for it", async () => {
    const { bus } = openBus()
    const gate = createGate()
    const heard: string[] = []
    const stop = bus.on("*", async (event) => {
      await gate.passed
      heard.push(event.type)
    })
    const first = bus.emit("one:happened", {})
    await bus.emit("two:happened", {})
    stop()
    await bus.emit("three:happened", {})
    gate.open()
    await first
    await bus.flush()
    expect(heard).toEqual(["one:happened", "two:happened"])
  })

  test("called by the listener itself in its first step, flush still waits for its last", async () => {
    const { bus } = openBus()
    const gate = createGate()
    let isDone = false
    const stop = bus.on("*", async () => {
      stop()
      await gate.passed
      isDone = true
    })
    const emitted = bus.emit("one:happened", {})
    await turn()
    const flushed = bus.flush().then(() => isDone)
    await turn()
    gate.open()
    expect(await flushed).toBe(true)
    await emitted
  })

  test("called for another listener while an event is handed out, that event is still heard", async () => {
    const { bus } = openBus()
    let stopOther = () => {}
    let count = 0
    bus.on("*", () => stopOther())
    stopOther = bus.on("*", () => {
      count++
    })
    await bus.emit("one:happened", {})
    await bus.emit("two:happened", {})
    expect(count).toBe(1)
  })
})

describe("flush", () => {
  test("returns at once when nothing is going on", async () => {
    await openBus().bus.flush()
  })

  test("waits for what is being recorded, for busy listeners and for what they emit", async () => {
    const { bus } = openBus()
    const heard: string[] = []
    bus.on("*", async (event) => {
      await turn()
      heard.push(event.type)
      if (event.type === "one:happened") void bus.emit("two:happened", {})
      if (event.type === "two:happened") void bus.emit("three:happened", {})
    })
    void bus.emit("one:happened", {})
    await bus.flush()
    expect(heard).toEqual(["one:happened", "two:happened", "three:happened"])
  })

  test("waits for a slow record of what a quick listener emitted and did not wait for", async () => {
    const { bus } = openBus({
      record: oneByOne(async (type, data) => {
        await turn()
        return entryOf(type, data, 1)
      }),
    })
    const heard: string[] = []
    bus.on("*", (event) => {
      heard.push(event.type)
      if (event.type === "one:happened") void bus.emit("two:happened", {})
    })
    void bus.emit("one:happened", {})
    await bus.flush()
    expect(heard).toEqual(["one:happened", "two:happened"])
  })

  test("does not fail when a record failed", async () => {
    const { bus } = openBus({ record: () => Promise.reject(new Error("no")) })
    const emitted = bus.emit("one:happened", {}).catch((error: Error) => error.message)
    await bus.flush()
    expect(await emitted).toBe("no")
  })
})

describe("emitAll", () => {
  test("records what belongs together at once, and delivers it in order with each entry", async () => {
    const batches: number[] = []
    const { bus } = openBus({
      record: async (events) => {
        batches.push(events.length)
        return events.map(({ type, data }, index) => entryOf(type, data, index + 1))
      },
    })
    const heard: [string, number | undefined][] = []
    bus.on("*", ({ type, entry }) => {
      heard.push([type, entry?.seq])
    })
    await bus.emitAll([
      { type: "tool:ended", data: {} },
      { type: "tool:progress", data: {} },
      { type: "message.added", data: {} },
    ])
    await bus.flush()
    expect(batches).toEqual([2])
    expect(heard).toEqual([
      ["tool:ended", 1],
      ["tool:progress", undefined],
      ["message:added", 2],
    ])
  })

  test("waits until a free listener has handled all of them, not only the first", async () => {
    const { bus } = openBus()
    const heard: string[] = []
    bus.on("a:*", async (event) => {
      await turn()
      heard.push(event.type)
    })
    const drafts = ["a:one", "b:one", "a:two", "a:three"].map((type) => ({ type, data: {} }))
    await bus.emitAll(drafts)
    expect(heard).toEqual(["a:one", "a:two", "a:three"])
    await bus.emitAll(drafts.slice(0, 1))
    expect(heard).toHaveLength(4)
  })

  test("lets nobody hear any of them when the record fails, or when a name is wrong", async () => {
    const { bus } = openBus({ record: () => Promise.reject(new Error("no")) })
    let heard = 0
    bus.on("*", () => {
      heard++
    })
    await expect(
      bus.emitAll([
        { type: "tool:progress", data: {} },
        { type: "run:ended", data: {} },
      ]),
    ).rejects.toThrow("no")
    await expect(bus.emitAll([{ type: "Bad Name", data: {} }])).rejects.toMatchObject({ code: "INVALID_INPUT" })
    expect(await bus.emitAll([])).toEqual([])
    expect(heard).toBe(0)
  })
})

test("announces what is in the log already without recording it again", async () => {
  const { bus, log } = openBus()
  const heard: [string, number | undefined][] = []
  bus.on("*", ({ type, entry }) => {
    heard.push([type, entry?.seq])
  })
  await bus.emit("run:started", { runId: "r" })
  await bus.announce([entryOf("checkpoint:created", {}, 7)])
  expect(log).toEqual(["run:started"])
  expect(heard).toEqual([
    ["run:started", 1],
    ["checkpoint:created", 7],
  ])
})

test("hands state of the same step to the recorder with the events", async () => {
  const handed: unknown[] = []
  const { bus } = openBus({
    record: async (events, state) => {
      handed.push([events.length, state])
      return events.map(({ type, data }, index) => entryOf(type, data, index + 1))
    },
  })
  await bus.emitAll([{ type: "tool:ended", data: {} }], { todo: [1] })
  await bus.emitAll([], { todo: [2] })
  await bus.emitAll([{ type: "tool:ended", data: {} }])
  expect(handed).toEqual([
    [1, { todo: [1] }],
    [0, { todo: [2] }],
    [1, undefined],
  ])
})
