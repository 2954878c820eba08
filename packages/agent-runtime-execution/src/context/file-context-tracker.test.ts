import { execFileSync } from "node:child_process"
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createEventBus, type EventData } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import {
  type CreateFileContextTrackerOptions,
  createFileContextTracker,
  type FileContextTracker,
} from "./file-context-tracker.js"
import { guardEdit } from "./guard-edit.js"
import { toStaleContextNotice } from "./stale-context-notice.js"

let workspacePath: string
const trackers: FileContextTracker[] = []
const put = (path: string, text: string) => writeFileSync(join(workspacePath, path), text)

beforeEach(() => {
  workspacePath = realpathSync(mkdtempSync(join(tmpdir(), "keepup-context-")))
  put("a.txt", "one")
  put("b.txt", "one")
})

afterEach(async () => {
  await Promise.all(trackers.splice(0).map((tracker) => tracker.dispose()))
  rmSync(workspacePath, { recursive: true })
})

function create(options: Partial<CreateFileContextTrackerOptions> = {}) {
  const told: EventData<"context:file-stale">[] = []
  const eventBus = createEventBus({ onListenerError: (error) => Promise.reject(error) })
  eventBus.on("context:file-stale", ({ data }) => void told.push(data))
  const tracker = createFileContextTracker({ workspacePath, eventBus, watch: false, settleMs: 20, ...options })
  trackers.push(tracker)
  return { tracker, told, handle: tracker.getHandle() }
}

