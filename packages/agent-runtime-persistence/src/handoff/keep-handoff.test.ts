import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Checkpoint, type Session, shortId } from "@ku0/agent-runtime-core"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { type CheckpointManager, createCheckpointManager } from "../checkpoint/checkpoint-manager.js"
import { openFixture, type TimeTravelFixture } from "../testing/time-travel-fixture.js"
import { restoreCheckpoint } from "../time-travel/restore.js"
import { undoRestore } from "../time-travel/undo-restore.js"
import { beginMarker, endMarker } from "./handoff-section.js"
import { createHandoffKeeper } from "./keep-handoff.js"

let travel: TimeTravelFixture
let session: Session
let manager: CheckpointManager
let warnings: string[]
const file = () => join(travel.workspace, ".agents/HANDOFF.md")

beforeEach(async () => {
  travel = await openFixture()
  session = await travel.createSession()
  warnings = []
  manager = keeping(".agents/HANDOFF.md")
  mkdirSync(join(travel.workspace, ".agents"))
})
afterEach(() => travel.close())

function keeping(template: string): CheckpointManager {
  const { store, snapshots } = travel
  const onWarning = (message: string) => warnings.push(message)
  return createCheckpointManager({ store, snapshots, handoff: createHandoffKeeper({ store, template, onWarning }) })
}

const take = async (more: { allowEmpty?: boolean } = {}) =>
  await manager.take({ sessionId: session.id, trigger: "interval", ...more })

describe("a handoff that is kept", () => {
  it("names each new checkpoint, and everything around its section stays", async () => {
    writeFileSync(file(), "# Ours\r\n")
    const one = (await take()) as Checkpoint
    const two = (await take()) as Checkpoint
    const text = readFileSync(file(), "utf8")
    expect(text.startsWith(`# Ours\r\n\r\n${beginMarker}\r\n`)).toBe(true)
    for (const { id } of [one, two]) expect(text).toContain(shortId(id))
    expect(warnings).toEqual([])
  })

  it("makes no checkpoint by itself: what it changed alone is no change, what others changed in its file is", async () => {
    travel.write({ "a.txt": "a" })
    await take()
    expect(existsSync(file())).toBe(true)
    for (let beat = 0; beat < 3; beat++) expect(await take({ allowEmpty: false })).toBeUndefined()
    travel.write({ "a.txt": "b" })
    expect(await take({ allowEmpty: false })).toBeDefined()
    expect(await take({ allowEmpty: false })).toBeUndefined()
    writeFileSync(file(), `${readFileSync(file(), "utf8")}A note of a person.\n`)
    const noted = await take({ allowEmpty: false })
    expect(noted?.snapshot?.filesChanged).toBe(1)
    expect(readFileSync(file(), "utf8")).toContain("A note of a person.")
    expect(await take({ allowEmpty: false })).toBeUndefined()
  })

  it("stands in the way of no restore, and an undo brings it back byte for byte", async () => {
    travel.write({ "a.txt": "a" })
    const one = (await take()) as Checkpoint
    travel.write({ "a.txt": "b" })
    await take()
    const before = readFileSync(file())
    const context = { ...travel, manager }
    const { plan } = await restoreCheckpoint(context, { checkpoint: one })
    expect(plan.write).toEqual(["a.txt"])
    expect(plan.delete).toEqual([".agents/HANDOFF.md"])
    expect(readFileSync(join(travel.workspace, "a.txt"), "utf8")).toBe("a")
    await undoRestore(context, { workspacePath: travel.workspace })
    expect(readFileSync(file()).equals(before)).toBe(true)
    expect(readFileSync(join(travel.workspace, "a.txt"), "utf8")).toBe("b")
  })

  const refusals: readonly (readonly [string, string, string, RegExp])[] = [
    ["says that it is READ-ONLY", ".agents/HANDOFF.md", "# Handoff\n\n> READ-ONLY\n", /READ-ONLY/],
    ["would grow too large", ".agents/HANDOFF.md", "x".repeat(20 * 1024 - 10), /grow past 20 KB/],
    ["has broken markers", ".agents/HANDOFF.md", `${endMarker}\n${beginMarker}\n`, /markers/],
    ["needs a branch where there is none", ".agents/{branch}.md", "", /branch/],
    ["is not in the workspace", "../HANDOFF.md", "", /not a file in the workspace/],
  ]
  it.each(refusals)(
    "leaves a file alone that %s, says so once, and takes the checkpoint",
    async (_, path, text, why) => {
      manager = keeping(path)
      if (text !== "") writeFileSync(file(), text)
      expect(await take()).toBeDefined()
      expect(await take()).toBeDefined()
      expect(existsSync(file()) ? readFileSync(file(), "utf8") : "").toBe(text)
      expect(warnings).toEqual([expect.stringMatching(why)])
      const logged = await travel.store.sessions.listLogs(session.id)
      expect(logged.map(({ level, message }) => [level, message])).toEqual([["warn", warnings[0]]])
    },
  )
})
