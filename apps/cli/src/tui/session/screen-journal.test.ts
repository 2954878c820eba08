import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { openScreenJournal } from "./screen-journal.js"

let folder: string
let warnings: string[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keepup-journal-"))
  warnings = []
})

afterEach(() => rmSync(folder, { recursive: true, force: true }))

const open = (workspacePath = "/work", stateDirectory = folder) =>
  openScreenJournal({ stateDirectory, workspacePath, onWarning: (message) => warnings.push(message) })

describe("what is on the screen and not in the log", () => {
  it("is there again for the next one: draft, queue and answer", () => {
    const journal = open()
    journal.keepDraft("half a thought")
    journal.keepQueue(["next"])
    journal.addAnswer("session", "It ")
    journal.addAnswer("session", "was\nso.")
    expect(open().read()).toEqual({
      draft: "half a thought",
      queued: ["next"],
      answer: "It was\nso.",
      sessionId: "session",
    })
  })

  it("is gone when it is in the log", () => {
    const journal = open()
    journal.keepQueue(["next"])
    journal.addAnswer("session", "text")
    journal.endAnswer()
    journal.keepQueue([])
    expect(open().read()).toEqual({ draft: "", queued: [], answer: "", sessionId: "" })
    expect(readdirSync(join(folder, "chat"))).toEqual([])
  })

  it("is one for each workspace, and for its owner's eyes", () => {
    const journal = open("/one")
    journal.keepDraft("secret")
    journal.flush()
    expect(open("/two").read().draft).toBe("")
    const [name] = readdirSync(join(folder, "chat"))
    expect(statSync(join(folder, "chat", name as string)).mode & 0o077).toBe(0)
  })

  it("that can't be kept is told once and ends nothing", () => {
    const file = join(folder, "file")
    writeFileSync(file, "")
    const journal = open("/work", file)
    journal.keepQueue(["a"])
    journal.addAnswer("session", "b")
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain("can't be kept for the next start")
  })

  it("that was broken by a machine going down is nothing", () => {
    const journal = open()
    journal.keepQueue(["a"])
    const [name] = readdirSync(join(folder, "chat"))
    writeFileSync(join(folder, "chat", name as string), "{")
    expect(open().read().queued).toEqual([])
  })
})