async function until(isTrue: () => boolean, what: string): Promise<void> {
  for (let waited = 0; !isTrue(); waited += 5) {
    if (waited > 10_000) throw new Error(`Waited in vain for ${what}.`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe("a file that was read", () => {
  test("is stale as soon as its content is another one, without waiting for a watcher", () => {
    const { handle } = create()
    handle.markRead("a.txt")
    expect(handle.isStale("a.txt")).toBe(false)
    put("a.txt", "two")
    expect(handle.isStale("a.txt")).toBe(true)
    expect(handle.getEntry("a.txt")).toMatchObject({ status: "stale", recordSource: "external_edit", path: "a.txt" })
    expect(handle.listStale().map(({ path }) => path)).toEqual(["a.txt"])
  })

  test("is stale after an edit of the same length whose time was set back", () => {
    const { handle } = create()
    const time = new Date(1_000_000)
    utimesSync(join(workspacePath, "a.txt"), time, time)
    handle.markRead("a.txt")
    put("a.txt", "two")
    utimesSync(join(workspacePath, "a.txt"), time, time)
    expect(handle.isStale("a.txt")).toBe(true)
  })

  test("is not stale after a touch, or a formatter that writes the same bytes", () => {
    const { handle } = create()
    handle.markRead("a.txt")
    utimesSync(join(workspacePath, "a.txt"), new Date(), new Date())
    put("a.txt", "one")
    put("tmp", "one")
    renameSync(join(workspacePath, "tmp"), join(workspacePath, "a.txt"))
    expect(handle.isStale("a.txt")).toBe(false)
  })

  test("is stale when it is gone, and when one appears that was not there", () => {
    const { handle } = create()
    handle.markRead("a.txt")
    handle.markRead("c.txt")
    expect(handle.isStale("c.txt")).toBe(false)
    rmSync(join(workspacePath, "a.txt"))
    put("c.txt", "new")
    expect(handle.listStale().map(({ path }) => path)).toEqual(["a.txt", "c.txt"])
    mkdirSync(join(workspacePath, "a.txt"))
    expect(handle.isStale("a.txt")).toBe(true)
  })

  test("is fresh again when it is read again, or is what it was", () => {
    const { handle } = create()
    handle.markRead("a.txt")
    put("a.txt", "two")
    expect(handle.isStale("a.txt")).toBe(true)
    put("a.txt", "one")
    expect(handle.isStale("a.txt")).toBe(false)
    put("a.txt", "two")
    handle.markRead("a.txt")
    expect(handle.isStale("a.txt")).toBe(false)
    expect(handle.getEntry("a.txt")).toMatchObject({ status: "active", recordSource: "read_tool" })
  })

  test("is what was shown, not what the disk holds when it is marked", () => {
    const { handle } = create()
    put("a.txt", "two")
    handle.markRead("a.txt", "one")
    expect(handle.isStale("a.txt")).toBe(true)
  })

  test("is the same file by any name: links are followed", () => {
    const { handle } = create()
    symlinkSync(join(workspacePath, "a.txt"), join(workspacePath, "link.txt"))
    mkdirSync(join(workspacePath, "real"))
    symlinkSync("real", join(workspacePath, "folder"))
    put("real/c.txt", "one")
    handle.markRead("link.txt")
    handle.markRead("folder/c.txt")
    handle.markRead("folder/not-yet.txt")
    put("a.txt", "two")
    put("real/c.txt", "two")
    put("real/not-yet.txt", "two")
    expect(
      ["a.txt", "link.txt", "./real/../a.txt", "real/c.txt", "real/not-yet.txt"].map((path) => handle.isStale(path)),
    ).toEqual([true, true, true, true, true])
    expect(handle.getEntry("link.txt")?.path).toBe("a.txt")
  })

  test("does not matter to a context that never saw it", () => {
    const { tracker, handle } = create()
    handle.markRead("a.txt")
    put("a.txt", "two")
    expect(tracker.getHandle("other").isStale("a.txt")).toBe(false)
    expect(tracker.getHandle("other").getEntry("a.txt")).toBeUndefined()
  })
})

describe("writes", () => {
  test("of one's own raise no alarm, an edit by someone else right after does", () => {
    const { handle } = create()
    handle.markRead("a.txt")
    handle.beginWrite("a.txt", "mine")
    put("a.txt", "mine")
    expect(handle.isStale("a.txt")).toBe(false)
    handle.markWrite("a.txt", "mine")
    expect(handle.isStale("a.txt")).toBe(false)
    put("a.txt", "theirs")
    expect(handle.isStale("a.txt")).toBe(true)
  })

  test("of one context make the others stale at once, each told once", async () => {
    const { tracker, told } = create()
    const [one, two] = [tracker.getHandle("one"), tracker.getHandle("two")]
    one.markRead("a.txt")
    two.markRead("a.txt")
    put("a.txt", "by one")
    one.markWrite("a.txt")
    one.markWrite("a.txt")
    expect([one.isStale("a.txt"), two.isStale("a.txt")]).toEqual([false, true])
    await tracker.check()
    expect(told.map(({ contextId, path, status }) => [contextId, path, status])).toEqual([["two", "a.txt", "stale"]])
  })

  test("that were given up count no more", () => {
    const { handle } = create()
    handle.markRead("a.txt")
    handle.beginWrite("a.txt", "mine")
    handle.cancelWrite("a.txt")
    put("a.txt", "mine")
    expect(handle.isStale("a.txt")).toBe(true)
  })

  test("overtaken by someone else before they are marked are stale", () => {
    const { handle } = create()
    handle.beginWrite("a.txt", "mine")
    put("a.txt", "theirs")
    expect(handle.markWrite("a.txt", "mine").status).toBe("stale")
  })
})

test("a mention watches a file and keeps what is known of it", () => {
  const { handle } = create()
  expect(handle.markMentioned("b.txt")).toMatchObject({ recordSource: "file_mentioned", status: "active" })
  handle.markRead("a.txt")
  put("a.txt", "two")
  handle.markMentioned("a.txt")
  expect(handle.isStale("a.txt")).toBe(true)
})

describe("the guard", () => {
  test("names every stale file and passes the others", () => {
    const { handle } = create()
    for (const path of ["a.txt", "b.txt"]) handle.markRead(path)
    guardEdit(handle, ["a.txt", "b.txt", "new.txt"])
    put("a.txt", "two")
    put("b.txt", "two")
    expect(() => guardEdit(handle, ["new.txt", "b.txt", "a.txt", "a.txt"])).toThrow(
      expect.objectContaining({
        code: "CONFLICT",
        message: "Stale file context detected. Reload before editing:\n- b.txt\n- a.txt",
      }),
    )
    guardEdit(undefined, ["a.txt"])
  })

  test("notices a git checkout", () => {
    const { handle } = create()
    const git = (...args: string[]) =>
      execFileSync("git", ["-C", workspacePath, "-c", "user.name=n", "-c", "user.email=e", ...args])
    git("init", "-q", "-b", "main")
    git("add", "a.txt")
    git("commit", "-qm", "one")
    put("a.txt", "two")
    handle.markRead("a.txt")
    git("checkout", "-q", "a.txt")
    expect(readFileSync(join(workspacePath, "a.txt"), "utf8")).toBe("one")
    expect(() => guardEdit(handle, ["a.txt"])).toThrow("- a.txt")
  })
})

describe("what is kept", () => {
  test("survives a restart as plain JSON, and a change in between is noticed", () => {
    const first = create()
    first.tracker.getHandle("one").markRead("a.txt")
    first.tracker.getHandle("two").markWrite("b.txt")
    put("b.txt", "two")
    const state = JSON.parse(JSON.stringify(first.tracker.exportState()))
    const { tracker } = create({ state })
    expect(tracker.getHandle("one").isStale("a.txt")).toBe(false)
    expect(tracker.getHandle("two").isStale("b.txt")).toBe(true)
    expect(tracker.getHandle("two").getEntry("b.txt")).toMatchObject({ recordSource: "external_edit" })
  })

  test("is handed over once for each change", () => {
    const { tracker, handle } = create()
    expect(tracker.takeChange()).toBeUndefined()
    handle.markRead("a.txt")
    expect(tracker.takeChange()).toMatchObject({ version: 1, contexts: { default: [{ path: "a.txt" }] } })
    handle.isStale("a.txt")
    expect(tracker.takeChange()).toBeUndefined()
  })

  test("is refused when it is something else", () => {
    for (const state of [null, 7, {}, { version: 2, contexts: {} }, { version: 1, contexts: { a: [{}] } }]) {
      expect(() => create({ state })).toThrow(expect.objectContaining({ code: "INVALID_INPUT" }))
    }
  })

  test("does not grow without end", () => {
    const { tracker, handle } = create()
    for (let number = 0; number < 1_010; number++) handle.markRead(`f${number}`, "x")
    expect(tracker.exportState().contexts.default).toHaveLength(1_000)
    expect(handle.getEntry("f0")).toBeUndefined()
  })
})

describe("the watcher", () => {
  test("warns early, once for each file and context, and again after a new read", async () => {
    const { tracker, told } = create({ watch: true })
    await tracker.waitForReady()
    for (const id of ["one", "two"]) tracker.getHandle(id).markRead("a.txt")
    put("a.txt", "two")
    await until(() => told.length === 2, "two warnings")
    put("a.txt", "three")
    tracker.getHandle("one").isStale("a.txt")
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(told.map(({ contextId }) => contextId)).toEqual(["one", "two"])
    expect(told[0]).toMatchObject({
      path: "a.txt",
      absolutePath: join(workspacePath, "a.txt"),
      recordSource: "external_edit",
    })
    tracker.getHandle("one").markRead("a.txt")
    put("a.txt", "four")
    await until(() => told.length === 3, "the third warning")
  })

  test("notices a save by rename, a removal, and a file in a folder of a kept state", async () => {
    const { tracker, told } = create({ watch: true })
    tracker.getHandle().markRead("a.txt")
    put("tmp", "two")
    renameSync(join(workspacePath, "tmp"), join(workspacePath, "a.txt"))
    await until(() => told.length === 1, "the rename")
    const later = create({ watch: true, state: JSON.parse(JSON.stringify(tracker.exportState())) })
    later.handle.markRead("a.txt")
    rmSync(join(workspacePath, "a.txt"))
    await until(() => later.told.length === 1, "the removal")
  })

  test("stays silent for own writes, touches, and what is written again as it was", async () => {
    const { told, handle } = create({ watch: true })
    handle.markRead("a.txt")
    for (let round = 0; round < 5; round++) {
      const text = `mine ${round}`
      handle.beginWrite("a.txt", text)
      put("a.txt", text)
      await new Promise((resolve) => setTimeout(resolve, 40))
      handle.markWrite("a.txt", text)
    }
    utimesSync(join(workspacePath, "a.txt"), new Date(), new Date())
    put("a.txt", "")
    put("a.txt", "mine 4")
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(told).toEqual([])
  })

  test("warns when the folder vanishes, and watches the one that takes its place after a new read", async () => {
    const { told, handle } = create({ watch: true })
    mkdirSync(join(workspacePath, "sub"))
    put("sub/a.txt", "one")
    handle.markRead("sub/a.txt")
    rmSync(join(workspacePath, "sub"), { recursive: true })
    await until(() => told.length === 1, "the removal")
    mkdirSync(join(workspacePath, "sub"))
    put("sub/a.txt", "two")
    expect(handle.isStale("sub/a.txt")).toBe(true)
    handle.markRead("sub/a.txt")
    put("sub/a.txt", "three")
    await until(() => told.length === 2, "the change in the new folder")
  })

  test("that can't watch a folder is no trouble: the check does not need it", () => {
    const { handle } = create({ watch: true })
    handle.markRead("nowhere/at/all.txt")
    mkdirSync(join(workspacePath, "nowhere/at"), { recursive: true })
    put("nowhere/at/all.txt", "now")
    expect(handle.isStale("nowhere/at/all.txt")).toBe(true)
  })

  test("a warning that can't be told is logged, and the run goes on", async () => {
    const lines: string[] = []
    const logger = { error: (message: string) => lines.push(message) } as never
    const eventBus = { emit: async () => Promise.reject(new Error("full")) } as never
    const { tracker, handle } = create({ eventBus, logger })
    handle.markRead("a.txt")
    put("a.txt", "two")
    await tracker.check(["a.txt"])
    expect(lines).toEqual(["a stale file could not be told"])
  })

  test("without a bus nobody is told", () => {
    const tracker = createFileContextTracker({ workspacePath })
    trackers.push(tracker)
    tracker.getHandle().markRead("a.txt")
    put("a.txt", "two")
    expect(tracker.getHandle().isStale("a.txt")).toBe(true)
  })
})

test("a stale file reaches event streams as metadata and a recoverable error", () => {
  const value = {
    contextId: "c",
    path: "a.txt",
    absolutePath: "/w/a.txt",
    status: "stale",
    recordSource: "external_edit",
  } as const
  expect(toStaleContextNotice(value)).toEqual({
    metadata: { key: "context:file-stale", value },
    error: {
      code: "STALE_CONTEXT",
      message: "Stale file context detected: a.txt. Reload before editing.",
      recoverable: true,
    },
  })
})
